// SPDX-License-Identifier: Apache-2.0
#include "harness/front/conformance.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "harness/explain/faults/fault_list.hpp"
#include "harness/front/launcher.hpp"
#include "harness/front/renderings/report.hpp"
#include "harness/run/runner/agreement.hpp"
#include "harness/run/runner/ending.hpp"
#include "harness/run/runner/watchdog.hpp"
#include "harness/values/machine/machine.hpp"
#include "reference/comm/mpi/session.hpp"

namespace tpc {

namespace {

// Libraries read OMP_NUM_THREADS when they are loaded; so the process starts itself once more with it set.
void share_cores(char** argv) {
  constexpr const char* variable = "OMP_NUM_THREADS";
  const int ranks = launched_local_ranks().value_or(1);
  if (ranks == 1 || std::getenv(variable) != nullptr) return;  // NOLINT(concurrency-mt-unsafe)
  const std::string threads = std::to_string(std::max(1, usable_cores() / ranks));
  ::setenv(variable, threads.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): no thread was started yet
  ::execv("/proc/self/exe", argv);
}

// Rank 0 alone speaks.
void silence_standard_output() {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
}

// What needs no ranks. Nothing where the run itself is asked for.
std::optional<int> answer_alone(const Arguments& arguments) {
  try {
    const Options options = parse_options(arguments);
    if (options.help || options.version) {
      std::fputs((options.help ? help_text() : version_text(local_provenance())).c_str(), stdout);
      return 0;
    }
    if (options.list_faults) {
      std::fputs(fault_list().c_str(), stdout);
      return 0;
    }
    if (options.ranks > 0) return launch(options.ranks, arguments);
  } catch (const UsageError& error) {
    say(fmt::format("tp_conformance: {}\n", error.what()));
    return 2;
  } catch (const EnvironmentError& error) {
    say(fmt::format("tp_conformance: {}\n", error.what()));
    return 3;
  }
  return std::nullopt;
}

}  // namespace

int conformance_main(int argc, char** argv, const Program& program) {
  const Arguments arguments(argv + 1, argv + argc);
  if (in_mpi_job()) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // no rank outlives its mpirun
    share_cores(argv);
  } else if (const auto code = answer_alone(arguments)) {
    return *code;
  }
  Watchdog::block_signals();
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error of writing, no death
  try {
    MpiSession session(argc, argv);
    const World world{session.world("world"), session.local_ranks(), MpiSession::library()};
    if (world.ranks->rank() != 0) silence_standard_output();
    const int code = run_conformance(world, arguments, program);
    session.finish(code);
  } catch (const EnvironmentError& error) {
    say(fmt::format("tp_conformance: {}\n", error.what()));
    return 3;
  }
}

}  // namespace tpc
