// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/own_cut.hpp"

#include <algorithm>

namespace tpc {

namespace {

// Of the logits' gradient and of a table of words.
bool is_cut_by_vocabulary(const Placement& placement, std::int64_t vocab, std::size_t dim) {
  return dim < placement.global_shape.size() && placement.global_shape[dim] == vocab;
}

std::int64_t widest_shard(const std::vector<LocalTensor>& answer, std::int64_t vocab) {
  std::int64_t widest = 0;
  for (const LocalTensor& local : answer) {
    const bool logits = local.name == "dlogits";
    if (!logits && !local.name.ends_with("weight")) continue;
    const std::size_t dim = logits ? local.placement.global_shape.size() - 1 : 0;
    if (!is_cut_by_vocabulary(local.placement, vocab, dim)) continue;
    for (const Block& block : local.placement.blocks) widest = std::max(widest, block.extent[dim]);
  }
  return widest;
}

}  // namespace

Request with_own_cut(const Request& request, const std::vector<LocalTensor>& answer, Communicator& ranks) {
  const Tensor width = host_tensor(DType::i64, {1}, "widest shard of the vocabulary");
  *width.data<std::int64_t>() = widest_shard(answer, request.problem.model.vocab);
  ranks.all_reduce(width, width, ReduceOp::max);
  Request own = request;
  const std::int64_t padded = *width.data<std::int64_t>() * ranks.size();
  const std::int64_t vocab = request.problem.model.vocab;
  if (padded >= vocab && padded < 2 * vocab) own.sharding.padded_vocab = padded;
  return own;
}

}  // namespace tpc
