// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "reference/tensor_parallel/dropout.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc {

struct LayerPlan;  // parts.hpp

// Word embedding with the vocabulary's rows sharded (Shoeybi et al., arXiv 1909.08053, section 3): a rank
// looks up the ids it owns, the others are zero rows, and the sum over the ranks is complete. Learned
// positions are added after the sum: they are replicated, and under sequence parallelism each rank adds, and
// has gradients for, its own rows only. ids [S,B] on every rank -> y [S,B,H], replicated or this rank's
// sequence shard. The input has no gradient.
class VocabEmbedding : public Layer {
 public:
  // Names of the word table and the position table, without ".weight".
  VocabEmbedding(const std::string& words, const std::string& positions, const LayerPlan& plan);

  std::vector<ParameterSpec> parameters() const override;
  Output forward(Context& ctx, const Parameters& params, const Tensor& ids) const override;
  InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                               Saved saved) const override;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const override;

 protected:
  // Steps. ids as the look-up takes them; rows of a table, [S,B,H], zero where an id is not in the slice; the
  // gradient of the words; and that of this rank's term of the sum.
  virtual Tensor ids_to_look_up(Context& ctx, const Tensor& ids) const;
  virtual Tensor look_up(Context& ctx, const Tensor& ids, const Tensor& table, const VocabSlice& slice) const;
  virtual Tensor word_gradient(Context& ctx, const Tensor& dy, const Tensor& ids) const;
  virtual Tensor leave_backward(Context& ctx, const Tensor& dy) const;
  const VocabSlice& slice() const { return slice_; }
  SequenceParallel sequence_parallel() const { return sp_; }

 private:
  bool learned() const { return config_.position == PositionKind::learned; }
  Tensor position_ids(Context& ctx, std::int64_t rows, std::int64_t batch) const;

  std::string positions_;
  ModelConfig config_;
  SequenceParallel sp_;
  VocabSlice slice_;
  std::unique_ptr<Dropout> dropout_;
};

}  // namespace tpc
