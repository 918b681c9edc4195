// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <mutex>

#include "reference/comm/local/local.hpp"
#include "reference/model/stage.hpp"
#include "reference/optimizer/clipping.hpp"
#include "reference/optimizer/gradient_norm.hpp"
#include "reference/parameters/test_support.hpp"

namespace tpc {
namespace {

using Values = std::vector<double>;
using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(DType)>;

constexpr DType float_types[] = {DType::f64, DType::f32, DType::bf16};

Values read(const Tensor& tensor) {
  const auto compute = make_host_compute();
  const Tensor wide = host_tensor(DType::f64, tensor.shape());
  compute->copy(wide, tensor);
  return {wide.data<double>(), wide.data<double>() + wide.count()};
}

Tensor written(DType dtype, const Values& values) {
  const auto compute = make_host_compute();
  const Tensor wide = host_tensor(DType::f64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), wide.data<double>());
  Tensor tensor = host_tensor(dtype, wide.shape());
  compute->copy(tensor, wide);
  return tensor;
}

// Steps one parameter with gradients g(step, index).
Values stepped(Optimizer& optimizer, const Tensor& parameter, int from, int to) {
  const auto compute = make_host_compute();
  for (int step = from; step < to; ++step) {
    Values g;
    for (std::int64_t i = 0; i < parameter.count(); ++i)
      g.push_back(test::canonical_value("gradient", std::to_string(step), i));
    Gradients gradients({ParameterSpec{"w"}});
    gradients.add(*compute, "w", written(parameter.dtype(), g));
    optimizer.step(*compute, {{"w", parameter}}, gradients);
  }
  return read(parameter);
}

MakeOptimizer momentum_sgd() {
  return [](DType states) { return make_sgd({0.5, 0.9}, states); };
}
MakeOptimizer adamw(const AdamWOptions& options = {0.1, 0.9, 0.99, 1e-8, 0.1}) {
  return [options](DType states) { return make_adamw(options, states); };
}

TEST(Sgd, ByHand) {
  const Tensor w = written(DType::f64, {1, 2});
  const auto compute = make_host_compute();
  Gradients gradients({ParameterSpec{"w"}});
  gradients.add(*compute, "w", written(DType::f64, {0.5, -4}));
  const auto plain = make_sgd({1, 0}, DType::f32);
  plain->step(*compute, {{"w", w}}, gradients);
  EXPECT_EQ(read(w), (Values{0.5, 6}));
  EXPECT_TRUE(plain->state().tensors.empty());
  const auto heavy = make_sgd({0.5, 0.5}, DType::f64);
  heavy->step(*compute, {{"w", w}}, gradients);  // b = g
  EXPECT_EQ(read(w), (Values{0.25, 8}));
  heavy->step(*compute, {{"w", w}}, gradients);  // b = 1.5 g
  EXPECT_EQ(read(w), (Values{-0.125, 11}));
  EXPECT_EQ(read(heavy->state().tensors.at("momentum w")), (Values{0.75, -6}));
}

TEST(AdamW, FirstStepIsTheSignOfTheGradientAndDecay) {
  const Tensor w = written(DType::f64, {1, 2, 3});
  const auto compute = make_host_compute();
  Gradients gradients({ParameterSpec{"w"}});
  gradients.add(*compute, "w", written(DType::f64, {0.5, -1e-6, 0}));
  make_adamw({0.1, 0.9, 0.99, 1e-6, 0.5}, DType::f64)->step(*compute, {{"w", w}}, gradients);
  const Values got = read(w);
  EXPECT_NEAR(got[0], 0.95 - 0.1 * 0.5 / (0.5 + 1e-6), 1e-14);
  EXPECT_NEAR(got[1], 1.9 + 0.1 * 0.5, 1e-14);  // as large as eps: half the step
  EXPECT_NEAR(got[2], 2.85, 1e-15);
}

// The recurrences written once more, as plain sums: m and v are weighted means of all gradients so far.
TEST(AdamW, SeveralStepsEqualTheClosedSums) {
  const AdamWOptions o{0.1, 0.9, 0.99, 1e-8, 0.1};
  const Tensor w = written(DType::f64, {1, -1, 0.5, 2});
  Values expected = read(w);
  for (int t = 1; t <= 5; ++t)
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double m = 0;
      double v = 0;
      for (int s = 1; s <= t; ++s) {
        const double g = test::canonical_value("gradient", std::to_string(s), static_cast<std::int64_t>(i));
        m += (1 - o.beta1) * std::pow(o.beta1, t - s) * g;
        v += (1 - o.beta2) * std::pow(o.beta2, t - s) * g * g;
      }
      m /= 1 - std::pow(o.beta1, t);
      v /= 1 - std::pow(o.beta2, t);
      expected[i] -= o.lr * o.weight_decay * expected[i];
      expected[i] -= o.lr * m / (std::sqrt(v) + o.eps);
    }
  const auto optimizer = make_adamw(o, DType::f64);
  const Values got = stepped(*optimizer, w, 1, 6);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-13);
}

TEST(Optimizers, EveryDtypeFollowsF64WithinItsRounding) {
  for (const MakeOptimizer& make : {momentum_sgd(), adamw()}) {
    const Values start = {1, -1, 0.5, 2, 3};
    const Values exact = stepped(*make(DType::f64), written(DType::f64, start), 0, 5);
    for (const DType parameter : float_types)
      for (const DType states : {DType::f32, DType::f64}) {
        const Values got = stepped(*make(states), written(parameter, start), 0, 5);
        const double unit = std::max(unit_roundoff(parameter), unit_roundoff(states));
        for (std::size_t i = 0; i < got.size(); ++i)
          EXPECT_NEAR(got[i], exact[i], 200 * unit) << name(parameter) << " with " << name(states);
      }
  }
}

TEST(Optimizers, ResumedEqualsUninterrupted) {
  for (const MakeOptimizer& make : {momentum_sgd(), adamw()})
    for (const DType states : {DType::f32, DType::f64}) {
      const Tensor whole = written(DType::f64, {1, -1, 0.5});
      const auto optimizer = make(states);
      stepped(*optimizer, whole, 0, 2);
      const Tensor copy = written(DType::f64, read(whole));
      const auto resumed = make(states);
      resumed->restore(optimizer->state());
      EXPECT_EQ(stepped(*resumed, copy, 2, 5), stepped(*optimizer, whole, 2, 5));
      EXPECT_EQ(resumed->state().steps, 5);
      EXPECT_THROW(make(states == DType::f32 ? DType::f64 : DType::f32)->restore(optimizer->state()),
                   ContractError);
    }
}

TEST(Optimizers, ServeEmptyParametersAndRefuseWhatDoesNotFit) {
  const auto compute = make_host_compute();
  for (const MakeOptimizer& make : {momentum_sgd(), adamw()}) {
    EXPECT_TRUE(stepped(*make(DType::f32), written(DType::f32, {}), 0, 2).empty());
    Gradients gradients({ParameterSpec{"w"}});
    EXPECT_THROW(make(DType::f32)->step(*compute, {{"w", written(DType::f32, {1})}}, gradients),
                 ContractError);
    gradients.add(*compute, "w", written(DType::f64, {1}));
    EXPECT_THROW(make(DType::f32)->step(*compute, {{"w", written(DType::f32, {1, 2})}}, gradients),
                 ContractError);
    EXPECT_THROW(make(DType::bf16), UsageError);
    EXPECT_THROW(
        make(DType::f32)->step(*make_shape_only_compute(), {{"w", written(DType::f64, {1})}}, gradients),
        ContractError);
  }
  EXPECT_THROW(make_adamw({.eps = 1e-9}, DType::f32), UsageError);
  EXPECT_THROW(make_adamw({.beta2 = 1}, DType::f32), UsageError);
  EXPECT_THROW(make_sgd({.lr = 0}, DType::f32), UsageError);
  EXPECT_THROW(make_sgd({.lr = 1, .momentum = 1}, DType::f32), UsageError);
}

// Canonical parameters after some clipped steps over `ranks`, assembled.
std::map<std::string, Values> trained(const MakeOptimizer& make, std::int64_t kv_heads, int ranks,
                                      SequenceParallel sp) {
  ModelConfig config = test::tested_config();
  config.kv_heads = kv_heads;
  std::map<std::string, Values> canonical;
  std::mutex mutex;
  on_local_ranks(ranks, [&](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    Context ctx(world, {{ranks}, {"tp"}}, *compute);
    const Sharding sharding{.sequence_parallel = sp, .padded_vocab = ranks == 1 ? 0 : 48};
    const std::vector<ParameterSpec> specs =
        transformer({config, sharding, ctx.position(), ctx.parts()}).parameters();
    const Parameters params = test::local_tensors(*compute, specs, "parameter");
    const auto optimizer = make(DType::f64);
    for (int step = 0; step < 3; ++step) {
      const Gradients gradients = test::local_gradients(*compute, specs, "gradient " + std::to_string(step));
      EXPECT_LT(clip_gradients(*compute, gradients, gradient_norm(ctx, gradients), 1), 1);
      optimizer->step(*compute, params, gradients);
    }
    const std::lock_guard lock(mutex);
    for (const ParameterSpec& spec : specs)
      for (const ParameterPart& part : spec.parts) {
        const Shape& global = part.placement.global_shape;
        Values& whole = canonical[part.canonical];
        whole.resize(static_cast<std::size_t>(element_count(global)));
        const Tensor view = written(DType::f64, whole).reshaped(global);
        for (const Block& block : part.placement.blocks)
          compute->copy_block(view, block.global_offset, params.at(spec.name), block.local_offset,
                              block.extent);
        whole = read(view);
      }
  });
  return canonical;
}

void expect_steps_of_the_whole(const MakeOptimizer& make, std::int64_t kv_heads) {
  const auto expected = trained(make, kv_heads, 1, SequenceParallel::off);
  for (const int ranks : {2, 3, 4, 6, 8})
    for (const SequenceParallel sp : {SequenceParallel::off, SequenceParallel::kept}) {
      if (kv_heads % ranks != 0 && ranks % kv_heads != 0) continue;
      for (const auto& [name, values] : trained(make, kv_heads, ranks, sp))
        for (std::size_t i = 0; i < values.size(); ++i)
          ASSERT_NEAR(values[i], expected.at(name)[i], 1e-13) << name << " over " << ranks;
    }
}

TEST(Optimizers, ShardsStepAsTheWholeDoes) {
  for (const std::int64_t kv_heads : {2, 24}) {
    expect_steps_of_the_whole(momentum_sgd(), kv_heads);
    expect_steps_of_the_whole(adamw(), kv_heads);
  }
}

// Zero rows with zero gradients stay zero, whatever the optimizer.
TEST(Optimizers, LeavePaddingAtZero) {
  for (const MakeOptimizer& make : {momentum_sgd(), adamw()}) {
    const auto compute = make_host_compute();
    const Tensor w = written(DType::f32, {0, 0});
    Gradients gradients({ParameterSpec{"w"}});
    gradients.add(*compute, "w", written(DType::f32, {0, 0}));
    const auto optimizer = make(DType::f32);
    for (int step = 0; step < 3; ++step) optimizer->step(*compute, {{"w", w}}, gradients);
    EXPECT_EQ(read(w), (Values{0, 0}));
  }
}

}  // namespace
}  // namespace tpc
