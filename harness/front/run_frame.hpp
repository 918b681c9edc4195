// SPDX-License-Identifier: Apache-2.0
// What every way of running has in common, be it cases, the kill matrix or the confusion list.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/front/conformance.hpp"
#include "harness/run/records/run_log.hpp"
#include "harness/run/runner/agreement.hpp"
#include "harness/run/runner/runner.hpp"
#include "harness/run/runner/watchdog.hpp"
#include "harness/values/provenance.hpp"

namespace tpc {

constexpr std::chrono::seconds patience_at_start{60};

struct RunFrame {
  const World& world;
  const Program& program;
  const Options& options;
  const std::vector<Suite>& suites;
  Agreement& agreement;
  Provenance provenance;

  bool speaks() const { return world.ranks->rank() == 0; }
};

Provenance provenance_of(const World& world, const Options& options, const Arguments& arguments);

// Over one rank of a run: who is overdue or told to end says so, with the log's last words.
class Watch {
 public:
  // Collective.
  Watch(Communicator& ranks, RunLog& log);
  Watchdog& dog() { return dog_; }

 private:
  std::vector<int> processes_;
  Watchdog dog_;
};

RunnerOptions runner_options(const Options& options, Watchdog& watchdog);

// Collective: the first rank's code.
int agreed_code(Runner& runner, int code);

void print(const std::string& text);

}  // namespace tpc
