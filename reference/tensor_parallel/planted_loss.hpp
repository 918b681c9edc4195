// SPDX-License-Identifier: Apache-2.0
// Faults of shards of the vocabulary, on the host.
#pragma once

#include "reference/tensor_parallel/context.hpp"

namespace tpc {

// The slice as the embedding's look-up sees it, and as the loss does.
VocabSlice planted_embedding_slice(const Context& ctx, VocabSlice slice);
VocabSlice planted_loss_slice(const Context& ctx, VocabSlice slice);
// The ids as the look-up sees them.
Tensor planted_ids(Context& ctx, const Tensor& ids, const VocabSlice& slice);

// One value per token each, and targets and logits [tokens, width] of the shard.
struct LossTerms {
  Tensor sum_exp;
  Tensor target_logit;
  Tensor sum_logit;
};
// Before they are summed over the ranks.
void plant_in_terms(const Context& ctx, const LossTerms& terms, const Tensor& logits, const Tensor& targets,
                    const VocabSlice& slice);
// The upstream gradients of the tokens' losses.
void plant_in_seeds(const Context& ctx, const Tensor& seeds, const Tensor& targets, const VocabSlice& slice);

}  // namespace tpc
