// SPDX-License-Identifier: Apache-2.0
#include "harness/run/reference/reference_run.hpp"

#include <algorithm>
#include <limits>

#include "harness/judge/inputs/inputs.hpp"
#include "reference/tensor_parallel/gradient_finalisation.hpp"
#include "reference/tensor_parallel/recompute.hpp"
#include "reference/tensor_parallel/row_first_mlp.hpp"
#include "reference/tensor_parallel/vocab.hpp"

namespace tpc {

ReferenceRun::ReferenceRun(const Request& request, const CommunicatorPtr& ranks, Compute& compute,
                           const FaultSet& faults)
    : request_(request),
      problem_(request.problem),
      config_(request.problem.model),
      sp_(request.sharding.sequence_parallel),
      ctx_(ranks, request.mesh, compute, make_parts(faults)) {
  open_streams();
}

// Every mask that is drawn is handed out, so that it can be judged, or be an input of the baseline.
void ReferenceRun::open_streams() {
  const DropoutRates& rates = config_.dropout;
  const Randomness& random = problem_.random;
  ctx_.training = random.training;
  if (rates == DropoutRates{} && !problem_.asks(Operation::init)) return;
  const StreamSetup setup = stream_setup(problem_.seed, ctx_.mesh(), random.seed_by_data_parallel_rank);
  streams_ = ctx_.parts().streams(random.profile, setup);
  ctx_.streams = streams_.get();
  ctx_.on_mask = [this](const std::string& name, const Tensor& mask, const DrawLayout& layout) {
    give(name, mask, layout.placement);
  };
}

Response ReferenceRun::run() {
  switch (problem_.operation()) {
    case Operation::dropout:
      run_dropout();
      break;
    case Operation::init:
      run_init();
      break;
    case Operation::train:
      run_train();
      break;
    default:
      run_stage();
  }
  response_.status = Response::Status::result;
  response_.trace = ctx_.trace();
  return std::move(response_);
}

Shape ReferenceRun::activation(std::int64_t features) const {
  return {problem_.sequence, problem_.batch, features};
}

// [S,B,C] replicated without, a sequence shard with sequence parallelism.
Placement ReferenceRun::token_layout(std::int64_t features) const {
  return sp_ == SequenceParallel::off ? replicate(activation(features))
                                      : shard(activation(features), 0, ctx_.tp());
}

bool ReferenceRun::is_dry() const { return ctx_.compute().place() == Place::nowhere; }

bool ReferenceRun::wants(Action action) const {
  return std::find(request_.script.begin(), request_.script.end(), action) != request_.script.end();
}

Tensor ReferenceRun::drawn(const std::string& name, const Shape& offset, const Shape& extent) {
  const InputSpec& spec = input_named(problem_, name);
  if (!is_dry()) return draw_tensor(problem_, spec, offset, extent);
  return ctx_.compute().allocate(is_integral(spec.generator) ? DType::i64 : problem_.dtype, extent, name);
}

Tensor ReferenceRun::input(const std::string& name, const Placement& placement) {
  const Block& block = placement.blocks.at(0);
  const Tensor host = drawn(name, block.global_offset, block.extent);
  Tensor local = ctx_.compute().allocate(host.dtype(), host.shape(), name);
  ctx_.compute().copy(local, host);
  return local;
}

// ids or targets [S,B].
Tensor ReferenceRun::tokens(const std::string& name) {
  const Tensor drawn_here = drawn(name, {0, 0}, {problem_.sequence, problem_.batch});
  const Tensor host = is_dry() ? drawn_here : ctx_.parts().as_read(ctx_.position(), drawn_here);
  Tensor local = ctx_.compute().allocate(host.dtype(), host.shape(), name);
  ctx_.compute().copy(local, host);
  return local;
}

// The upstream gradient of the loss, in the loss's own dtype.
Tensor ReferenceRun::upstream_of_loss() {
  Tensor dloss = ctx_.compute().allocate(statistics_dtype(problem_.dtype), {1}, "dloss");
  ctx_.compute().copy(dloss, input("dloss", replicate({1})));
  return dloss;
}

Parameters ReferenceRun::load(const std::vector<ParameterSpec>& specs) {
  const SiteScope phase(ctx_, Phase::load);
  const WeightSource source = [&](const std::string& name, const Block& block) {
    return drawn(name, block.global_offset, block.extent);
  };
  return load_parameters(ctx_.compute(), ctx_.parts().as_loaded(ctx_.position(), specs), problem_.dtype,
                         ctx_.parts().weights(ctx_.position(), specs, source));
}

void ReferenceRun::give(const std::string& name, const Tensor& data, const Placement& placement) {
  if (is_dry()) return;
  const Tensor host = host_tensor(data.dtype(), data.shape(), name);
  ctx_.compute().copy(host, data);
  response_.tensors.push_back({name, host, placement});
}

void ReferenceRun::give_parts(const std::string& prefix, const std::vector<ParameterSpec>& specs,
                              const Parameters& tensors) {
  if (is_dry()) return;
  for (const ParameterSpec& spec : ctx_.parts().as_reported(ctx_.position(), specs))
    for (const ParameterPart& part : spec.parts) {
      Placement placement = part.placement;
      // A fused tensor's other rows are other parts, not padding; a part on its own must be zero where it is
      // padded.
      if (spec.parts.size() > 1) placement.padding = std::nullopt;
      give(prefix + part.canonical, tensors.at(spec.name), placement);
    }
}

// What backward may use is what is saved, the parameters, and what comes anew. All else that is still there
// is overwritten, so that a layer that keeps more than it reports cannot profit from it.
void ReferenceRun::account(const Saved& saved, std::size_t bytes_before, const Parameters& params) {
  response_.saved_bytes = static_cast<std::int64_t>(saved.bytes());
  response_.live_bytes = static_cast<std::int64_t>(ctx_.compute().live_bytes() - bytes_before);
  std::vector<Tensor> keep;
  for (Saved::Entry& entry : saved.entries()) {
    response_.saved.push_back({entry.name, entry.tensor.dtype(), entry.tensor.shape(),
                               static_cast<std::int64_t>(entry.tensor.bytes()),
                               entry.tensor.storage().get()});
    keep.push_back(std::move(entry.tensor));
  }
  for (const auto& [name, tensor] : params) keep.push_back(tensor);
  ctx_.compute().forget_all_but(keep);
}

ReferenceRun::Built ReferenceRun::build() const {
  const Sharding& cut = request_.sharding;
  const Placement tokens = token_layout(config_.hidden);
  const Shape wide = activation(config_.ffn);
  const auto of = [](auto layer, Placement x, Placement y) {
    std::vector<std::unique_ptr<Layer>> layers;
    layers.push_back(std::move(layer));
    return Built{Stage(std::move(layers)), std::move(x), std::move(y)};
  };
  switch (problem_.operation()) {
    case Operation::vocab_embedding:
      return of(ctx_.parts().vocab_embedding("", "positions", plan()), {}, tokens);
    case Operation::vocab_cross_entropy:
      return build_loss();
    case Operation::model:
      return {transformer(plan()), {}, {}};
    case Operation::column_linear: {
      const auto result = cut.gather_output ? ColumnLinear::Result::gathered : ColumnLinear::Result::sharded;
      return of(ctx_.parts().column_linear(even_part("", config_.ffn, ctx_.position()),
                                           {.in_features = config_.hidden,
                                            .bias = config_.mlp_bias,
                                            .sequence_parallel = sp_,
                                            .overlap_chunks = cut.overlap_chunks},
                                           result),
                tokens, cut.gather_output ? replicate(wide) : shard(wide, 2, ctx_.tp()));
    }
    case Operation::row_linear:
      return of(ctx_.parts().row_linear("", ctx_.position(),
                                        {.in_features = config_.ffn,
                                         .out_features = config_.hidden,
                                         .bias = config_.mlp_bias,
                                         .input_is_split = cut.input_is_split,
                                         .sequence_parallel = sp_,
                                         .overlap_chunks = cut.overlap_chunks}),
                cut.input_is_split ? shard(wide, 2, ctx_.tp()) : replicate(wide), tokens);
    case Operation::mlp:
      if (cut.mlp_order == MlpOrder::row_first)
        return of(std::make_unique<RowFirstMlp>("", plan()), tokens, tokens);
      return of(std::make_unique<Mlp>("", plan()), tokens, tokens);
    case Operation::attention:
      return of(std::make_unique<Attention>("", plan()), tokens, tokens);
    case Operation::layer_norm:
    case Operation::rms_norm: {
      ModelConfig config = config_;
      config.norm = problem_.asks(Operation::layer_norm) ? NormKind::layer_norm : NormKind::rms_norm;
      return of(std::make_unique<Norm>("", config, sp_), tokens, tokens);
    }
    default:
      TPC_EXPECT(problem_.asks(Operation::transformer_layer), "{} is not a layer",
                 name(problem_.operation()));
      return of(block_of("", plan()), tokens, tokens);
  }
}

ReferenceRun::Built ReferenceRun::build_loss() const {
  const VocabSlice slice = vocab_slice(config_, request_.sharding, ctx_.tp());
  return {Stage({}, ctx_.parts().vocab_cross_entropy(config_.loss, slice, ctx_.position())),
          padded_rows(activation(config_.vocab), 2, slice.first, slice.width),
          {}};
}

// Padded columns hold NaN: they must take part in nothing.
Tensor ReferenceRun::sharded_logits(const Placement& layout) {
  const std::int64_t width = vocab_slice(config_, request_.sharding, ctx_.tp()).width;
  Tensor logits = ctx_.compute().allocate(problem_.dtype, activation(width), "logits");
  ctx_.compute().fill(logits, std::numeric_limits<double>::quiet_NaN());
  for (const Block& block : layout.blocks)
    ctx_.compute().copy_block(logits, block.local_offset, drawn("logits", block.global_offset, block.extent),
                              {0, 0, 0}, block.extent);
  return logits;
}

Tensor ReferenceRun::stage_input(const Placement& layout) {
  switch (problem_.operation()) {
    case Operation::vocab_embedding:
    case Operation::model:
      return tokens("ids");
    case Operation::vocab_cross_entropy:
      return sharded_logits(layout);
    default:
      return input("x", layout);
  }
}

void ReferenceRun::give_result(const Built& built, const Stage::Result& result) {
  if (!built.stage.ends_in_loss()) return give("y", result.y, built.y);
  give("loss", result.y, replicate({1}));
  give("token_loss", result.tokens, replicate({problem_.sequence, problem_.batch}));
}

void ReferenceRun::run_stage() {
  const Built built = build();
  const bool has_loss = built.stage.ends_in_loss();
  HeldParameters params(load(built.stage.parameters()));
  const std::size_t bytes_before = ctx_.compute().live_bytes();
  Saved saved;
  {
    Stage::Result result =
        built.stage.forward(ctx_, params, stage_input(built.x), has_loss ? tokens("targets") : Tensor());
    give_result(built, result);
    saved = std::move(result.saved);
  }
  account(saved, bytes_before, params.all());
  if (!wants(Action::backward)) return;
  Gradients gradients(built.stage.parameters());
  const Tensor dy = has_loss ? upstream_of_loss() : input("dy", built.y);
  const Tensor dx = built.stage.backward(ctx_, params, dy, std::move(saved), gradients);
  if (!built.x.blocks.empty())
    give(problem_.asks(Operation::vocab_cross_entropy) ? "dlogits" : "dx", dx, built.x);
  finalise_gradients(ctx_, gradients);
  give_parts("grad.", gradients.specs(), gradients.all());
}

}  // namespace tpc
