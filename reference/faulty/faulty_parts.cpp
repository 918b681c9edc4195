// SPDX-License-Identifier: Apache-2.0
#include "reference/faulty/faulty_parts.hpp"

#include <algorithm>

#include "reference/faulty/fault.hpp"
#include "reference/faulty/faulty_communicator.hpp"
#include "reference/faulty/faulty_layers.hpp"
#include "reference/faulty/faulty_loss.hpp"
#include "reference/faulty/faulty_parameters.hpp"
#include "reference/faulty/faulty_streams.hpp"
#include "reference/tensor_parallel/gradient_finalisation.hpp"
#include "reference/tensor_parallel/requirements.hpp"

namespace tpc {

namespace {

// Each sequence of the batch in the place of the one `by` before it.
Tensor rolled_batch(const Tensor& tokens, int by) {
  const Tensor rolled = host_tensor(tokens.dtype(), tokens.shape(), "tokens");
  const std::int64_t batch = tokens.size(1);
  for (std::int64_t i = 0; i < tokens.count(); ++i)
    rolled.data<std::int64_t>()[i] = tokens.data<std::int64_t>()[i / batch * batch + (i + by) % batch];
  return rolled;
}

class FaultyParts : public Parts {
 public:
  explicit FaultyParts(const FaultSet& faults) : faults_(faults) {}

  std::unique_ptr<ColumnLinears> column_linears(std::vector<ColumnPart> parts,
                                                ColumnLinears::Options options) const override {
    return faulty_column_linears(faults_, std::move(parts), std::move(options));
  }
  std::unique_ptr<ColumnLinear> column_linear(const ColumnPart& part, const ColumnLinears::Options& options,
                                              ColumnLinear::Result result) const override {
    return faulty_column_linear(faults_, part, column_linears({part}, options), result);
  }
  std::unique_ptr<RowLinear> row_linear(const std::string& name, const Position& at,
                                        const RowLinear::Options& options) const override {
    return faulty_row_linear(faults_, name, at, options);
  }
  std::unique_ptr<Dropout> dropout(const std::string& layer, DropoutSite site, double rate) const override {
    return faulty_dropout(faults_, layer, site, rate);
  }
  std::unique_ptr<VocabEmbedding> vocab_embedding(const std::string& words, const std::string& positions,
                                                  const LayerPlan& plan) const override {
    return faulty_embedding(faults_, words, positions, plan);
  }
  std::unique_ptr<VocabCrossEntropy> vocab_cross_entropy(const LossDefinition& definition,
                                                         const VocabSlice& slice,
                                                         const Position& at) const override {
    return faulty_cross_entropy(faults_, definition, slice, at);
  }
  std::unique_ptr<TransformerLayer> transformer_layer(const std::string& name,
                                                      const LayerPlan& plan) const override {
    return faulty_transformer_layer(faults_, name, plan);
  }

  CommunicatorPtr communicator(CommunicatorPtr ranks, const Site& site, Compute& compute) const override {
    return make_faulty(std::move(ranks), site, compute, faults_);
  }
  std::unique_ptr<RandomStreams> streams(std::string_view profile, const StreamSetup& setup) const override {
    return make_faulty(make_random_streams(profile, setup), setup, faults_);
  }

  void require_splittable(Operation operation, const ModelConfig& config, const Sharding& sharding,
                          std::int64_t sequence, int ranks) const override {
    tpc::require_splittable(operation, config, sharding, sequence, ranks,
                            {.heads = !planted(Fault::heads_unchecked),
                             .kv_heads = !planted(Fault::kv_heads_unchecked),
                             .sequence = !planted(Fault::sequence_unchecked),
                             .no_more_kv_heads_than_ranks = planted(Fault::kv_heads_beyond_ranks_refused),
                             .fused_rows_alone = planted(Fault::fused_size_checked)});
  }

  std::vector<ParameterSpec> as_loaded(const Position& at, std::vector<ParameterSpec> specs) const override {
    return faulty_map(faults_, at, std::move(specs));
  }
  std::vector<ParameterSpec> as_reported(const Position& at,
                                         std::vector<ParameterSpec> specs) const override {
    return faulty_report(faults_, at, std::move(specs));
  }
  WeightSource weights(const Position& at, const std::vector<ParameterSpec>& specs,
                       WeightSource source) const override {
    return faulty_source(faults_, at, specs, std::move(source));
  }

  std::int64_t fan_in(const ParameterPart& weight) const override {
    const bool of_shard = planted(Fault::spread_of_the_shards_fan) && !weight.placement.blocks.empty();
    return of_shard ? weight.placement.blocks.front().extent.at(1) : Parts::fan_in(weight);
  }
  Tensor as_read(const Position& at, const Tensor& tokens) const override {
    return planted(Fault::batch_by_rank) ? rolled_batch(tokens, at.tp().rank) : tokens;
  }

  void finalise(Context& ctx, const Gradients& gradients) const override {
    const std::vector<ParameterSpec> wrong = faulty_pending(faults_, gradients.specs());
    std::vector<PendingGroup> groups = pending_groups(wrong);
    for (const PendingGroup& group : groups) group_of(ctx, group);  // made in one order by all
    if (planted(Fault::group_order_differs_by_rank) && ctx.tp().rank % 2 == 1)
      std::reverse(groups.begin(), groups.end());
    for (const PendingGroup& group : groups) sum_pending(ctx, group, wrong, gradients);
    rescale_faulty(faults_, ctx, gradients);
  }
  void finish_step(Context& ctx, Gradients& gradients) const override {
    if (planted(Fault::train_step_without_finalisation))
      gradients.settle_all();
    else
      Parts::finish_step(ctx, gradients);
  }

  bool counts_in_norm(const Position& at, const ParameterPart& part) const override {
    const bool whole = holds_everything(part);
    if (whole && planted(Fault::norm_counts_copies)) return true;
    const bool unmarked =
        planted(Fault::norm_counts_first_rank_alone) ||
        (part.placement.global_shape.size() == 1 && planted(Fault::norm_forgets_sharded_vectors));
    if (!whole && unmarked) return at.tp().rank == 0;
    return Parts::counts_in_norm(at, part);
  }

 private:
  bool planted(Fault fault) const { return faults_.contains(fault); }

  FaultSet faults_;
};

}  // namespace

std::shared_ptr<const Parts> make_parts(const FaultSet& faults) {
  if (faults.empty()) return right_parts();
  return std::make_shared<const FaultyParts>(faults);
}

}  // namespace tpc
