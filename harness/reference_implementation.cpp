// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "harness/collective_runner.hpp"
#include "harness/implementation.hpp"
#include "harness/inputs.hpp"
#include "reference/model/transformer.hpp"
#include "reference/tensor_parallel/gradient_finalisation.hpp"
#include "reference/tensor_parallel/requirements.hpp"
#include "reference/tensor_parallel/vocab.hpp"

namespace tpc {

namespace {

// One request on one rank: draws what the rank needs, runs the script, collects what it holds.
class ReferenceRun {
 public:
  ReferenceRun(const Request& request, const CommunicatorPtr& ranks, Compute& compute)
      : request_(request),
        problem_(request.problem),
        config_(request.problem.model),
        sp_(request.sharding.sequence_parallel),
        ctx_(ranks, request.mesh, compute),
        rank_(ctx_.tp_rank()),
        ranks_(ctx_.tp_size()) {
    if (ranks_ > config_.kv_heads && ranks_ % config_.kv_heads == 0) {
      const int kv_heads = static_cast<int>(config_.kv_heads);
      ctx_.unflatten("tp", {kv_heads, ranks_ / kv_heads}, {"kv_heads", kv_copies_axis});
    }
  }

  Response run() {
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
      default:
        run_layer();
    }
    response_.status = Response::Status::result;
    response_.trace = ctx_.trace();
    return std::move(response_);
  }

 private:
  Shape activation(std::int64_t features) const { return {problem_.sequence, problem_.batch, features}; }

  // [S,B,C] replicated without, a sequence shard with sequence parallelism.
  Placement token_layout(std::int64_t features) const {
    return sp_ == SequenceParallel::off ? replicate(activation(features))
                                        : shard(activation(features), 0, rank_, ranks_);
  }

  Tensor upload(const Tensor& host, const std::string& label) {
    Tensor local = ctx_.compute().allocate(host.dtype(), host.shape(), label);
    ctx_.compute().copy(local, host);
    return local;
  }

  Tensor input(const std::string& name, const Placement& placement) {
    const Block& block = placement.blocks.at(0);
    return upload(draw_tensor(problem_, input_named(problem_, name), block.global_offset, block.extent),
                  name);
  }
  Tensor whole_input(const std::string& name) {
    return input(name, replicate(input_named(problem_, name).shape));
  }

  Parameters load(const std::vector<ParameterSpec>& specs) {
    const SiteScope phase(ctx_, Phase::load);
    return load_parameters(
        ctx_.compute(), specs, problem_.dtype, [&](const std::string& name, const Block& block) {
          return draw_tensor(problem_, input_named(problem_, name), block.global_offset, block.extent);
        });
  }

  void give(const std::string& name, const Tensor& data, const Placement& placement) {
    response_.tensors.push_back({name, data, placement});
  }

  bool wants(Action action) const {
    return std::find(request_.script.begin(), request_.script.end(), action) != request_.script.end();
  }

  void give_gradients(const std::vector<ParameterSpec>& specs, const Gradients& gradients) {
    finalise_gradients(ctx_, specs, gradients);
    for (const ParameterSpec& spec : specs)
      for (const ParameterPart& part : spec.parts) {
        Placement placement = part.placement;
        // A fused tensor's other rows are other parts, not padding; a part on its own must be zero where it
        // is padded.
        if (spec.parts.size() > 1) placement.padding = std::nullopt;
        give("grad." + part.canonical, gradients.at(spec.name), placement);
      }
  }

  struct SingleLayer {
    std::unique_ptr<Layer> layer;
    Placement x;
    Placement y;
  };
  SingleLayer build_layer() const;
  void run_layer();
  void run_embedding();
  void run_cross_entropy();
  void run_model();

  const Request& request_;
  const Problem& problem_;
  const ModelConfig& config_;
  SequenceParallel sp_;
  Context ctx_;
  int rank_;
  int ranks_;
  Response response_;
};

ReferenceRun::SingleLayer ReferenceRun::build_layer() const {
  const Sharding& cut = request_.sharding;
  const Placement tokens = token_layout(config_.hidden);
  const Shape wide = activation(config_.ffn);
  switch (problem_.operation) {
    case Operation::column_linear: {
      const ColumnLinears::Options options{"", config_.hidden, config_.mlp_bias, true, sp_};
      const auto result = cut.gather_output ? ColumnLinear::Result::gathered : ColumnLinear::Result::sharded;
      return {std::make_unique<ColumnLinear>(even_part("", config_.ffn, rank_, ranks_), options, result),
              tokens, cut.gather_output ? replicate(wide) : shard(wide, 2, rank_, ranks_)};
    }
    case Operation::row_linear: {
      const RowLinear::Options options{config_.ffn, config_.hidden, config_.mlp_bias, cut.input_is_split,
                                       sp_};
      return {std::make_unique<RowLinear>("", rank_, ranks_, options),
              cut.input_is_split ? shard(wide, 2, rank_, ranks_) : replicate(wide), tokens};
    }
    case Operation::mlp:
      return {std::make_unique<Mlp>("", config_, cut, rank_, ranks_), tokens, tokens};
    case Operation::attention:
      return {std::make_unique<Attention>("", config_, cut, rank_, ranks_), tokens, tokens};
    case Operation::layer_norm:
    case Operation::rms_norm: {
      ModelConfig config = config_;
      config.norm = problem_.operation == Operation::layer_norm ? NormKind::layer_norm : NormKind::rms_norm;
      return {std::make_unique<Norm>("", config, sp_), tokens, tokens};
    }
    default:
      TPC_EXPECT(problem_.operation == Operation::transformer_layer, "{} is not a layer",
                 name(problem_.operation));
      return {std::make_unique<TransformerLayer>("", config_, cut, rank_, ranks_), tokens, tokens};
  }
}

void ReferenceRun::run_layer() {
  const SingleLayer built = build_layer();
  const std::vector<ParameterSpec> specs = built.layer->parameters();
  const Parameters params = load(specs);
  const Tensor x = input("x", built.x);
  Output out;
  {
    const SiteScope phase(ctx_, Phase::forward);
    out = built.layer->forward(ctx_, params, x);
  }
  give("y", out.y, built.y);
  response_.saved_bytes = static_cast<std::int64_t>(out.saved.bytes());
  if (!wants(Action::backward)) return;
  Gradients gradients;
  {
    const SiteScope phase(ctx_, Phase::backward);
    const Tensor dy = input("dy", built.y);
    give("dx", built.layer->backward(ctx_, params, dy, std::move(out.saved), gradients), built.x);
  }
  give_gradients(specs, gradients);
}

void ReferenceRun::run_embedding() {
  const VocabEmbedding layer("", "positions", config_, request_.sharding, rank_, ranks_);
  const std::vector<ParameterSpec> specs = layer.parameters();
  const Parameters params = load(specs);
  Output out;
  {
    const SiteScope phase(ctx_, Phase::forward);
    out = layer.forward(ctx_, params, whole_input("ids"));
  }
  give("y", out.y, token_layout(config_.hidden));
  response_.saved_bytes = static_cast<std::int64_t>(out.saved.bytes());
  if (!wants(Action::backward)) return;
  Gradients gradients;
  {
    const SiteScope phase(ctx_, Phase::backward);
    layer.backward(ctx_, params, input("dy", token_layout(config_.hidden)), std::move(out.saved), gradients);
  }
  give_gradients(specs, gradients);
}

void ReferenceRun::run_cross_entropy() {
  const VocabSlice slice = vocab_slice(config_, request_.sharding, rank_, ranks_);
  const Placement logits_layout = padded_rows(activation(config_.vocab), 2, slice.first, slice.width);
  const Tensor logits =
      ctx_.compute().allocate(problem_.dtype, {problem_.sequence, problem_.batch, slice.width}, "logits");
  ctx_.compute().fill(logits, std::numeric_limits<double>::quiet_NaN());  // padding must take part in nothing
  for (const Block& block : logits_layout.blocks)
    ctx_.compute().copy_block(
        logits, block.local_offset,
        draw_tensor(problem_, input_named(problem_, "logits"), block.global_offset, block.extent), {0, 0, 0},
        block.extent);
  const VocabCrossEntropy layer(config_.loss, slice);
  VocabCrossEntropy::Loss loss;
  {
    const SiteScope phase(ctx_, Phase::forward);
    loss = layer.forward(ctx_, logits, whole_input("targets"));
  }
  give("loss", loss.mean, replicate({1}));
  give("token_loss", loss.tokens, replicate({problem_.sequence, problem_.batch}));
  response_.saved_bytes = static_cast<std::int64_t>(loss.saved.bytes());
  if (!wants(Action::backward)) return;
  const SiteScope phase(ctx_, Phase::backward);
  const Tensor dloss = ctx_.compute().allocate(loss.mean.dtype(), {1}, "dloss");
  ctx_.compute().copy(dloss, whole_input("dloss"));
  give("dlogits", layer.backward(ctx_, dloss, loss.saved), logits_layout);
}

void ReferenceRun::run_model() {
  const Transformer model(config_, request_.sharding, rank_, ranks_);
  const std::vector<ParameterSpec> specs = model.parameters();
  const Parameters params = load(specs);
  Transformer::Loss loss = model.forward(ctx_, params, whole_input("ids"), whole_input("targets"));
  give("loss", loss.mean, replicate({1}));
  give("token_loss", loss.tokens, replicate({problem_.sequence, problem_.batch}));
  response_.saved_bytes = static_cast<std::int64_t>(loss.saved.bytes());
  if (!wants(Action::backward)) return;
  const Tensor dloss = ctx_.compute().allocate(loss.mean.dtype(), {1}, "dloss");
  ctx_.compute().copy(dloss, whole_input("dloss"));
  Gradients gradients;
  model.backward(ctx_, params, dloss, std::move(loss.saved), gradients);
  give_gradients(specs, gradients);
}

class ReferenceImplementation : public Implementation {
 public:
  std::string name() const override { return "reference"; }

  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    try {
      if (request.problem.kind == Problem::Kind::collective) return run_collective(request, ranks);
      if (request.problem.kind == Problem::Kind::mesh) return run_mesh(request, ranks);
      validate(request.mesh, ranks->size());
      const int tp = tp_degree(request.mesh);
      require_splittable(request.problem.operation, request.problem.model, request.sharding,
                         request.problem.sequence, tp);
      return ReferenceRun(request, ranks, *compute_).run();
    } catch (const Refusal& refusal) {
      Response refused;
      refused.status = Response::Status::refused;
      refused.reason = refusal.what();
      return refused;
    }
  }

 private:
  static int tp_degree(const MeshSpec& mesh) {
    for (std::size_t i = 0; i < mesh.axes.size(); ++i)
      if (mesh.axes[i] == "tp") return mesh.shape[i];
    throw Refusal(fmt::format("mesh {} has no axis 'tp': name one axis so", to_string(mesh)));
  }

  std::unique_ptr<Compute> compute_ = make_host_compute();
};

}  // namespace

std::unique_ptr<Implementation> make_reference_implementation() {
  return std::make_unique<ReferenceImplementation>();
}

std::unique_ptr<Implementation> make_implementation(std::string_view name) {
  if (name == "reference") return make_reference_implementation();
  throw UsageError(fmt::format("unknown implementation '{}'; known: reference", name));
}

}  // namespace tpc
