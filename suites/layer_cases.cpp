// SPDX-License-Identifier: Apache-2.0
#include "suites/layer_cases.hpp"

#include <algorithm>

#include "harness/problem_inputs.hpp"

namespace tpc {

namespace {

DType dtype_of_tier(Tier tier, DType exact) {
  switch (tier) {
    case Tier::f32:
      return DType::f32;
    case Tier::bf16:
      return DType::bf16;
    case Tier::exact:
      return exact;
    default:
      return DType::f64;
  }
}

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string case_name(const Variant& v, SequenceParallel mode, Tier tier, int tp) {
  std::string text = fmt::format("{}/tp{}_{}", v.tag, tp, name(tier));
  if (mode != SequenceParallel::off) text += fmt::format("_{}", name(mode));
  if (!v.suffix.empty()) text += "_" + v.suffix;
  return text;
}

Case make_case(const std::string& suite, const Variant& v, SequenceParallel mode, Tier tier, int tp,
               const Problem& problem) {
  Case c;
  c.suite = suite;
  c.name = case_name(v, mode, tier, tp);
  c.tier = tier;
  c.request.problem = problem;
  c.request.sharding = v.sharding;
  c.request.sharding.sequence_parallel = mode;
  c.request.mesh = {{tp}, {"tp"}};
  c.statement = statement_of(v, mode, tier, tp);
  return c;
}

}  // namespace

std::string_view name(SequenceParallel mode) {
  switch (mode) {
    case SequenceParallel::kept:
      return "kept";
    case SequenceParallel::regathered:
      return "regathered";
    default:
      return "off";
  }
}

std::string statement_of(const Variant& variant, SequenceParallel mode, Tier tier, int tp) {
  const char* how = mode == SequenceParallel::off ? ""
                    : mode == SequenceParallel::kept
                        ? ", sequence parallel with the gathered input kept"
                        : ", sequence parallel with the input gathered again in backward";
  return fmt::format(
      "{} on {} tensor-parallel ranks{}: every output, input gradient and parameter gradient is what one "
      "device computes ({} tier)",
      name(variant.operation), tp, how, name(tier));
}

Problem problem_of(const Variant& variant, Tier tier, std::uint64_t seed) {
  Problem problem;
  problem.operation = variant.operation;
  problem.model = variant.config;
  problem.batch = variant.batch;
  problem.sequence = variant.sequence;
  problem.dtype = dtype_of_tier(tier, DType::f64);
  problem.seed = seed;
  problem.inputs = inputs_for(problem, tier == Tier::exact ? InputRecipe::exact : InputRecipe::gaussian);
  return problem;
}

std::vector<Case> layer_cases(const std::string& suite, const std::vector<Variant>& variants,
                              const std::vector<SequenceParallel>& modes, const SuiteOptions& options) {
  std::vector<Case> cases;
  for (const Variant& v : variants)
    for (const Tier tier : v.tiers) {
      if (options.tiers_given && !contains(options.tiers, tier)) continue;
      const Problem problem = problem_of(v, tier, options.seed);
      for (const SequenceParallel mode : modes) {
        if (!contains(v.modes, mode)) continue;
        for (const int tp : v.tp)
          if (contains(options.tp, tp)) cases.push_back(make_case(suite, v, mode, tier, tp, problem));
      }
    }
  return cases;
}

}  // namespace tpc
