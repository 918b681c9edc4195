// SPDX-License-Identifier: Apache-2.0
#include "harness/values/request.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "harness/values/parallelism.hpp"

namespace tpc {
namespace {

using Change = std::function<void(Problem&)>;

std::vector<Change> model_changes() {
  return {[](Problem& p) { p.model.layers = 3; },
          [](Problem& p) { p.model.hidden = 3; },
          [](Problem& p) { p.model.heads = 3; },
          [](Problem& p) { p.model.kv_heads = 3; },
          [](Problem& p) { p.model.head_dim = 3; },
          [](Problem& p) { p.model.ffn = 3; },
          [](Problem& p) { p.model.vocab = 3; },
          [](Problem& p) { p.model.positions = 3; },
          [](Problem& p) { p.model.norm = NormKind::rms_norm; },
          [](Problem& p) { p.model.norm_eps = 1e-6; },
          [](Problem& p) { p.model.mlp = MlpKind::swiglu; },
          [](Problem& p) { p.model.gelu = GeluForm::erf; },
          [](Problem& p) { p.model.position = PositionKind::none; },
          [](Problem& p) { p.model.rotary = RotaryForm::interleaved; },
          [](Problem& p) { p.model.rotary_theta = 5; },
          [](Problem& p) { p.model.rotary_scaling = RotaryScaling{}; },
          [](Problem& p) { p.model.rotary_scaling = RotaryScaling{2}; },
          [](Problem& p) {
            p.model.rotary_scaling = RotaryScaling{2, 2};
          },
          [](Problem& p) {
            p.model.rotary_scaling = RotaryScaling{2, 2, 2};
          },
          [](Problem& p) {
            p.model.rotary_scaling = RotaryScaling{2, 2, 2, 2};
          },
          [](Problem& p) { p.model.causal = false; },
          [](Problem& p) { p.model.attention_scale = 0; },
          [](Problem& p) { p.model.attention_scale = 1; },
          [](Problem& p) { p.model.qkv_bias = false; },
          [](Problem& p) { p.model.out_bias = false; },
          [](Problem& p) { p.model.mlp_bias = false; },
          [](Problem& p) { p.model.tied_head = false; },
          [](Problem& p) { p.model.loss.label_smoothing = 0.1; },
          [](Problem& p) { p.model.loss.smoothing_over = SmoothingOver::other_classes; },
          [](Problem& p) { p.model.loss.z_loss = 1; },
          [](Problem& p) { p.model.loss.mean_over = LossMean::all_tokens; },
          [](Problem& p) { p.model.loss.ignore_index = -1; }};
}

std::vector<Change> other_changes() {
  return {[](Problem& p) { p.asked = Operation::mlp; },
          [](Problem& p) { p.batch = 2; },
          [](Problem& p) { p.sequence = 2; },
          [](Problem& p) { p.dtype = DType::bf16; },
          [](Problem& p) { p.seed = 1; },
          [](Problem& p) { p.asked = CollectiveProblem{.kind = CollectiveKind::broadcast}; },
          [](Problem& p) { p.asked = CollectiveProblem{.op = ReduceOp::max}; },
          [](Problem& p) { p.asked = CollectiveProblem{.count = 7}; },
          [](Problem& p) { p.asked = CollectiveProblem{.root = 1}; },
          [](Problem& p) { p.asked = CollectiveProblem{.in_place = true}; },
          [](Problem& p) { p.asked = CollectiveProblem{.repeats = 2}; },
          [](Problem& p) { p.asked = CollectiveProblem{.members = {1}}; },
          [](Problem& p) { p.asked = CollectiveProblem{}; },
          [](Problem& p) { p.asked = MeshProblem{}; },
          [](Problem& p) { p.asked = MeshProblem{.view = MeshProblem::View::sub}; },
          [](Problem& p) {
            p.asked = MeshProblem{.mesh = {{1}, {}}};
          },
          [](Problem& p) {
            p.asked = MeshProblem{.mesh = {{}, {"tp"}}};
          },
          [](Problem& p) { p.asked = MeshProblem{.axes = {"tp"}}; },
          [](Problem& p) {
            p.asked = MeshProblem{.into = {{1}, {}}};
          },
          [](Problem& p) {
            p.asked = MeshProblem{.into = {{}, {"tp"}}};
          },
          [](Problem& p) { p.inputs.clear(); },
          [](Problem& p) { p.inputs[0].name = "y"; },
          [](Problem& p) {
            p.inputs[0].shape = {2, 21};
          },
          [](Problem& p) { p.inputs[0].generator.kind = Generator::Kind::sparse; },
          [](Problem& p) { p.inputs[0].generator.a = 0.1; },
          [](Problem& p) { p.inputs[0].generator.b = 0.1; },
          [](Problem& p) { p.inputs[0].generator.c = 0.1; },
          [](Problem& p) { p.inputs[0].generator.exponent = 1; },
          [](Problem& p) { p.inputs[0].generator.text = "a 1:b"; }};
}

TEST(Parallelism, CountsRanksAlongEachAxis) {
  EXPECT_EQ(parallelism_of({{2, 3, 4, 5}, {"pp", "dp_replicate", "dp_shard", "tp"}}),
            (Parallelism{5, 12, 2}));
  EXPECT_EQ(parallelism_of({{2, 3}, {"dp", "tp"}}), (Parallelism{3, 2, 0}));
  EXPECT_EQ(parallelism_of({{7}, {"mine"}}), Parallelism{}) << "an axis that nobody knows";
  EXPECT_EQ(parallelism_of({{}, {"tp"}}), Parallelism{}) << "an axis without a size";
}

TEST(Key, EveryFieldCounts) {
  Problem base;
  base.inputs = {{"x", {2, 2, 1}, {}}};
  std::vector<Change> changes = model_changes();
  for (const Change& change : other_changes()) changes.push_back(change);
  std::set<std::string> keys = {key(base)};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Problem changed = base;
    changes[i](changed);
    EXPECT_TRUE(keys.insert(key(changed)).second) << "change " << i;
  }
}

TEST(Key, EqualProblemsHaveEqualKeys) {
  Problem problem;
  problem.inputs = {{"x", {2, 2, 1}, {Generator::Kind::gaussian, 0.1, 3}}};
  EXPECT_EQ(key(problem), key(Problem(problem)));
}

}  // namespace
}  // namespace tpc
