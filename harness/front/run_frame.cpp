// SPDX-License-Identifier: Apache-2.0
#include "harness/front/run_frame.hpp"

#include <cstdio>

#include "harness/run/records/dump.hpp"
#include "harness/run/runner/ending.hpp"
#include "harness/values/join.hpp"
#include "harness/values/machine/machine.hpp"

namespace tpc {

namespace {

constexpr std::chrono::seconds patience_at_end{60};

std::vector<int> processes_at_start(Communicator& ranks) {
  ranks.set_deadline(std::chrono::steady_clock::now() + patience_at_start);
  return processes_of(ranks);
}

}  // namespace

Provenance provenance_of(const World& world, const Options& options, const Arguments& arguments) {
  Provenance p = local_provenance();
  p.mpi = world.mpi_library;
  p.ranks = world.ranks->size();
  p.implementation = options.implementation;
  p.seed = options.suites.seed;
  std::vector<std::string> words = {"tp_conformance"};
  for (const std::string& argument : arguments) words.push_back(shell_word(argument));
  p.command = joined(words, " ");
  return p;
}

Watch::Watch(Communicator& ranks, RunLog& log)
    : processes_(processes_at_start(ranks)),
      dog_({.overdue = [&log, rank = ranks.rank()] { end_overdue(log, rank); },
            .signal = [this, &log, rank = ranks.rank()](int) { end_by_signal(log, processes_, rank); }}) {}

RunnerOptions runner_options(const Options& options, Watchdog& watchdog) {
  RunnerOptions chosen;
  chosen.deadline = deadline_of(options);
  chosen.seed = options.suites.seed;
  chosen.replay = [&options](const Case& c) { return replay_command(options, c); };
  chosen.watchdog = &watchdog;
  if (!options.dump.empty())
    chosen.dump = [&options](const Case& c, const std::vector<LocalTensor>& got,
                             const ExpectedTensors& expected, int rank) {
      try {
        dump(options.dump, {c, got, expected, rank});
      } catch (const EnvironmentError& error) {
        say(fmt::format("tp_conformance: {}\n", error.what()));
      }
    };
  return chosen;
}

int agreed_code(Runner& runner, int code) {
  const auto now = Agreement::Clock::now();
  const auto agreed =
      runner.agreement().reach("", [code](const Agreement::Reports&) { return std::to_string(code); },
                               {now + patience_at_end, now + 2 * patience_at_end});
  if (!agreed) end_at_once(code);
  return std::stoi(*agreed);
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace tpc
