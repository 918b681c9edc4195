// SPDX-License-Identifier: Apache-2.0
#include "reference/faulty/faulty_parameters.hpp"

#include <algorithm>
#include <utility>

#include "reference/faulty/edit.hpp"
#include "reference/faulty/fault.hpp"
#include "reference/tensor_parallel/attention.hpp"

namespace tpc {

namespace {

bool is_one_of(const std::string& canonical, std::string_view last_name) {
  const std::size_t dot = canonical.rfind('.');
  const std::size_t start = dot == std::string::npos ? 0 : canonical.rfind('.', dot - 1) + 1;
  return std::string_view(canonical).substr(start).starts_with(last_name);
}

bool is_gate_up(const ParameterSpec& spec) {
  return spec.parts.size() == 2 && is_one_of(spec.parts.front().canonical, "gate.");
}
bool is_qkv(const ParameterSpec& spec) {
  return spec.parts.size() == 3 && is_one_of(spec.parts.front().canonical, "q.");
}

// A norm's gain and bias stand side by side.
bool is_of_norm(const std::vector<ParameterSpec>& specs, const std::string& canonical) {
  const std::string gain = canonical.substr(0, canonical.rfind('.') + 1) + "gain";
  return std::any_of(specs.begin(), specs.end(), [&](const ParameterSpec& s) { return s.name == gain; });
}

bool is_row_bias(const std::vector<ParameterSpec>& specs, const ParameterPart& part) {
  return part.canonical.ends_with("bias") && holds_everything(part) && !is_of_norm(specs, part.canonical);
}

Block rows_block(const Shape& global, std::int64_t first, std::int64_t rows, std::int64_t local_first) {
  Block block{Shape(global.size(), 0), global, Shape(global.size(), 0)};
  block.global_offset[0] = first;
  block.extent[0] = rows;
  block.local_offset[0] = local_first;
  return block;
}

// The parts one below the other, cut into T equal pieces as if they were one matrix.
void cut_as_one(const Coordinate& tp, ParameterSpec& spec) {
  const std::int64_t rows = spec.shape[0];
  const std::int64_t first = rows * tp.rank;
  std::int64_t above = 0;
  for (ParameterPart& part : spec.parts) {
    const Shape& global = part.placement.global_shape;
    const std::int64_t from = std::max(first, above);
    const std::int64_t to = std::min(first + rows, above + global[0]);
    part.placement.blocks.clear();
    if (from < to) part.placement.blocks = {rows_block(global, from - above, to - from, from - first)};
    above += global[0];
  }
}

// Row by row in turns.
void interleave(ParameterSpec& spec) {
  const auto parts = static_cast<std::int64_t>(spec.parts.size());
  for (std::int64_t p = 0; p < parts; ++p) {
    Placement& placement = spec.parts[static_cast<std::size_t>(p)].placement;
    const Block whole = placement.blocks.front();
    placement.blocks.clear();
    for (std::int64_t i = 0; i < whole.extent[0]; ++i)
      placement.blocks.push_back(
          rows_block(placement.global_shape, whole.global_offset[0] + i, 1, i * parts + p));
  }
}

void take_kv_head_by_remainder(const Coordinate& tp, ParameterPart& part) {
  if (!is_pending_over(part, Axis::kv_copies)) return;
  Block& block = part.placement.blocks.front();
  const std::int64_t kv_heads = part.placement.global_shape[0] / block.extent[0];
  block.global_offset[0] = tp.rank % kv_heads * block.extent[0];
}

// Rows of the unpadded vocabulary, rounded down.
void forget_padding(const Coordinate& tp, ParameterSpec& spec) {
  ParameterPart& part = spec.parts.front();
  const std::int64_t vocab = part.placement.global_shape[0];
  const bool padded = spec.parts.size() == 1 && !holds_everything(part) &&
                      part.gradient_pending_over.empty() && spec.shape[0] * tp.size > vocab;
  if (!padded || spec.name.starts_with("head")) return;
  spec.shape[0] = vocab / tp.size;
  part.placement.blocks = {
      rows_block(part.placement.global_shape, spec.shape[0] * tp.rank, spec.shape[0], 0)};
}

}  // namespace

std::vector<ParameterSpec> faulty_map(const FaultSet& faults, const Position& at,
                                      std::vector<ParameterSpec> specs) {
  for (ParameterSpec& spec : specs) {
    if (faults.contains(Fault::gate_up_cut_as_one) && is_gate_up(spec)) cut_as_one(at.tp(), spec);
    if (faults.contains(Fault::qkv_cut_as_one) && is_qkv(spec)) cut_as_one(at.tp(), spec);
    if (faults.contains(Fault::interleaved_weight_cut_in_the_middle) && is_gate_up(spec)) interleave(spec);
    if (faults.contains(Fault::embedding_not_padded)) forget_padding(at.tp(), spec);
    if (faults.contains(Fault::kv_head_by_remainder))
      for (ParameterPart& part : spec.parts) take_kv_head_by_remainder(at.tp(), part);
  }
  return specs;
}

WeightSource faulty_source(const FaultSet& faults, const Position& at,
                           const std::vector<ParameterSpec>& specs, WeightSource source) {
  if (!faults.contains(Fault::row_bias_loaded_once_per_rank)) return source;
  std::vector<std::string> biases;
  for (const ParameterSpec& spec : specs)
    for (const ParameterPart& part : spec.parts)
      if (is_row_bias(specs, part)) biases.push_back(part.canonical);
  return [biases, ranks = at.tp().size, source = std::move(source)](const std::string& canonical,
                                                                    const Block& block) {
    Tensor values = source(canonical, block);
    if (std::find(biases.begin(), biases.end(), canonical) != biases.end())
      make_host_compute()->scale(values, values, ranks);
    return values;
  };
}

std::vector<ParameterSpec> faulty_report(const FaultSet& faults, const Position& at,
                                         std::vector<ParameterSpec> specs) {
  for (ParameterSpec& spec : specs)
    if (faults.contains(Fault::fused_parts_not_sorted_out) && is_qkv(spec)) cut_as_one(at.tp(), spec);
  return specs;
}

std::vector<ParameterSpec> faulty_pending(const FaultSet& faults, std::vector<ParameterSpec> specs) {
  const bool sequence_shards = std::any_of(specs.begin(), specs.end(), [](const ParameterSpec& spec) {
    return std::any_of(spec.parts.begin(), spec.parts.end(),
                       [](const ParameterPart& part) { return is_pending_over(part, Axis::tp); });
  });
  std::vector<ParameterSpec> wrong = specs;
  for (ParameterSpec& spec : wrong)
    for (ParameterPart& part : spec.parts) {
      std::vector<Axis>& pending = part.gradient_pending_over;
      const bool norm = is_of_norm(specs, part.canonical);
      const bool copies = is_pending_over(part, Axis::kv_copies);
      const bool forgotten =
          faults.contains(Fault::nothing_finalised) ||
          (faults.contains(Fault::norm_gradients_not_summed) && norm) ||
          (faults.contains(Fault::last_norm_not_summed) && part.canonical.starts_with("final_norm.")) ||
          (faults.contains(Fault::kv_copies_summed_under_sp_only) && copies && !sequence_shards) ||
          (faults.contains(Fault::kv_biases_not_summed) && copies && part.canonical.ends_with("bias"));
      if (faults.contains(Fault::whole_norm_gradients_summed) && norm && pending.empty())
        pending = {Axis::tp};
      if (forgotten) pending.clear();
    }
  return wrong;
}

void rescale_faulty(const FaultSet& faults, Context& ctx, const Gradients& gradients) {
  const std::vector<ParameterSpec>& specs = gradients.specs();
  const double share = 1.0 / ctx.tp().size;
  for (const ParameterSpec& spec : specs)
    for (const ParameterPart& part : spec.parts) {
      const bool averaged = faults.contains(Fault::row_bias_gradient_averaged) && is_row_bias(specs, part) &&
                            is_pending_over(part, Axis::tp);
      const Tensor gradient = part_of(gradients.at(spec.name), part);
      if (averaged || faults.contains(Fault::gradients_divided_by_ranks))
        ctx.compute().scale(gradient, gradient, share);
    }
}

}  // namespace tpc
