// SPDX-License-Identifier: Apache-2.0
// GoogleTest as the front end for people: filters, listing, repeat, shuffle, fail-fast. Every rank registers
// the same cases in the same order and fails where any rank failed; rank 0 alone speaks.
#pragma once

#include <functional>
#include <vector>

#include "harness/front/options.hpp"
#include "harness/run/records/run_log.hpp"
#include "harness/run/runner/runner.hpp"

namespace tpc {

// Names that GoogleTest's filters, file names and shells take as they are, each once. Throws ContractError.
void check_names(const std::vector<Suite>& suites);

struct Front {
  const std::vector<Suite>& suites;
  const FrontOptions& options;  // with a random seed that all ranks share
  Runner& runner;
  RunLog& log;
  bool speaks = false;   // rank 0
  bool watched = false;  // by a person: a progress line instead of GoogleTest's lines
  std::function<void(const Case&, Record&)> investigate;  // of a failure, by all ranks alike; may be empty
  std::function<void(const std::exception&)> lost;        // the log cannot be written; does not return
};

// Runs the selected cases. Throws UsageError where none is selected. GoogleTest is set up once per process.
void run_with_gtest(const Front& front);

// Prints the selected cases: as GoogleTest does, or one full name a line and why it would not run on so many
// ranks. Throws UsageError where none is selected.
void list_with_gtest(const std::vector<Suite>& suites, const FrontOptions& options, int ranks);

}  // namespace tpc
