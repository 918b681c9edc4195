// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/planted_parameters.hpp"

#include <algorithm>
#include <utility>

#include "reference/faults/edit.hpp"
#include "reference/faults/fault.hpp"
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

bool is_whole(const ParameterPart& part) {
  return part.placement.blocks.size() == 1 &&
         part.placement.blocks.front().extent == part.placement.global_shape;
}

bool is_row_bias(const std::vector<ParameterSpec>& specs, const ParameterPart& part) {
  return part.canonical.ends_with("bias") && is_whole(part) && !is_of_norm(specs, part.canonical);
}

bool is_pending_over(const ParameterPart& part, std::string_view group) {
  const auto& pending = part.gradient_pending_over;
  return std::find(pending.begin(), pending.end(), group) != pending.end();
}

Block rows_block(const Shape& global, std::int64_t first, std::int64_t rows, std::int64_t local_first) {
  Block block{Shape(global.size(), 0), global, Shape(global.size(), 0)};
  block.global_offset[0] = first;
  block.extent[0] = rows;
  block.local_offset[0] = local_first;
  return block;
}

// The parts one below the other, cut into T equal pieces as if they were one matrix.
void cut_as_one(const Context& ctx, ParameterSpec& spec) {
  const std::int64_t rows = spec.shape[0];
  const std::int64_t first = rows * ctx.tp_rank();
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

void take_kv_head_by_remainder(const Context& ctx, ParameterPart& part) {
  if (!is_pending_over(part, kv_copies_axis)) return;
  Block& block = part.placement.blocks.front();
  const std::int64_t kv_heads = part.placement.global_shape[0] / block.extent[0];
  block.global_offset[0] = ctx.tp_rank() % kv_heads * block.extent[0];
}

// Rows of the unpadded vocabulary, rounded down.
void forget_padding(const Context& ctx, ParameterSpec& spec) {
  ParameterPart& part = spec.parts.front();
  const std::int64_t vocab = part.placement.global_shape[0];
  const bool padded = spec.parts.size() == 1 && !is_whole(part) && part.gradient_pending_over.empty() &&
                      spec.shape[0] * ctx.tp_size() > vocab;
  if (!padded || spec.name.starts_with("head")) return;
  spec.shape[0] = vocab / ctx.tp_size();
  part.placement.blocks = {
      rows_block(part.placement.global_shape, spec.shape[0] * ctx.tp_rank(), spec.shape[0], 0)};
}

}  // namespace

std::vector<ParameterSpec> planted_map(const Context& ctx, std::vector<ParameterSpec> specs) {
  for (ParameterSpec& spec : specs) {
    if (ctx.planted(Fault::gate_up_cut_as_one) && is_gate_up(spec)) cut_as_one(ctx, spec);
    if (ctx.planted(Fault::qkv_cut_as_one) && is_qkv(spec)) cut_as_one(ctx, spec);
    if (ctx.planted(Fault::interleaved_weight_cut_in_the_middle) && is_gate_up(spec)) interleave(spec);
    if (ctx.planted(Fault::embedding_not_padded)) forget_padding(ctx, spec);
    if (ctx.planted(Fault::kv_head_by_remainder))
      for (ParameterPart& part : spec.parts) take_kv_head_by_remainder(ctx, part);
  }
  return specs;
}

WeightSource planted_source(const Context& ctx, const std::vector<ParameterSpec>& specs,
                            WeightSource source) {
  if (!ctx.planted(Fault::row_bias_loaded_once_per_rank)) return source;
  std::vector<std::string> biases;
  for (const ParameterSpec& spec : specs)
    for (const ParameterPart& part : spec.parts)
      if (is_row_bias(specs, part)) biases.push_back(part.canonical);
  return [biases, ranks = ctx.tp_size(), source = std::move(source)](const std::string& canonical,
                                                                     const Block& block) {
    Tensor values = source(canonical, block);
    if (std::find(biases.begin(), biases.end(), canonical) != biases.end()) scale_elements(values, ranks);
    return values;
  };
}

std::vector<ParameterSpec> planted_report(const Context& ctx, std::vector<ParameterSpec> specs) {
  for (ParameterSpec& spec : specs)
    if (ctx.planted(Fault::fused_parts_not_sorted_out) && is_qkv(spec)) cut_as_one(ctx, spec);
  return specs;
}

std::vector<ParameterSpec> planted_pending(const Context& ctx, std::vector<ParameterSpec> specs) {
  const bool sequence_shards = std::any_of(specs.begin(), specs.end(), [](const ParameterSpec& spec) {
    return std::any_of(spec.parts.begin(), spec.parts.end(),
                       [](const ParameterPart& part) { return is_pending_over(part, "tp"); });
  });
  std::vector<ParameterSpec> planted = specs;
  for (ParameterSpec& spec : planted)
    for (ParameterPart& part : spec.parts) {
      std::vector<std::string>& pending = part.gradient_pending_over;
      const bool norm = is_of_norm(specs, part.canonical);
      const bool copies = is_pending_over(part, kv_copies_axis);
      const bool forgotten =
          ctx.planted(Fault::nothing_finalised) || (ctx.planted(Fault::norm_gradients_not_summed) && norm) ||
          (ctx.planted(Fault::last_norm_not_summed) && part.canonical.starts_with("final_norm.")) ||
          (ctx.planted(Fault::kv_copies_summed_under_sp_only) && copies && !sequence_shards) ||
          (ctx.planted(Fault::kv_biases_not_summed) && copies && part.canonical.ends_with("bias"));
      if (ctx.planted(Fault::whole_norm_gradients_summed) && norm && pending.empty()) pending = {"tp"};
      if (forgotten) pending.clear();
    }
  return planted;
}

void rescale_planted(Context& ctx, const std::vector<ParameterSpec>& specs, const Gradients& gradients) {
  const double share = 1.0 / ctx.tp_size();
  for (const ParameterSpec& spec : specs)
    for (const ParameterPart& part : spec.parts) {
      const bool averaged = ctx.planted(Fault::row_bias_gradient_averaged) && is_row_bias(specs, part) &&
                            is_pending_over(part, "tp");
      const Tensor gradient = part_of(gradients.at(spec.name), part);
      if (averaged || ctx.planted(Fault::gradients_divided_by_ranks))
        ctx.compute().scale(gradient, gradient, share);
    }
}

}  // namespace tpc
