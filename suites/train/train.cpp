// SPDX-License-Identifier: Apache-2.0
// Claim: training on tensor-parallel ranks, dropout and clipping included, follows the path of one device
// step by step.
#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/judge/inputs/problem_inputs.hpp"
#include "suites/layer_cases.hpp"
#include "suites/suites.hpp"

namespace tpc {

namespace {

using SP = SequenceParallel;
constexpr double infinite = std::numeric_limits<double>::infinity();

struct TrainCase {
  std::string tag;
  TrainProblem train;
  int tp = 1;
  SP mode = SP::off;
  bool drops = true;
};

TrainProblem sgd() {
  TrainProblem t;
  t.max_norm = 0.25;
  t.reports = {1, 2, 3, 5};
  return t;
}

TrainProblem sgd_by_norm(double p) {
  TrainProblem t = sgd();
  t.norm = p;
  t.max_norm = std::isinf(p) ? 0.01 : p == 1 ? 8 : 0.1;
  t.reports = {2};
  return t;
}

TrainProblem heavy_ball() {
  TrainProblem t = sgd();
  t.lr = 0.25;
  t.momentum = 0.5;
  t.reports = {3};
  return t;
}

TrainProblem adamw() {
  TrainProblem t = sgd();
  t.optimizer = TrainProblem::Optimizer::adamw;
  t.lr = 1.0 / 256;
  t.eps = 1e-6;
  t.weight_decay = 0.125;
  return t;
}

ModelConfig small_model(bool drops) {
  ModelConfig config = gpt2_style();
  config.hidden = 48;
  config.head_dim = 2;
  config.ffn = 96;
  if (drops) config.dropout = {0.1, 0.1, 0.1};
  return config;
}

// For those who do not let anybody give them their masks.
std::vector<TrainCase> cases_without_dropout() {
  std::vector<TrainCase> all;
  for (const int tp : {1, 2, 3, 4, 8})
    for (const SP mode : {SP::off, SP::kept}) {
      if (tp == 1 && mode == SP::kept) continue;
      all.push_back({"sgd", sgd(), tp, mode, false});
      if (tp == 2 || tp == 3) all.push_back({"adamw", adamw(), tp, mode, false});
    }
  for (const auto& [tag, train] : {std::pair{"sgd_norm1", sgd_by_norm(1)},
                                   {"sgd_norm3", sgd_by_norm(3)},
                                   {"sgd_norm_inf", sgd_by_norm(infinite)},
                                   {"sgd_momentum", heavy_ball()}})
    all.push_back({tag, train, 3, SP::kept, false});
  return all;
}

std::vector<TrainCase> train_cases() {
  std::vector<TrainCase> all;
  for (const int tp : {1, 2, 3, 4, 6, 8})
    for (const SP mode : {SP::off, SP::kept}) {
      if (tp == 1 && mode == SP::kept) continue;
      all.push_back({"sgd", sgd(), tp, mode});
      if (tp != 1 && tp != 4 && tp != 6) all.push_back({"adamw", adamw(), tp, mode});
    }
  for (const int tp : {3, 8}) {
    all.push_back({"sgd_norm1", sgd_by_norm(1), tp, SP::kept});
    all.push_back({"sgd_norm3", sgd_by_norm(3), tp, SP::kept});
    all.push_back({"sgd_norm_inf", sgd_by_norm(infinite), tp, SP::kept});
    all.push_back({"sgd_momentum", heavy_ball(), tp, SP::kept});
  }
  const std::vector<TrainCase> without = cases_without_dropout();
  all.insert(all.end(), without.begin(), without.end());
  return all;
}

Case train_case(const TrainCase& t, std::uint64_t seed) {
  Case c;
  c.suite = "train";
  c.tier = Tier::f64;
  c.name = fmt::format("{}/tp{}_f64{}{}", t.tag, t.tp, t.mode == SP::off ? "" : "_sp",
                       t.drops ? "" : "_no_dropout");
  Problem& problem = c.request.problem;
  problem.asked = Operation::train;
  problem.model = small_model(t.drops);
  problem.batch = 2;
  problem.sequence = 24;
  problem.seed = seed;
  problem.train = t.train;
  IdChoice ids;
  ids.padded_vocab = 120;
  problem.inputs = inputs_for(problem, InputRecipe::gaussian, ids);
  c.request.sharding.padded_vocab = ids.padded_vocab;
  c.request.sharding.sequence_parallel = t.mode;
  c.request.mesh = {{t.tp}, {"tp"}};
  c.profile = problem.random.profile;
  c.statement = fmt::format(
      "{} steps of {} with {}clipping on {} ranks: every parameter, each loss and each gradient norm is that "
      "of "
      "one device",
      problem.train.steps(), t.train.optimizer == TrainProblem::Optimizer::sgd ? "SGD" : "AdamW",
      t.drops ? "dropout and " : "", t.tp);
  return c;
}

}  // namespace

Suite train_suite(const SuiteOptions& options) {
  Suite suite{"train", {}, {}};
  const auto contains = [](const auto& list, const auto& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  if (options.tiers_given && !contains(options.tiers, Tier::f64)) return suite;
  for (const TrainCase& t : train_cases())
    if (contains(options.tp, t.tp)) suite.cases.push_back(train_case(t, options.seed));
  return suite;
}

}  // namespace tpc
