// SPDX-License-Identifier: Apache-2.0
#include "reference/model/initialisation.hpp"

#include <algorithm>
#include <cmath>

#include "reference/tensor_parallel/naming.hpp"

namespace tpc {

namespace {

class RuleList {
 public:
  RuleList(const ModelConfig& config, const InitOptions& options) : config_(config), options_(options) {}

  void linear(const std::string& prefix, const Shape& weight, bool bias, TpCut cut, double factor = 1) {
    const bool by_fan_in = options_.scale == WeightScale::inverse_root_fan_in;
    const double std = by_fan_in ? 1 / std::sqrt(static_cast<double>(weight[1])) : options_.std;
    rules_.push_back({.parameter = join(prefix, "weight"),
                      .shape = weight,
                      .std = std * factor,
                      .by_fan_in = by_fan_in,
                      .cut = cut});
    // A row linear's bias is added once, after the sum over the ranks, and is replicated.
    if (bias)
      rules_.push_back({.parameter = join(prefix, "bias"),
                        .shape = {weight[0]},
                        .cut = cut == TpCut::rows ? TpCut::rows : TpCut::none});
  }

  void table(const std::string& prefix, std::int64_t rows, TpCut cut) {
    rules_.push_back({.parameter = join(prefix, "weight"),
                      .shape = {rows, config_.hidden},
                      .std = options_.std,
                      .cut = cut});
  }

  void norm(const std::string& prefix, NormKind kind) {
    rules_.push_back({.parameter = join(prefix, "gain"), .shape = {config_.hidden}, .mean = 1});
    if (kind == NormKind::layer_norm)
      rules_.push_back({.parameter = join(prefix, "bias"), .shape = {config_.hidden}});
  }

  void attention(const std::string& prefix) {
    const std::int64_t q = config_.heads * config_.head_dim;
    const std::int64_t kv = config_.kv_heads * config_.head_dim;
    linear(join(prefix, "q"), {q, config_.hidden}, config_.qkv_bias, TpCut::rows);
    linear(join(prefix, "k"), {kv, config_.hidden}, config_.qkv_bias, TpCut::rows);
    linear(join(prefix, "v"), {kv, config_.hidden}, config_.qkv_bias, TpCut::rows);
    linear(join(prefix, "out"), {config_.hidden, q}, config_.out_bias, TpCut::columns, residual_factor());
  }

  void mlp(const std::string& prefix) {
    const Shape up = {config_.ffn, config_.hidden};
    const bool gelu = config_.mlp == MlpKind::gelu;
    linear(join(prefix, gelu ? "fc1" : "gate"), up, config_.mlp_bias, TpCut::rows);
    if (!gelu) linear(join(prefix, "up"), up, config_.mlp_bias, TpCut::rows);
    linear(join(prefix, gelu ? "fc2" : "down"), {config_.hidden, config_.ffn}, config_.mlp_bias,
           TpCut::columns, residual_factor());
  }

  void block(const std::string& prefix) {
    norm(join(prefix, "norm1"), config_.norm);
    attention(join(prefix, "attention"));
    norm(join(prefix, "norm2"), config_.norm);
    mlp(join(prefix, "mlp"));
  }

  void embedding(const std::string& words) {
    table(words, config_.vocab, TpCut::rows);
    if (config_.position == PositionKind::learned) table("positions", config_.positions, TpCut::none);
  }

  void model() {
    embedding("embedding");
    for (std::int64_t i = 0; i < config_.layers; ++i) block("blocks." + std::to_string(i));
    norm("final_norm", config_.norm);
    if (!config_.tied_head) linear("head", {config_.vocab, config_.hidden}, false, TpCut::rows);
  }

  std::vector<InitRule> take() { return std::move(rules_); }

 private:
  double residual_factor() const { return 1 / std::sqrt(2.0 * static_cast<double>(config_.layers)); }

  const ModelConfig& config_;
  const InitOptions& options_;
  std::vector<InitRule> rules_;
};

const InitRule& rule_of(const std::string& parameter, const std::vector<InitRule>& rules) {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const InitRule& rule) { return rule.parameter == parameter; });
  TPC_EXPECT(found != rules.end(), "no initialisation of {}", parameter);
  return *found;
}

// The rows of the local tensor that a part takes, padding included.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
RowRange rows_of_part(const ParameterSpec& spec, const ParameterPart& part) {
  if (spec.parts.size() == 1) return {0, spec.shape[0]};
  TPC_EXPECT(part.placement.blocks.size() == 1, "part {} of {} is not one range of rows", part.canonical,
             spec.name);
  const Block& block = part.placement.blocks.front();
  return {block.local_offset[0], block.extent[0]};
}

double spread(const InitRule& rule, const ParameterPart& part, const Parts& parts) {
  if (!rule.by_fan_in) return rule.std;
  return rule.std * std::sqrt(static_cast<double>(rule.shape[1]) / static_cast<double>(parts.fan_in(part)));
}

void fill_blocks(const Tensor& out, const DrawLayout& layout, double value, Compute& host) {
  for (const Block& block : layout.placement.blocks) {
    const Tensor constant = host.allocate(out.dtype(), block.extent, "constant");
    host.fill(constant, value);
    host.copy_block(out, block.local_offset, constant, Shape(block.extent.size(), 0), block.extent);
  }
}

}  // namespace

std::vector<InitRule> initialisation_rules(Operation operation, const ModelConfig& config,
                                           const InitOptions& options) {
  RuleList rules(config, options);
  switch (operation) {
    case Operation::column_linear:
      rules.linear("", {config.ffn, config.hidden}, config.mlp_bias, TpCut::rows);
      break;
    case Operation::row_linear:
      rules.linear("", {config.hidden, config.ffn}, config.mlp_bias, TpCut::columns);
      break;
    case Operation::mlp:
      rules.mlp("");
      break;
    case Operation::attention:
      rules.attention("");
      break;
    case Operation::layer_norm:
      rules.norm("", NormKind::layer_norm);
      break;
    case Operation::rms_norm:
      rules.norm("", NormKind::rms_norm);
      break;
    case Operation::vocab_embedding:
      rules.embedding("");
      break;
    case Operation::vocab_cross_entropy:
      break;
    case Operation::transformer_layer:
      rules.block("");
      break;
    case Operation::model:
    case Operation::init:
    case Operation::train:
      rules.model();
      break;
    case Operation::dropout:
      break;
  }
  return rules.take();
}

DrawLayout part_layout(const ParameterSpec& spec, const ParameterPart& part, const InitRule& rule,
                       const Coordinate& tp) {
  const RowRange rows = rows_of_part(spec, part);
  DrawLayout layout;
  layout.local = spec.shape;
  layout.local[0] = rows.count;
  layout.placement = part.placement;
  for (Block& block : layout.placement.blocks) block.local_offset[0] -= rows.first;
  layout.first_shard = rule.shape;
  TPC_EXPECT(part.placement.global_shape == rule.shape, "{} is {}, initialised as {}", part.canonical,
             to_string(part.placement.global_shape), to_string(rule.shape));
  if (rule.cut == TpCut::none) return layout;

  const int dim = rule.cut == TpCut::rows ? 0 : 1;
  const auto d = static_cast<std::size_t>(dim);
  layout.copies = part.copies;
  layout.sharded = {{Axis::tp, dim, tp.rank / layout.copies, tp.size / layout.copies}};
  layout.first_shard[d] = std::min(layout.local[d], rule.shape[d]);
  return layout;
}

Parameters initialise(Compute& compute, RandomStreams& streams, const std::vector<ParameterSpec>& specs,
                      const std::vector<InitRule>& rules, DType dtype, const LayerPlan& plan) {
  const auto host_compute = make_host_compute();
  Parameters params;
  for (const ParameterSpec& spec : specs) {
    Tensor local = compute.allocate(dtype, spec.shape, spec.name);
    const bool stored = local.place() != Place::nowhere;
    const Tensor host = stored ? host_tensor(dtype, spec.shape) : Tensor();
    for (const ParameterPart& part : spec.parts) {
      const InitRule& rule = rule_of(part.canonical, rules);
      const DrawLayout layout = part_layout(spec, part, rule, plan.at.tp());
      const RowRange rows = rows_of_part(spec, part);
      const Tensor out = stored ? host.rows(rows.first, rows.count) : Tensor();
      if (rule.std > 0)
        draw_normal(streams, rule.parameter, layout, {rule.mean, spread(rule, part, plan.parts)}, out);
      else if (stored)
        fill_blocks(out, layout, rule.mean, *host_compute);
    }
    if (stored) compute.copy(local, host);
    params.emplace(spec.name, std::move(local));
  }
  return params;
}

}  // namespace tpc
