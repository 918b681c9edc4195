// SPDX-License-Identifier: Apache-2.0
// What the runner asks to know whether an answer is right: the baseline and the comparison with it, behind an
// interface that a test can fake.
#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "harness/judge/compare/compare.hpp"
#include "harness/values/suite.hpp"

namespace tpc {

class Oracle {
 public:
  Oracle() = default;
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;
  virtual ~Oracle() = default;

  // Collective over all ranks, same arguments: makes the first case ready and as many others as fit. A rank
  // that throws makes the others throw as well; nothing lasts beyond the deadline.
  virtual void prepare(std::span<const Case* const> wanted, Implementation& implementation,
                       std::chrono::steady_clock::time_point deadline) = 0;
  virtual bool has(const Case& c) const = 0;
  virtual std::string defect(const Case& c) const = 0;  // the suite's own error, or empty
  virtual const ExpectedTensors& expected(const Case& c) const = 0;
  // Collective over the ranks that the case ran on; the same on all of them.
  virtual Comparison judge(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks) = 0;
};

// The store of baselines (baseline_store.hpp) and compare.hpp, with room for the largest of these problems.
std::unique_ptr<Oracle> make_baseline_oracle(const CommunicatorPtr& ranks, const std::vector<Suite>& suites);

}  // namespace tpc
