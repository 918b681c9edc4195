// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/planted_loss.hpp"

#include <algorithm>

#include "reference/faults/edit.hpp"
#include "reference/faults/fault.hpp"

namespace tpc {

namespace {

bool owns(const VocabSlice& slice, std::int64_t id) {
  return id >= slice.first && id < std::min(slice.first + slice.width, slice.valid);
}

std::int64_t whole_shares(const Context& ctx, const VocabSlice& slice) {
  return slice.valid / ctx.tp_size() * ctx.tp_size();
}

// Of the logits that this rank holds, the one of the first padded class.
void add_padded_logit(const Tensor& target_logit, const Tensor& logits, const Tensor& targets,
                      const VocabSlice& slice) {
  const std::int64_t column = slice.valid - slice.first;
  if (column < 0 || column >= slice.width || logits.raw() == nullptr) return;
  visit_float(logits.dtype(), [&](auto zero) {
    const auto* const values = logits.data<decltype(zero)>();
    const auto* const ids = targets.data<std::int64_t>();
    edit_elements(target_logit, [&](std::int64_t row, double own) {
      return owns(slice, ids[row]) ? own : own + static_cast<double>(values[row * slice.width + column]);
    });
  });
}

}  // namespace

VocabSlice planted_embedding_slice(const Context& ctx, VocabSlice slice) {
  if (ctx.planted(Fault::last_rows_dropped)) slice.valid = whole_shares(ctx, slice);
  return slice;
}

VocabSlice planted_loss_slice(const Context& ctx, VocabSlice slice) {
  if (ctx.planted(Fault::padding_in_the_softmax)) slice.valid = slice.width * ctx.tp_size();
  if (ctx.planted(Fault::last_columns_dropped)) slice.valid = whole_shares(ctx, slice);
  if (ctx.planted(Fault::target_is_local_index)) slice.first = 0;
  return slice;
}

// Whose ids they are is what it was at the first look-up; an id that is then not in the slice becomes its
// first.
Tensor planted_ids(Context& ctx, const Tensor& ids, const VocabSlice& slice) {
  if (!ctx.planted(Fault::mask_of_earlier_ids) || ids.raw() == nullptr || ctx.tp_size() == 1) return ids;
  const Tensor& earlier = ctx.fault_memory.try_emplace("ids of the mask", ids).first->second;
  const std::int64_t foreign = slice.first == 0 ? slice.width : 0;
  Tensor seen = host_tensor(DType::i64, ids.shape(), "ids");
  for (std::int64_t i = 0; i < ids.count(); ++i) {
    const std::int64_t id = ids.data<std::int64_t>()[i];
    const bool masked = !owns(slice, earlier.data<std::int64_t>()[i]);
    seen.data<std::int64_t>()[i] = masked ? foreign : owns(slice, id) ? id : slice.first;
  }
  return seen;
}

void plant_in_terms(const Context& ctx, const LossTerms& terms, const Tensor& logits, const Tensor& targets,
                    const VocabSlice& slice) {
  if (ctx.planted(Fault::softmax_sum_counted_per_rank)) scale_elements(terms.sum_exp, ctx.tp_size());
  if (ctx.planted(Fault::foreign_target_reads_padding))
    add_padded_logit(terms.target_logit, logits, targets, slice);
  if (ctx.planted(Fault::smoothing_over_local_vocabulary)) scale_elements(terms.sum_logit, ctx.tp_size());
  if (!ctx.planted(Fault::average_of_uneven_means)) return;
  const auto own =
      static_cast<double>(std::clamp<std::int64_t>(slice.valid - slice.first, std::int64_t{0}, slice.width));
  scale_elements(terms.sum_logit, static_cast<double>(slice.valid) / (own * ctx.tp_size()));
}

void plant_in_seeds(const Context& ctx, const Tensor& seeds, const Tensor& targets, const VocabSlice& slice) {
  if (seeds.raw() == nullptr) return;
  const auto* const ids = targets.data<std::int64_t>();
  if (ctx.planted(Fault::targets_owner_alone_has_gradient))
    edit_elements(seeds, [&](std::int64_t row, double seed) { return owns(slice, ids[row]) ? seed : 0; });
  if (!ctx.planted(Fault::first_token_scales_all)) return;
  double first = 0;
  edit_elements(seeds, [&](std::int64_t row, double seed) { return first = row == 0 ? seed : first; });
}

}  // namespace tpc
