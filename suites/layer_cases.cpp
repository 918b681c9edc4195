// SPDX-License-Identifier: Apache-2.0
#include "suites/layer_cases.hpp"

#include <algorithm>

#include "harness/judge/inputs/problem_inputs.hpp"

namespace tpc {

namespace {

// In which formats a tier is judged.
std::vector<DType> dtypes_of(Tier tier) {
  switch (tier) {
    case Tier::f32:
      return {DType::f32};
    case Tier::bf16:
      return {DType::bf16};
    case Tier::exact:
      return {DType::f64, DType::f32, DType::bf16};
    default:
      return {DType::f64};
  }
}

// The narrow formats of the exact tier repeat what f64 shows at every degree: rounding on the wire, which an
// even, an odd and the largest degree bring out.
bool worth_judging(Tier tier, DType dtype, int tp) {
  return tier != Tier::exact || dtype == DType::f64 || tp == 2 || tp == 3 || tp == 8;
}

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string case_name(const Variant& v, SequenceParallel mode, Tier tier, int tp, DType dtype) {
  std::string text = fmt::format("{}/tp{}_{}", v.tag, tp, name(tier));
  if (tier == Tier::exact) text += fmt::format("_{}", name(dtype));
  if (mode != SequenceParallel::off) text += fmt::format("_{}", name(mode));
  if (!v.suffix.empty()) text += "_" + v.suffix;
  return text;
}

Case make_case(const std::string& suite, const Variant& v, SequenceParallel mode, Tier tier, int tp,
               const Problem& problem) {
  Case c;
  c.suite = suite;
  c.name = case_name(v, mode, tier, tp, problem.dtype);
  c.tier = tier;
  c.request.problem = problem;
  c.request.sharding = v.sharding;
  c.request.sharding.sequence_parallel = mode;
  c.request.mesh = {{tp}, {"tp"}};
  c.statement = statement_of(v, mode, tier, tp);
  return c;
}

}  // namespace

DType natural_dtype(Tier tier) { return dtypes_of(tier).front(); }

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

Problem problem_of(const Variant& variant, Tier tier, DType dtype, std::uint64_t seed) {
  Problem problem;
  problem.asked = variant.operation;
  problem.model = variant.config;
  problem.batch = variant.batch;
  problem.sequence = variant.sequence;
  problem.dtype = dtype;
  problem.seed = seed;
  IdChoice ids;
  ids.padded_vocab = variant.sharding.padded_vocab;
  ids.ignored = variant.ignored;
  problem.inputs = inputs_for(problem, tier == Tier::exact ? InputRecipe::exact : InputRecipe::gaussian, ids);
  return problem;
}

std::vector<Case> layer_cases(const std::string& suite, const std::vector<Variant>& variants,
                              const std::vector<SequenceParallel>& modes, const SuiteOptions& options) {
  std::vector<Case> cases;
  const auto add_problem = [&](const Variant& v, Tier tier, DType dtype) {
    const Problem problem = problem_of(v, tier, dtype, options.seed);
    for (const SequenceParallel mode : modes) {
      if (!contains(v.modes, mode)) continue;
      for (const int tp : v.tp)
        if (contains(options.tp, tp) && worth_judging(tier, dtype, tp))
          cases.push_back(make_case(suite, v, mode, tier, tp, problem));
    }
  };
  for (const Variant& v : variants)
    for (const Tier tier : v.tiers) {
      if (options.tiers_given && !contains(options.tiers, tier)) continue;
      for (const DType dtype : dtypes_of(tier)) add_problem(v, tier, dtype);
    }
  return cases;
}

}  // namespace tpc
