// SPDX-License-Identifier: Apache-2.0
#include "harness/run/reference/reference_run.hpp"

#include <algorithm>
#include <limits>

#include "harness/judge/inputs/inputs.hpp"
#include "reference/faulty/fault.hpp"
#include "reference/faulty/faulty_streams.hpp"
#include "reference/model/transformer.hpp"
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
      ctx_(ranks, request.mesh, compute, make_parts(faults)),
      faults_(faults) {
  open_streams();
}

// Every mask that is drawn is handed out, so that it can be judged, or be an input of the baseline.
void ReferenceRun::open_streams() {
  const DropoutRates& rates = config_.dropout;
  const Randomness& random = problem_.random;
  ctx_.training = random.training;
  if (rates == DropoutRates{} && problem_.operation != Operation::init) return;
  const StreamSetup setup = stream_setup(problem_.seed, ctx_.mesh(), random.seed_by_data_parallel_rank);
  streams_ = ctx_.parts().streams(random.profile, setup);
  ctx_.streams = streams_.get();
  ctx_.on_mask = [this](const std::string& name, const Tensor& mask, const DrawLayout& layout) {
    give(name, mask, layout.placement);
  };
}

Response ReferenceRun::run() {
  switch (problem_.operation) {
    case Operation::vocab_embedding:
      run_embedding();
      break;
    case Operation::vocab_cross_entropy:
      run_cross_entropy();
      break;
    case Operation::model:
      run_model();
      break;
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
      run_layer();
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

bool ReferenceRun::is_dry() const { return ctx_.compute().device() == "shape-only"; }

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

Tensor ReferenceRun::whole_input(const std::string& name) {
  const Tensor whole = input(name, replicate(input_named(problem_, name).shape));
  const bool rolled = faults_.contains(Fault::batch_by_rank) && whole.dtype() == DType::i64 && !is_dry();
  if (!rolled) return whole;
  const Tensor own = host_tensor(whole.dtype(), whole.shape(), name);
  const std::int64_t batch = problem_.batch;
  for (std::int64_t i = 0; i < whole.count(); ++i)
    own.data<std::int64_t>()[i] =
        whole.data<std::int64_t>()[i / batch * batch + (i + ctx_.tp().rank) % batch];
  return own;
}

// The upstream gradient of the loss, in the loss's own dtype.
Tensor ReferenceRun::upstream_of_loss() {
  Tensor dloss = ctx_.compute().allocate(statistics_dtype(problem_.dtype), {1}, "dloss");
  ctx_.compute().copy(dloss, whole_input("dloss"));
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

void ReferenceRun::give_loss(const Tensor& mean, const Tensor& tokens) {
  give("loss", mean, replicate({1}));
  give("token_loss", tokens, replicate({problem_.sequence, problem_.batch}));
}

void ReferenceRun::give_gradients(const std::vector<ParameterSpec>& specs, const Gradients& gradients) {
  finalise_gradients(ctx_, specs, gradients);
  if (is_dry()) return;
  for (const ParameterSpec& spec : ctx_.parts().as_reported(ctx_.position(), specs))
    for (const ParameterPart& part : spec.parts) {
      Placement placement = part.placement;
      // A fused tensor's other rows are other parts, not padding; a part on its own must be zero where it is
      // padded.
      if (spec.parts.size() > 1) placement.padding = std::nullopt;
      response_.tensors.push_back({"grad." + part.canonical, gradients.at(spec.name), placement});
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

ReferenceRun::SingleLayer ReferenceRun::build_layer() const {
  const Sharding& cut = request_.sharding;
  const Placement tokens = token_layout(config_.hidden);
  const Shape wide = activation(config_.ffn);
  switch (problem_.operation) {
    case Operation::column_linear: {
      const auto result = cut.gather_output ? ColumnLinear::Result::gathered : ColumnLinear::Result::sharded;
      return {ctx_.parts().column_linear(even_part("", config_.ffn, ctx_.position()),
                                         {.in_features = config_.hidden,
                                          .bias = config_.mlp_bias,
                                          .sequence_parallel = sp_,
                                          .overlap_chunks = cut.overlap_chunks},
                                         result),
              tokens, cut.gather_output ? replicate(wide) : shard(wide, 2, ctx_.tp())};
    }
    case Operation::row_linear:
      return {ctx_.parts().row_linear("", ctx_.position(),
                                      {.in_features = config_.ffn,
                                       .out_features = config_.hidden,
                                       .bias = config_.mlp_bias,
                                       .input_is_split = cut.input_is_split,
                                       .sequence_parallel = sp_,
                                       .overlap_chunks = cut.overlap_chunks}),
              cut.input_is_split ? shard(wide, 2, ctx_.tp()) : replicate(wide), tokens};
    case Operation::mlp:
      if (cut.mlp_order == MlpOrder::row_first)
        return {std::make_unique<RowFirstMlp>("", plan()), tokens, tokens};
      return {std::make_unique<Mlp>("", plan()), tokens, tokens};
    case Operation::attention:
      return {std::make_unique<Attention>("", plan()), tokens, tokens};
    case Operation::layer_norm:
    case Operation::rms_norm: {
      ModelConfig config = config_;
      config.norm = problem_.operation == Operation::layer_norm ? NormKind::layer_norm : NormKind::rms_norm;
      return {std::make_unique<Norm>("", config, sp_), tokens, tokens};
    }
    default:
      TPC_EXPECT(problem_.operation == Operation::transformer_layer, "{} is not a layer",
                 name(problem_.operation));
      return {block_of("", plan()), tokens, tokens};
  }
}

void ReferenceRun::run_layer() {
  const SingleLayer built = build_layer();
  const std::vector<ParameterSpec> specs = built.layer->parameters();
  const Parameters params = load(specs);
  const std::size_t bytes_before = ctx_.compute().live_bytes();
  Saved saved;
  {
    const SiteScope phase(ctx_, Phase::forward);
    Output out = built.layer->forward(ctx_, params, input("x", built.x));
    give("y", out.y, built.y);
    saved = std::move(out.saved);
  }
  account(saved, bytes_before, params);
  if (!wants(Action::backward)) return;
  Gradients gradients;
  {
    const SiteScope phase(ctx_, Phase::backward);
    const Tensor dy = input("dy", built.y);
    give("dx", built.layer->backward(ctx_, params, dy, std::move(saved), gradients), built.x);
  }
  give_gradients(specs, gradients);
}

void ReferenceRun::run_embedding() {
  const auto layer = ctx_.parts().vocab_embedding("", "positions", plan());
  const std::vector<ParameterSpec> specs = layer->parameters();
  const Parameters params = load(specs);
  const std::size_t bytes_before = ctx_.compute().live_bytes();
  Saved saved;
  {
    const SiteScope phase(ctx_, Phase::forward);
    Output out = layer->forward(ctx_, params, whole_input("ids"));
    give("y", out.y, token_layout(config_.hidden));
    saved = std::move(out.saved);
  }
  account(saved, bytes_before, params);
  if (!wants(Action::backward)) return;
  Gradients gradients;
  {
    const SiteScope phase(ctx_, Phase::backward);
    layer->backward(ctx_, params, input("dy", token_layout(config_.hidden)), std::move(saved), gradients);
  }
  give_gradients(specs, gradients);
}

// Padded columns hold NaN: they must take part in nothing. Where the fault is that they do, they hold what a
// padded head makes of them.
Tensor ReferenceRun::sharded_logits(const Placement& layout, std::int64_t width) {
  Tensor logits =
      ctx_.compute().allocate(problem_.dtype, {problem_.sequence, problem_.batch, width}, "logits");
  const bool taken = faults_.contains(Fault::padding_in_the_softmax);
  ctx_.compute().fill(logits, taken ? 0 : std::numeric_limits<double>::quiet_NaN());
  for (const Block& block : layout.blocks)
    ctx_.compute().copy_block(logits, block.local_offset, drawn("logits", block.global_offset, block.extent),
                              {0, 0, 0}, block.extent);
  return logits;
}

void ReferenceRun::run_cross_entropy() {
  const VocabSlice slice = vocab_slice(config_, request_.sharding, ctx_.tp());
  const Placement layout = padded_rows(activation(config_.vocab), 2, slice.first, slice.width);
  const auto layer = ctx_.parts().vocab_cross_entropy(config_.loss, slice, ctx_.position());
  const std::size_t bytes_before = ctx_.compute().live_bytes();
  Saved saved;
  {
    const SiteScope phase(ctx_, Phase::forward);
    VocabCrossEntropy::Loss loss =
        layer->forward(ctx_, sharded_logits(layout, slice.width), whole_input("targets"));
    give_loss(loss.mean, loss.tokens);
    saved = std::move(loss.saved);
  }
  account(saved, bytes_before, {});
  if (!wants(Action::backward)) return;
  const SiteScope phase(ctx_, Phase::backward);
  give("dlogits", layer->backward(ctx_, upstream_of_loss(), saved), layout);
}

void ReferenceRun::run_model() {
  const Transformer model(plan());
  const std::vector<ParameterSpec> specs = model.parameters();
  const Parameters params = load(specs);
  const std::size_t bytes_before = ctx_.compute().live_bytes();
  Saved saved;
  {
    Transformer::Loss loss = model.forward(ctx_, params, whole_input("ids"), whole_input("targets"));
    give_loss(loss.mean, loss.tokens);
    saved = std::move(loss.saved);
  }
  account(saved, bytes_before, params);
  if (!wants(Action::backward)) return;
  Gradients gradients;
  model.backward(ctx_, params, upstream_of_loss(), std::move(saved), gradients);
  give_gradients(specs, gradients);
}

}  // namespace tpc
