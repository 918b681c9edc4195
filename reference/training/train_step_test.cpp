// SPDX-License-Identifier: Apache-2.0
#include "reference/training/train_step.hpp"

#include <gtest/gtest.h>

#include "reference/comm/local/local.hpp"
#include "reference/parameters/test_support.hpp"

namespace tpc {
namespace {

constexpr std::int64_t sequence = 4;
constexpr std::int64_t batch = 3;

// Column `column` of a [S,3] batch, or all of it. Sequences have unequally many targets that count, the last
// none.
Tensor columns(const ModelConfig& config, const std::string& kind, std::int64_t first, std::int64_t count) {
  const Tensor tokens = host_tensor(DType::i64, {sequence, count});
  for (std::int64_t s = 0; s < sequence; ++s)
    for (std::int64_t b = first; b < first + count; ++b) {
      const auto draw = philox(hash_name(kind), static_cast<std::uint64_t>(s * batch + b))[0];
      const bool ignored = kind == "targets" && s < 2 * b;
      tokens.data<std::int64_t>()[s * count + b - first] =
          ignored ? config.loss.ignore_index : draw % config.vocab;
    }
  return tokens;
}

struct After {
  Parameters params;
  double norm = 0;
};

After trained(Context& ctx, const ModelConfig& config, std::int64_t microbatches) {
  const Sharding sharding{.sequence_parallel = SequenceParallel::kept, .padded_vocab = 24};
  const Stage model = transformer({config, sharding, ctx.position(), ctx.parts()});
  HeldParameters params(test::local_tensors(ctx.compute(), model.parameters(), "weight"));
  const std::int64_t width = batch / microbatches;
  std::vector<Tensor> targets;
  for (std::int64_t m = 0; m < microbatches; ++m)
    targets.push_back(columns(config, "targets", m * width, width));
  const std::vector<double> shares = loss_shares(targets, config.loss);
  std::vector<Microbatch> batches;
  for (std::size_t m = 0; m < targets.size(); ++m)
    batches.push_back(
        {columns(config, "ids", static_cast<std::int64_t>(m) * width, width), targets[m], shares[m]});
  const Tensor dloss = host_tensor(DType::f64, {1});
  dloss.data<double>()[0] = 2;
  const auto optimizer = make_sgd({.lr = 1}, DType::f64);
  const StepResult result =
      train_step(ctx, model, params, *optimizer, batches, dloss, {.norm = 2, .max_norm = 0.5});
  EXPECT_EQ(result.losses.size(), targets.size());
  return {params.all(), result.gradient_norm};
}

TEST(TrainStep, MicrobatchesOfUnequallyManyTokensEqualTheWholeBatch) {
  for (const LossMean mean : {LossMean::valid_tokens, LossMean::all_tokens})
    on_local_ranks(2, [&](const CommunicatorPtr& world) {
      ModelConfig config = test::tested_config();
      config.loss.mean_over = mean;
      const auto compute = make_host_compute();
      Context ctx(world, {{2}, {"tp"}}, *compute);
      const After expected = trained(ctx, config, 1);
      const After got = trained(ctx, config, 3);
      EXPECT_GT(expected.norm, 0.5);  // clipped
      EXPECT_NEAR(got.norm, expected.norm, 1e-12 * expected.norm);
      for (const auto& [name, param] : expected.params)
        for (std::int64_t i = 0; i < param.count(); ++i)
          EXPECT_NEAR(got.params.at(name).data<double>()[i], param.data<double>()[i], 1e-12) << name;
    });
}

TEST(LossShares, AreThoseOfTheTokensThatCount) {
  const ModelConfig config = test::tested_config();
  std::vector<Tensor> targets;
  for (std::int64_t b = 0; b < batch; ++b) targets.push_back(columns(config, "targets", b, 1));
  EXPECT_EQ(loss_shares(targets, {}), (std::vector<double>{4 / 6., 2 / 6., 0}));
  EXPECT_EQ(loss_shares(targets, {.mean_over = LossMean::all_tokens}),
            (std::vector<double>{1 / 3., 1 / 3., 1 / 3.}));
  EXPECT_EQ(loss_shares({targets[2]}, {}), (std::vector<double>{0}));
}

}  // namespace
}  // namespace tpc
