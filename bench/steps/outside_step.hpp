// SPDX-License-Identifier: Apache-2.0
// A transformer layer of an implementation outside of this program (harness/adapters/README.md): timed inside
// of it, by its own clock, and judged like any other.
#pragma once

#include "bench/steps/measure_steps.hpp"
#include "harness/values/implementation.hpp"

namespace tpc::bench {

class OutsideSteps {
 public:
  // Collective over `world`, whose ranks `rest` until all are there without taking a core from those who
  // measure. Borrows all of them.
  OutsideSteps(Implementation& implementation, Communicator& world, std::function<void()> rest)
      : implementation_(implementation), world_(world), rest_(std::move(rest)) {}

  // Collective over the world, whose first `members` are `ranks`; the others pass nothing and get no rows.
  // Kind "outside_step", one row for each form that does not overlap; setting's seconds are for all of them.
  // A row is skipped, with the reason, where the implementation lacks something, and fails where a result is
  // wrong or missing.
  std::vector<Row> measure(const StepSetting& setting, const CommunicatorPtr& ranks, int members,
                           const GroupFacts& facts);

 private:
  Response ask(const Request& request, const CommunicatorPtr& ranks, int members);
  Row measured(const StepSetting& setting, const Form& form, const CommunicatorPtr& ranks, int members,
               const GroupFacts& facts);
  std::string judge(const StepSetting& setting, const Problem& problem, const Response& response,
                    Communicator& ranks);
  const Signatures& reference(const Problem& problem);

  Implementation& implementation_;
  Communicator& world_;
  std::function<void()> rest_;
  Signatures reference_;  // of the one layer that all degrees compute
};

}  // namespace tpc::bench
