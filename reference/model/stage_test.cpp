// SPDX-License-Identifier: Apache-2.0
#include "reference/model/stage.hpp"

#include <gtest/gtest.h>

#include "reference/comm/local/local.hpp"
#include "reference/parameters/test_support.hpp"
#include "reference/tensor_parallel/gradient_finalisation.hpp"

namespace tpc {
namespace {

constexpr int microbatches = 4;
constexpr std::int64_t sequence = 4;

ModelConfig three_blocks(bool tied) {
  ModelConfig config = test::tested_config();
  config.layers = 3;
  config.tied_head = tied;
  return config;
}

// [S,2] ids; every fifth target is ignored.
Tensor tokens(const ModelConfig& config, const std::string& kind, int microbatch) {
  const Tensor ids = host_tensor(DType::i64, {sequence, 2});
  for (std::int64_t i = 0; i < ids.count(); ++i) {
    const auto draw = philox(hash_name(kind), static_cast<std::uint64_t>(8 * microbatch + i))[0];
    const bool ignored = kind == "targets" && (i + microbatch) % 5 == 0;
    ids.data<std::int64_t>()[i] = ignored ? config.loss.ignore_index : draw % config.vocab;
  }
  return ids;
}

Tensor upstream(int microbatch) {
  const Tensor dloss = host_tensor(DType::f64, {1});
  dloss.data<double>()[0] = 0.5 + microbatch;
  return dloss;
}

struct Trained {
  std::vector<double> losses;
  std::map<std::string, std::vector<double>> gradients;
};

void add_gradients(Trained& trained, const Gradients& gradients) {
  for (const auto& [name, gradient] : gradients.all()) {
    std::vector<double>& sum = trained.gradients[name];
    sum.resize(static_cast<std::size_t>(gradient.count()));
    for (std::int64_t i = 0; i < gradient.count(); ++i)
      sum[static_cast<std::size_t>(i)] += gradient.data<double>()[i];
  }
}

// A stage with what it owns, and what it has not yet sent back.
struct Half {
  Half(Context& ctx, const LayerPlan& plan, const StageRange& range)
      : stage(make_stage(plan, range)),
        params(test::local_tensors(ctx.compute(), stage.parameters(), "weight")),
        gradients(stage.parameters(), {.microbatches = microbatches}) {}

  Stage stage;
  HeldParameters params;
  Gradients gradients;
  std::map<int, Stage::Result> results;
  std::vector<Saved> rests;
};

Trained whole(Context& ctx, const LayerPlan& plan) {
  Half all(ctx, plan, {.end = plan.config.layers, .embedding = true, .head = true});
  Trained trained;
  for (int m = 0; m < microbatches; ++m) {
    Stage::Result result =
        all.stage.forward(ctx, all.params, tokens(plan.config, "ids", m), tokens(plan.config, "targets", m));
    trained.losses.push_back(result.y.data<double>()[0]);
    all.stage.backward(ctx, all.params, upstream(m), std::move(result.saved), all.gradients);
  }
  finalise_gradients(ctx, all.gradients);
  add_gradients(trained, all.gradients);
  return trained;
}

// The first half has two microbatches under way before the second has finished one: F0 F1 B0 F2 B1 F3 B2 B3.
// Its weight gradients wait until the end.
Trained in_halves(Context& ctx, const LayerPlan& plan) {
  Half first(ctx, plan, {.end = 1, .embedding = true});
  Half second(ctx, plan, {.first = 1, .end = plan.config.layers, .head = true});
  Trained trained;
  const auto forward = [&](int m) {
    first.results[m] = first.stage.forward(ctx, first.params, tokens(plan.config, "ids", m));
  };
  const auto backward = [&](int m) {
    Stage::Result result =
        second.stage.forward(ctx, second.params, first.results.at(m).y, tokens(plan.config, "targets", m));
    trained.losses.push_back(result.y.data<double>()[0]);
    const Tensor dx =
        second.stage.backward(ctx, second.params, upstream(m), std::move(result.saved), second.gradients);
    InputGradient own =
        first.stage.backward_input(ctx, first.params, dx, std::move(first.results.at(m).saved));
    first.rests.push_back(std::move(own.rest));
  };
  forward(0);
  for (int m = 0; m < microbatches; ++m) {
    if (m + 1 < microbatches) forward(m + 1);
    backward(m);
  }
  for (Saved& rest : first.rests) first.stage.backward_weight(ctx, std::move(rest), first.gradients);
  for (Half* half : {&first, &second}) {
    finalise_gradients(ctx, half->gradients);
    add_gradients(trained, half->gradients);
  }
  return trained;
}

void expect_halves_equal_the_whole(bool tied, const Sharding& sharding, int ranks) {
  const ModelConfig config = three_blocks(tied);
  on_local_ranks(ranks, [&](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    Context ctx(world, {{ranks}, {"tp"}}, *compute);
    const LayerPlan plan{config, sharding, ctx.position(), ctx.parts()};
    const Trained expected = whole(ctx, plan);
    const Trained got = in_halves(ctx, plan);
    EXPECT_EQ(got.losses, expected.losses);
    ASSERT_EQ(got.gradients.size(), expected.gradients.size());
    for (const auto& [name, gradient] : expected.gradients) {
      // The two uses of a tied table are summed in another order.
      if (!tied || name != "embedding.weight") {
        EXPECT_EQ(got.gradients.at(name), gradient) << name;
        continue;
      }
      for (std::size_t i = 0; i < gradient.size(); ++i)
        EXPECT_NEAR(got.gradients.at(name)[i], gradient[i], 1e-10) << name << " " << i;
    }
  });
}

TEST(Stage, TwoHalvesInOneForwardOneBackwardOrderEqualTheWhole) {
  for (const int ranks : {1, 2})
    for (const bool tied : {false, true}) {
      expect_halves_equal_the_whole(tied, {.padded_vocab = 24}, ranks);
      expect_halves_equal_the_whole(tied,
                                    {.sequence_parallel = SequenceParallel::regathered,
                                     .recompute = Recompute::full,
                                     .padded_vocab = 24},
                                    ranks);
    }
}

// What a stage acquires it gives back, one layer at a time.
class CountedParameters final : public ParameterSource {
 public:
  explicit CountedParameters(Parameters all) : held_(std::move(all)) {}
  const Parameters& acquire(const std::string& layer, Direction direction) override {
    EXPECT_FALSE(is_out_) << layer;
    is_out_ = true;
    acquired.push_back(layer + (direction == Direction::forward ? " forward" : " backward"));
    return held_.acquire(layer, direction);
  }
  void give_back(const std::string& layer, Direction) noexcept override {
    EXPECT_TRUE(is_out_) << layer;
    is_out_ = false;
  }
  std::vector<std::string> acquired;

 private:
  HeldParameters held_;
  bool is_out_ = false;
};

TEST(Stage, AcquiresTheParametersOfOneLayerAtATime) {
  on_local_ranks(1, [](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    Context ctx(world, {{1}, {"tp"}}, *compute);
    const ModelConfig config = three_blocks(true);
    const Sharding sharding;
    const Stage model = make_stage({config, sharding, ctx.position(), ctx.parts()},
                                   {.end = 1, .embedding = true, .head = true});
    CountedParameters params(test::local_tensors(*compute, model.parameters(), "weight"));
    Stage::Result result = model.forward(ctx, params, tokens(config, "ids", 0), tokens(config, "targets", 0));
    Gradients gradients(model.parameters());
    model.backward(ctx, params, upstream(0), std::move(result.saved), gradients);
    EXPECT_EQ(params.acquired,
              (std::vector<std::string>{"embedding forward", "blocks.0 forward", "final_norm forward",
                                        "embedding forward", "embedding backward", "final_norm backward",
                                        "blocks.0 backward", "embedding backward"}));
  });
}

}  // namespace
}  // namespace tpc
