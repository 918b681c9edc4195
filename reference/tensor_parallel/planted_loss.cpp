// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/planted_loss.hpp"

#include <algorithm>
#include <cmath>

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

std::int64_t valid_classes(const VocabSlice& slice) {
  return std::clamp(slice.valid - slice.first, std::int64_t{0}, slice.width);
}

// Of the logits that this rank holds, the one of the first padded class.
void add_padded_logit(const LossRows& rows, const VocabSlice& slice) {
  const std::int64_t column = slice.valid - slice.first;
  if (column < 0 || column >= slice.width || rows.logits.raw() == nullptr) return;
  visit_float(rows.logits.dtype(), [&](auto zero) {
    const auto* const values = rows.logits.data<decltype(zero)>();
    const auto* const ids = rows.targets.data<std::int64_t>();
    edit_elements(rows.target_logit, [&](std::int64_t row, double own) {
      return owns(slice, ids[row]) ? own : own + static_cast<double>(values[row * slice.width + column]);
    });
  });
}

double value_at(const Tensor& x, std::int64_t i) {
  double value = 0;
  visit_float(x.dtype(), [&](auto zero) { value = static_cast<double>(x.data<decltype(zero)>()[i]); });
  return value;
}

double log_sum_exp(const LossRows& rows, std::int64_t row) {
  return value_at(rows.max, row) + std::log(value_at(rows.sum_exp, row));
}

// As if the classes of one shard were all there are.
SmoothedTarget planted_target(const Context& ctx, const LossDefinition& definition, const VocabSlice& slice) {
  const bool local = ctx.planted(Fault::smoothing_over_local_vocabulary);
  return smoothed_target(definition, local ? slice.width : slice.valid);
}

// What the shares of a target add up to over the classes whose log-probabilities are added up. Of a right
// target it is 1.
double planted_total(const Context& ctx, const SmoothedTarget& target, const VocabSlice& slice) {
  const std::int64_t added = ctx.planted(Fault::mean_of_local_logits) ? valid_classes(slice) : slice.valid;
  return target.target + static_cast<double>(added - 1) * target.other;
}

bool smooths_wrongly(const Context& ctx, const LossDefinition& definition) {
  return definition.label_smoothing != 0 && ctx.tp_size() > 1 &&
         (ctx.planted(Fault::smoothing_over_local_vocabulary) || ctx.planted(Fault::mean_of_local_logits));
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

void plant_in_terms(const Context& ctx, const LossRows& rows, const VocabSlice& slice) {
  if (ctx.planted(Fault::softmax_sum_counted_per_rank)) scale_elements(rows.sum_exp, ctx.tp_size());
  if (ctx.planted(Fault::foreign_target_reads_padding)) add_padded_logit(rows, slice);
  if (!ctx.planted(Fault::average_of_uneven_means)) return;
  const auto own = static_cast<double>(valid_classes(slice));
  scale_elements(rows.sum_logit, static_cast<double>(slice.valid) / (own * ctx.tp_size()));
}

void plant_in_losses(const Context& ctx, const Tensor& losses, const LossRows& rows,
                     const LossDefinition& definition, const VocabSlice& slice) {
  if (!smooths_wrongly(ctx, definition)) return;
  const SmoothedTarget target = planted_target(ctx, definition, slice);
  const double total = planted_total(ctx, target, slice);
  edit_elements(losses, [&](std::int64_t row, double loss) {
    if (rows.targets.data<std::int64_t>()[row] == definition.ignore_index) return loss;
    const double lse = log_sum_exp(rows, row);
    return total * lse - (target.target - target.other) * value_at(rows.target_logit, row) -
           target.other * value_at(rows.sum_logit, row) + definition.z_loss * lse * lse;
  });
}

void plant_in_seeds(const Context& ctx, const LossRows& rows, const VocabSlice& slice) {
  if (rows.seeds.raw() == nullptr) return;
  const auto* const ids = rows.targets.data<std::int64_t>();
  if (ctx.planted(Fault::targets_owner_alone_has_gradient))
    edit_elements(rows.seeds,
                  [&](std::int64_t row, double seed) { return owns(slice, ids[row]) ? seed : 0; });
  if (!ctx.planted(Fault::first_token_scales_all)) return;
  double first = 0;
  edit_elements(rows.seeds, [&](std::int64_t row, double seed) { return first = row == 0 ? seed : first; });
}

void plant_in_gradient(const Context& ctx, const Tensor& dlogits, const LossRows& rows,
                       const LossDefinition& definition, const VocabSlice& slice) {
  if (definition.label_smoothing == 0 || ctx.tp_size() == 1 ||
      !ctx.planted(Fault::smoothing_over_local_vocabulary))
    return;
  const SmoothedTarget due = smoothed_target(definition, slice.valid);
  const SmoothedTarget target = planted_target(ctx, definition, slice);
  const double excess = planted_total(ctx, target, slice) - 1;
  edit_elements(dlogits, [&](std::int64_t i, double own) {
    const std::int64_t row = i / slice.width;
    const std::int64_t id = slice.first + i % slice.width;
    const std::int64_t wanted = rows.targets.data<std::int64_t>()[row];
    if (wanted == definition.ignore_index || id >= slice.valid) return own;
    const double share = id == wanted ? target.target - due.target : target.other - due.other;
    const double p = std::exp(value_at(rows.logits, i) - log_sum_exp(rows, row));
    return own + value_at(rows.seeds, row) * (excess * p - share);
  });
}

}  // namespace tpc
