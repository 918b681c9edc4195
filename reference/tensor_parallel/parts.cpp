// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/parts.hpp"

#include "reference/tensor_parallel/gradient_finalisation.hpp"
#include "reference/tensor_parallel/requirements.hpp"

namespace tpc {

std::unique_ptr<ColumnLinears> Parts::column_linears(std::vector<ColumnPart> parts,
                                                     ColumnLinears::Options options) const {
  return std::make_unique<ColumnLinears>(std::move(parts), std::move(options));
}

std::unique_ptr<ColumnLinear> Parts::column_linear(const ColumnPart& part,
                                                   const ColumnLinears::Options& options,
                                                   ColumnLinear::Result result) const {
  return std::make_unique<ColumnLinear>(part, column_linears({part}, options), result);
}

std::unique_ptr<RowLinear> Parts::row_linear(const std::string& name, const Position& at,
                                             const RowLinear::Options& options) const {
  return std::make_unique<RowLinear>(name, at, options);
}

std::unique_ptr<Dropout> Parts::dropout(const std::string& layer, DropoutSite site, double rate) const {
  return std::make_unique<Dropout>(layer, site, rate);
}

std::unique_ptr<VocabEmbedding> Parts::vocab_embedding(const std::string& words, const std::string& positions,
                                                       const LayerPlan& plan) const {
  return std::make_unique<VocabEmbedding>(words, positions, plan);
}

std::unique_ptr<VocabCrossEntropy> Parts::vocab_cross_entropy(const LossDefinition& definition,
                                                              const VocabSlice& slice,
                                                              const Position&) const {
  return std::make_unique<VocabCrossEntropy>(definition, slice);
}

std::unique_ptr<TransformerLayer> Parts::transformer_layer(const std::string& name,
                                                           const LayerPlan& plan) const {
  return std::make_unique<TransformerLayer>(name, plan);
}

CommunicatorPtr Parts::communicator(CommunicatorPtr ranks, const Site&, Compute&) const { return ranks; }

std::unique_ptr<RandomStreams> Parts::streams(std::string_view profile, const StreamSetup& setup) const {
  return make_random_streams(profile, setup);
}

void Parts::require_splittable(Operation operation, const ModelConfig& config, const Sharding& sharding,
                               std::int64_t sequence, int ranks) const {
  tpc::require_splittable(operation, config, sharding, sequence, ranks, {});
}

std::vector<ParameterSpec> Parts::as_loaded(const Position&, std::vector<ParameterSpec> specs) const {
  return specs;
}
std::vector<ParameterSpec> Parts::as_reported(const Position&, std::vector<ParameterSpec> specs) const {
  return specs;
}
WeightSource Parts::weights(const Position&, const std::vector<ParameterSpec>&, WeightSource source) const {
  return source;
}

std::int64_t Parts::fan_in(const ParameterPart& weight) const { return weight.placement.global_shape.at(1); }

Tensor Parts::as_read(const Position&, const Tensor& tokens) const { return tokens; }

void Parts::finalise(Context& ctx, const Gradients& gradients) const {
  for (const PendingGroup& group : gradients.due()) sum_pending(ctx, group, gradients.specs(), gradients);
}
void Parts::finish_step(Context& ctx, Gradients& gradients) const { finalise_gradients(ctx, gradients); }

bool Parts::counts_in_norm(const Position& at, const ParameterPart& part) const {
  if (part.placement.blocks.empty()) return false;
  if (holds_everything(part)) return at.tp().rank == 0;
  return at.tp().rank % part.copies == 0;
}

std::shared_ptr<const Parts> right_parts() {
  static const auto parts = std::make_shared<const Parts>();
  return parts;
}

}  // namespace tpc
