// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/oracle.hpp"

#include <algorithm>
#include <iterator>

#include "harness/judge/baselines/store.hpp"
#include "harness/judge/inputs/masks.hpp"
#include "harness/judge/judges/judges.hpp"

namespace tpc {

namespace {

constexpr std::uint64_t usual_budget = std::uint64_t{1} << 30U;

std::uint64_t byte_budget(const std::vector<Suite>& suites) {
  std::uint64_t budget = usual_budget;
  for (const Suite& suite : suites)
    for (const Case& c : suite.cases)
      if (c.expectation == Expectation::answers)
        budget = std::max(budget, BaselineStore::bytes_needed(c.request.problem));
  return budget;
}

class BaselineOracle : public Oracle {
 public:
  BaselineOracle(const CommunicatorPtr& ranks, std::uint64_t byte_budget)
      : ranks_(ranks), store_(ranks, byte_budget) {}

  void prepare(std::span<const Case* const> wanted, Implementation& implementation,
               std::chrono::steady_clock::time_point deadline) override {
    ranks_->set_deadline(deadline);
    std::vector<const Case*> ahead;
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(ahead),
                 [](const Case* c) { return !is_solved_when_judged(c->request.problem); });
    try {
      store_.prepare(ahead, implementation);
    } catch (...) {
      ranks_->abort();
      throw;
    }
  }
  bool has(const Case& c) const override { return is_solved_when_judged(c.request.problem) || store_.has(c); }
  std::string defect(const Case& c) const override { return store_.defect(c); }
  const ExpectedTensors& expected(const Case& c) const override {
    static const ExpectedTensors nothing;
    return is_solved_when_judged(c.request.problem) ? nothing : store_.expected(c);
  }
  Comparison judge(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks) override {
    const Problem& problem = c.request.problem;
    if (problem.asks(Operation::dropout)) return judge_dropout(c, got, ranks);
    if (problem.asks(Operation::init) && is_solved_when_judged(problem)) return judge_init(c, got, ranks);
    const bool with_masks = !problem.asks(Operation::train) && !masks_of(problem).empty();
    if (with_masks) return judge_with_masks(c, got, expected(c), ranks);
    return compare(c, got, expected(c), ranks);
  }

 private:
  CommunicatorPtr ranks_;
  BaselineStore store_;
};

}  // namespace

std::unique_ptr<Oracle> make_baseline_oracle(const CommunicatorPtr& ranks, const std::vector<Suite>& suites) {
  return std::make_unique<BaselineOracle>(ranks, byte_budget(suites));
}

}  // namespace tpc
