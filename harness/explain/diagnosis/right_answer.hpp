// SPDX-License-Identifier: Apache-2.0
// What would have been right, whole on every rank of a case.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/judge/compare/compare.hpp"

namespace tpc {

// More elements than this in one tensor are not sent around for an explanation.
constexpr std::int64_t most_elements = std::int64_t{1} << 20;

class RightAnswer {
 public:
  RightAnswer() = default;
  // The baseline's, which must stay where it is as long as this is used.
  explicit RightAnswer(const ExpectedTensors& expected) : expected_(expected) {}
  // Collective: put together from what the reference answers, where the baseline is known only to the judge.
  RightAnswer(const std::vector<LocalTensor>& answered, Communicator& ranks);

  const ExpectedTensors& tensors() const { return expected_; }

 private:
  std::map<std::string, std::vector<double>> own_;
  ExpectedTensors expected_;
};

}  // namespace tpc
