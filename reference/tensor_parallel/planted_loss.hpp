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

// What a loss is made of: the shard's logits [tokens, width], and for each token its target, the terms of its
// loss and, backward, the upstream gradient of it.
struct LossRows {
  Tensor logits;
  Tensor targets;
  Tensor max;
  Tensor sum_exp;
  Tensor target_logit = {};
  Tensor sum_logit = {};
  Tensor seeds = {};
};
// In the terms before they are summed over the ranks; in the tokens' losses; in the upstream gradients; in
// the logits'.
void plant_in_terms(const Context& ctx, const LossRows& rows, const VocabSlice& slice);
void plant_in_losses(const Context& ctx, const Tensor& losses, const LossRows& rows,
                     const LossDefinition& definition, const VocabSlice& slice);
void plant_in_seeds(const Context& ctx, const LossRows& rows, const VocabSlice& slice);
void plant_in_gradient(const Context& ctx, const Tensor& dlogits, const LossRows& rows,
                       const LossDefinition& definition, const VocabSlice& slice);

}  // namespace tpc
