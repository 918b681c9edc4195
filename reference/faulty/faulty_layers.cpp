// SPDX-License-Identifier: Apache-2.0
#include "reference/faulty/faulty_layers.hpp"

#include <optional>

#include "reference/faulty/edit.hpp"
#include "reference/faulty/fault.hpp"
#include "reference/faulty/faulty_loss.hpp"
#include "reference/tensor_parallel/local_linear.hpp"
#include "reference/tensor_parallel/naming.hpp"
#include "reference/tensor_parallel/regions.hpp"

namespace tpc {

namespace {

// A gradient that is whole on every rank, summed over them all the same.
Tensor summed_again(Context& ctx, const char* region, const Tensor& whole) {
  const Tensor sum = ctx.compute().allocate(whole.dtype(), whole.shape(), "summed again");
  ctx.compute().copy(sum, whole);
  ctx.site.operation = region;
  if (ctx.tp().size > 1) ctx.group(Axis::tp).all_reduce(sum, sum, ReduceOp::sum);
  return sum;
}

class FaultyColumnLinears : public ColumnLinears {
 public:
  FaultyColumnLinears(const FaultSet& faults, std::vector<ColumnPart> parts, Options options)
      : ColumnLinears(std::move(parts), std::move(options)), faults_(faults) {}

 protected:
  bool gathers_again(const Context& ctx) const override {
    return !faults_.contains(Fault::gathered_input_kept) && ColumnLinears::gathers_again(ctx);
  }

  // k and v read x as it is, so that their gradients of it are not summed over the ranks.
  Tensor multiply_back(Context& ctx, const Parameters& params,
                       const std::vector<Tensor>& joined) const override {
    const bool leaves_out_kv = faults_.contains(Fault::kv_reads_uncopied_input) && joined.size() == 3 &&
                               options().fused_name.ends_with("qkv") &&
                               options().sequence_parallel == SequenceParallel::off;
    if (!leaves_out_kv) return ColumnLinears::multiply_back(ctx, params, joined);
    const auto partial = [&](std::size_t i) {
      return linear_backward_input(ctx.compute(), joined[i], params.at(join(weights()[i].name, "weight")));
    };
    const Tensor dx = enter_tp_backward(ctx, SequenceParallel::off, partial(0));
    const Tensor uncopied = partial(2);
    ctx.compute().add(uncopied, uncopied, partial(1));
    ctx.compute().add(dx, dx, uncopied);
    return dx;
  }

 private:
  FaultSet faults_;
};

class FaultyColumnLinear : public ColumnLinear {
 public:
  using ColumnLinear::ColumnLinear;

 protected:
  Tensor leave_backward(Context& ctx, const Tensor& dy) const override {
    if (result() != Result::gathered) return dy;
    return GatherFromTp::backward(ctx, summed_again(ctx, "gather_from_tp", dy));
  }
};

class FaultyRowLinear : public RowLinear {
 public:
  FaultyRowLinear(const FaultSet& faults, const std::string& name, const Position& at, const Options& options)
      : RowLinear(name, at, options), faults_(faults) {}

 protected:
  void add_bias(Context& ctx, const Parameters& params, const Tensor& y) const override {
    const int times = faults_.contains(Fault::row_bias_before_reduce) ? tp().size : 1;
    for (int i = 0; i < times; ++i) RowLinear::add_bias(ctx, params, y);
  }

  Tensor bias_gradient(Context& ctx, const Tensor& dy) const override {
    const Tensor db = RowLinear::bias_gradient(ctx, dy);
    if (faults_.contains(Fault::row_bias_gradient_divided) &&
        options().sequence_parallel == SequenceParallel::off)
      ctx.compute().scale(db, db, 1.0 / tp().size);
    return db;
  }

  Backward multiply_back(Context& ctx, const Tensor& dy, const Tensor& weight) const override {
    Backward right = RowLinear::multiply_back(ctx, dy, weight);
    if (faults_.contains(Fault::row_input_gradient_of_own_tokens) && dy.size(0) != right.dy.size(0))
      right.dx = ReduceScatterToSp::backward(ctx, linear_backward_input(ctx.compute(), dy, weight));
    return right;
  }

  Tensor leave_backward(Context& ctx, const Tensor& dy) const override {
    const bool again = faults_.contains(Fault::reduced_again_in_backward) &&
                       options().sequence_parallel == SequenceParallel::off && tp().size > 1;
    return again ? summed_again(ctx, "reduce_from_tp", dy) : RowLinear::leave_backward(ctx, dy);
  }

 private:
  FaultSet faults_;
};

class FaultyDropout : public Dropout {
 public:
  using Dropout::Dropout;

 protected:
  double factor() const override { return 1 / rate(); }
};

class FaultyEmbedding : public VocabEmbedding {
 public:
  FaultyEmbedding(const FaultSet& faults, const std::string& words, const std::string& positions,
                  const LayerPlan& plan)
      : VocabEmbedding(words, positions, plan), faults_(faults), at_(plan.at) {}

 protected:
  // Whose ids they are is what it was at the first look-up; an id that is then not in the slice becomes its
  // first.
  Tensor ids_to_look_up(Context& ctx, const Tensor& ids) const override {
    if (!planted(Fault::mask_of_earlier_ids) || ids.place() == Place::nowhere || ctx.tp().size == 1)
      return ids;
    const Tensor read = on_host(ctx.compute(), ids);
    if (!first_ids_) first_ids_ = read;
    const std::int64_t foreign = slice().first == 0 ? slice().width : 0;
    Tensor seen = host_tensor(DType::i64, ids.shape(), "ids");
    for (std::int64_t i = 0; i < ids.count(); ++i) {
      const std::int64_t id = read.data<std::int64_t>()[i];
      const bool masked = !owns(slice(), first_ids_->data<std::int64_t>()[i]);
      seen.data<std::int64_t>()[i] = masked ? foreign : owns(slice(), id) ? id : slice().first;
    }
    const Tensor local = ctx.compute().allocate(DType::i64, ids.shape(), "ids");
    ctx.compute().copy(local, seen);
    return local;
  }

  Tensor look_up(Context& ctx, const Tensor& ids, const Tensor& table,
                 const VocabSlice& rows) const override {
    const bool words = rows.width == slice().width && rows.valid == slice().valid;
    Tensor found = VocabEmbedding::look_up(ctx, ids, table, words ? slice_of_words() : rows);
    if (!planted(Fault::embedding_widened) || found.dtype() != DType::bf16) return found;
    Tensor wide = ctx.compute().allocate(DType::f32, found.shape(), "in f32");
    ctx.compute().copy(wide, found);
    return wide;
  }

  Tensor word_gradient(Context& ctx, const Tensor& dy, const Tensor& ids) const override {
    Tensor dwords = ctx.compute().allocate(dy.dtype(), {slice().width, dy.size(-1)}, "dwords");
    ctx.compute().embedding_backward(dwords, dy, ids, slice_of_words());
    if (planted(Fault::padding_row_of_every_shard) && ctx.tp().rank > 0 && slice().width > padding_id)
      ctx.compute().fill(dwords.rows(padding_id % slice().width, 1), 0);
    return dwords;
  }

  Tensor leave_backward(Context& ctx, const Tensor& dy) const override {
    const bool again = planted(Fault::reduced_again_in_backward) &&
                       sequence_parallel() == SequenceParallel::off && ctx.tp().size > 1;
    return again ? summed_again(ctx, "reduce_from_tp", dy) : VocabEmbedding::leave_backward(ctx, dy);
  }

 private:
  static constexpr std::int64_t padding_id = 1;  // of the fault that has one

  bool planted(Fault fault) const { return faults_.contains(fault); }
  VocabSlice slice_of_words() const {
    VocabSlice wrong = slice();
    if (planted(Fault::last_rows_dropped)) wrong.valid = whole_shares(wrong, at_);
    return wrong;
  }

  FaultSet faults_;
  Position at_;
  mutable std::optional<Tensor> first_ids_;  // what should not be remembered
};

class FaultyTransformerLayer : public TransformerLayer {
 public:
  using TransformerLayer::TransformerLayer;

 protected:
  // In each rank's partial sum, before it is reduced.
  void add_residual(Context& ctx, const Tensor& y, const Tensor& x) const override {
    const int times = sequence_parallel() == SequenceParallel::off ? ctx.tp().size : 1;
    for (int i = 0; i < times; ++i) TransformerLayer::add_residual(ctx, y, x);
  }
};

}  // namespace

std::unique_ptr<ColumnLinears> faulty_column_linears(const FaultSet& faults, std::vector<ColumnPart> parts,
                                                     ColumnLinears::Options options) {
  return std::make_unique<FaultyColumnLinears>(faults, std::move(parts), std::move(options));
}

std::unique_ptr<ColumnLinear> faulty_column_linear(const FaultSet& faults, const ColumnPart& part,
                                                   std::unique_ptr<ColumnLinears> linears,
                                                   ColumnLinear::Result result) {
  if (!faults.contains(Fault::gather_backward_reduces))
    return std::make_unique<ColumnLinear>(part, std::move(linears), result);
  return std::make_unique<FaultyColumnLinear>(part, std::move(linears), result);
}

std::unique_ptr<RowLinear> faulty_row_linear(const FaultSet& faults, const std::string& name,
                                             const Position& at, const RowLinear::Options& options) {
  return std::make_unique<FaultyRowLinear>(faults, name, at, options);
}

std::unique_ptr<Dropout> faulty_dropout(const FaultSet& faults, const std::string& layer, DropoutSite site,
                                        double rate) {
  if (!faults.contains(Fault::kept_scaled_by_inverse_rate))
    return std::make_unique<Dropout>(layer, site, rate);
  return std::make_unique<FaultyDropout>(layer, site, rate);
}

std::unique_ptr<VocabEmbedding> faulty_embedding(const FaultSet& faults, const std::string& words,
                                                 const std::string& positions, const LayerPlan& plan) {
  return std::make_unique<FaultyEmbedding>(faults, words, positions, plan);
}

std::unique_ptr<TransformerLayer> faulty_transformer_layer(const FaultSet& faults, const std::string& name,
                                                           const LayerPlan& plan) {
  if (!faults.contains(Fault::residual_before_reduce)) return std::make_unique<TransformerLayer>(name, plan);
  return std::make_unique<FaultyTransformerLayer>(name, plan);
}

}  // namespace tpc
