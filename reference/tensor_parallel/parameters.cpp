// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/parameters.hpp"

#include <algorithm>

namespace tpc {

bool is_pending_over(const ParameterPart& part, Axis axis) {
  const std::vector<Axis>& pending = part.gradient_pending_over;
  return std::find(pending.begin(), pending.end(), axis) != pending.end();
}

bool holds_everything(const ParameterPart& part) {
  return part.placement.blocks.size() == 1 &&
         part.placement.blocks.front().extent == part.placement.global_shape;
}

Tensor part_of(const Tensor& local, const ParameterPart& part) {
  if (part.placement.blocks.empty()) return local.rows(0, 0);
  TPC_EXPECT(part.placement.blocks.size() == 1, "part {} is not one range of rows", part.canonical);
  const Block& block = part.placement.blocks.front();
  return local.rows(block.local_offset[0], block.extent[0]);
}

void Gradients::add(Compute& compute, const std::string& name, const Tensor& gradient) {
  const auto [place, is_first] = tensors_.try_emplace(name, gradient);
  if (!is_first) compute.add(place->second, place->second, gradient);
}

const Tensor& Gradients::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  TPC_EXPECT(found != tensors_.end(), "no gradient of {}", name);
  return found->second;
}

Parameters load_parameters(Compute& compute, const std::vector<ParameterSpec>& specs, DType dtype,
                           const WeightSource& source) {
  Parameters params;
  for (const ParameterSpec& spec : specs) {
    const Tensor local = compute.allocate(dtype, spec.shape, spec.name);
    std::int64_t covered = 0;
    for (const ParameterPart& part : spec.parts)
      for (const Block& block : part.placement.blocks) covered += element_count(block.extent);
    if (covered < local.count()) compute.fill(local, 0);  // padding
    for (const ParameterPart& part : spec.parts)
      for (const Block& block : part.placement.blocks)
        compute.copy_block(local, block.local_offset, source(part.canonical, block),
                           Shape(block.extent.size(), 0), block.extent);
    params.emplace(spec.name, local);
  }
  return params;
}

}  // namespace tpc
