// SPDX-License-Identifier: Apache-2.0
#include "reference/parameters/loading.hpp"

namespace tpc {

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
