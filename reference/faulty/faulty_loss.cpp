// SPDX-License-Identifier: Apache-2.0
#include "reference/faulty/faulty_loss.hpp"

#include <algorithm>
#include <cmath>

#include "reference/faulty/edit.hpp"
#include "reference/faulty/fault.hpp"

namespace tpc {

bool owns(const VocabSlice& slice, std::int64_t id) {
  return id >= slice.first && id < std::min(slice.first + slice.width, slice.valid);
}

std::int64_t whole_shares(const VocabSlice& slice, const Position& at) {
  return slice.valid / at.tp().size * at.tp().size;
}

namespace {

// The slice as a wrong loss takes it.
VocabSlice wrong_slice(const FaultSet& faults, VocabSlice slice, const Position& at) {
  if (faults.contains(Fault::padding_in_the_softmax)) slice.valid = slice.width * at.tp().size;
  if (faults.contains(Fault::last_columns_dropped)) slice.valid = whole_shares(slice, at);
  if (faults.contains(Fault::target_is_local_index)) slice.first = 0;
  return slice;
}

std::int64_t valid_classes(const VocabSlice& slice) {
  return std::clamp(slice.valid - slice.first, std::int64_t{0}, slice.width);
}

double value_at(const Tensor& x, std::int64_t i) {
  double value = 0;
  visit_float(x.dtype(), [&](auto zero) { value = static_cast<double>(x.data<decltype(zero)>()[i]); });
  return value;
}

class FaultyCrossEntropy : public VocabCrossEntropy {
 public:
  FaultyCrossEntropy(const FaultSet& faults, const LossDefinition& definition, const VocabSlice& due,
                     const Position& at)
      : VocabCrossEntropy(definition, wrong_slice(faults, due, at)),
        faults_(faults),
        due_(due),
        ranks_(at.tp().size) {}

  Loss forward(Context& ctx, const Tensor& logits, const Tensor& targets) const override {
    if (planted(Fault::padding_in_the_softmax)) clear_padding(ctx, logits);
    return VocabCrossEntropy::forward(ctx, logits, targets);
  }

 protected:
  void make_terms(Context& ctx, const Rows& rows) const override {
    VocabCrossEntropy::make_terms(ctx, rows);
    if (planted(Fault::softmax_sum_counted_per_rank)) ctx.compute().scale(rows.sum_exp, rows.sum_exp, ranks_);
    if (planted(Fault::foreign_target_reads_padding)) add_padded_logit(ctx, rows);
    if (!planted(Fault::average_of_uneven_means)) return;
    const auto own = static_cast<double>(valid_classes(slice()));
    ctx.compute().scale(rows.sum_logit, rows.sum_logit, static_cast<double>(slice().valid) / (own * ranks_));
  }

  void make_losses(Context& ctx, const Tensor& losses, const Rows& rows) const override {
    ctx.compute().cross_entropy_loss(losses, rows.max, rows.sum_exp, rows.target_logit, rows.sum_logit,
                                     rows.targets, definition(), due_.valid);
    if (!smooths_wrongly()) return;
    const SmoothedTarget target = wrong_target();
    const double total = shares_of(target);
    const Rows read = on_host(ctx, rows);
    edit_elements(ctx.compute(), losses, [&](std::int64_t row, double loss) {
      if (read.targets.data<std::int64_t>()[row] == definition().ignore_index) return loss;
      const double lse = log_sum_exp(read, row);
      return total * lse - (target.target - target.other) * value_at(read.target_logit, row) -
             target.other * value_at(read.sum_logit, row) + definition().z_loss * lse * lse;
    });
  }

  void make_seeds(Context& ctx, const Rows& rows, const Tensor& weights, const Tensor& dloss) const override {
    VocabCrossEntropy::make_seeds(ctx, rows, weights, dloss);
    if (rows.seeds.place() == Place::nowhere) return;
    const Tensor targets = tpc::on_host(ctx.compute(), rows.targets);
    const auto* const ids = targets.data<std::int64_t>();
    if (planted(Fault::targets_owner_alone_has_gradient))
      edit_elements(ctx.compute(), rows.seeds,
                    [&](std::int64_t row, double seed) { return owns(slice(), ids[row]) ? seed : 0; });
    if (!planted(Fault::first_token_scales_all)) return;
    double first = 0;
    edit_elements(ctx.compute(), rows.seeds,
                  [&](std::int64_t row, double seed) { return first = row == 0 ? seed : first; });
  }

  void make_gradient(Context& ctx, const Tensor& dlogits, const Rows& rows) const override {
    VocabCrossEntropy::make_gradient(ctx, dlogits, rows);
    if (definition().label_smoothing == 0 || ranks_ == 1 || !planted(Fault::smoothing_over_local_vocabulary))
      return;
    const VocabSlice& own = slice();
    const SmoothedTarget due = smoothed_target(definition(), own.valid);
    const SmoothedTarget target = wrong_target();
    const double excess = shares_of(target) - 1;
    const Rows read = on_host(ctx, rows);
    edit_elements(ctx.compute(), dlogits, [&](std::int64_t i, double gradient) {
      const std::int64_t row = i / own.width;
      const std::int64_t id = own.first + i % own.width;
      const std::int64_t wanted = read.targets.data<std::int64_t>()[row];
      if (wanted == definition().ignore_index || id >= own.valid) return gradient;
      const double share = id == wanted ? target.target - due.target : target.other - due.other;
      const double p = std::exp(value_at(read.logits, i) - log_sum_exp(read, row));
      return gradient + value_at(read.seeds, row) * (excess * p - share);
    });
  }

 private:
  bool planted(Fault fault) const { return faults_.contains(fault); }

  static Rows on_host(Context& ctx, const Rows& rows) {
    const auto read = [&](const Tensor& x) { return x ? tpc::on_host(ctx.compute(), x) : x; };
    return {read(rows.logits),       read(rows.targets),   read(rows.max),  read(rows.sum_exp),
            read(rows.target_logit), read(rows.sum_logit), read(rows.seeds)};
  }

  static double log_sum_exp(const Rows& rows, std::int64_t row) {
    return value_at(rows.max, row) + std::log(value_at(rows.sum_exp, row));
  }

  // What a padded head makes of them.
  void clear_padding(Context& ctx, const Tensor& logits) const {
    edit_elements(ctx.compute(), logits, [&](std::int64_t i, double logit) {
      return due_.first + i % due_.width < due_.valid ? logit : 0;
    });
  }

  // Of the logits that this rank holds, the one of the first padded class.
  void add_padded_logit(Context& ctx, const Rows& rows) const {
    const VocabSlice& own = slice();
    const std::int64_t column = own.valid - own.first;
    if (column < 0 || column >= own.width || rows.logits.place() == Place::nowhere) return;
    const Rows read = on_host(ctx, rows);
    const auto* const ids = read.targets.data<std::int64_t>();
    edit_elements(ctx.compute(), rows.target_logit, [&](std::int64_t row, double logit) {
      return owns(own, ids[row]) ? logit : logit + value_at(read.logits, row * own.width + column);
    });
  }

  // As if the classes of one shard were all there are.
  SmoothedTarget wrong_target() const {
    const bool local = planted(Fault::smoothing_over_local_vocabulary);
    return smoothed_target(definition(), local ? slice().width : slice().valid);
  }

  // What the shares of a target add up to over the classes whose log-probabilities are added up. Of a right
  // target it is 1.
  double shares_of(const SmoothedTarget& target) const {
    const std::int64_t added = planted(Fault::mean_of_local_logits) ? valid_classes(slice()) : slice().valid;
    return target.target + static_cast<double>(added - 1) * target.other;
  }

  bool smooths_wrongly() const {
    return definition().label_smoothing != 0 && ranks_ > 1 &&
           (planted(Fault::smoothing_over_local_vocabulary) || planted(Fault::mean_of_local_logits));
  }

  FaultSet faults_;
  VocabSlice due_;
  int ranks_;
};

}  // namespace

std::unique_ptr<VocabCrossEntropy> faulty_cross_entropy(const FaultSet& faults,
                                                        const LossDefinition& definition,
                                                        const VocabSlice& slice, const Position& at) {
  return std::make_unique<FaultyCrossEntropy>(faults, definition, slice, at);
}

}  // namespace tpc
