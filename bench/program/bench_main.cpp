// SPDX-License-Identifier: Apache-2.0
#include "bench/program/bench_main.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "bench/measure/google.hpp"
#include "bench/program/first_rank.hpp"
#include "harness/front/launcher.hpp"
#include "harness/front/renderings/report.hpp"
#include "harness/run/runner/ending.hpp"
#include "harness/run/runner/watchdog.hpp"
#include "harness/values/machine/machine.hpp"
#include "reference/comm/mpi/session.hpp"

namespace tpc::bench {

namespace {

// A rank is one core, on one rank as on eight: otherwise speed-ups would compare threads with processes.
// Libraries read the variable when they are loaded, so the process starts itself once more.
void one_thread_per_rank(char** argv) {
  constexpr const char* variable = "OMP_NUM_THREADS";
  if (std::getenv(variable) != nullptr) return;  // NOLINT(concurrency-mt-unsafe)
  ::setenv(variable, "1", 1);                    // NOLINT(concurrency-mt-unsafe): no thread was started yet
  ::execv("/proc/self/exe", argv);
}

// Freed memory is kept for the next step, as the caching allocators of frameworks do; else every step would
// pay for fresh pages.
void keep_freed_memory() {
  constexpr int never = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, never);
  ::mallopt(M_TRIM_THRESHOLD, never);
}

// Before MPI starts. What the user has set stays.
void choose_transport(const std::string& transport) {
  if (transport == "auto") return;
  ::setenv("OMPI_MCA_pml", "ob1", 0);                                           // NOLINT
  ::setenv("OMPI_MCA_btl", transport == "tcp" ? "tcp,self" : "vader,self", 0);  // NOLINT
}

int largest_degree(const BenchOptions& options) {
  return options.tp.empty() ? 1 : *std::max_element(options.tp.begin(), options.tp.end());
}

int answer_alone(const BenchOptions& options, const Arguments& arguments) {
  if (options.help) {
    fmt::print("{}", help_text());
    return 0;
  }
  if (options.version) {
    fmt::print("{}", version_text(local_provenance()));
    return 0;
  }
  if (options.command == Command::validate) return validate(options);
  if (options.command == Command::predict) return predict(options);
  if (options.command == Command::rate) return rate_files(options);
  check_setting(setting_of(options), largest_degree(options));
  if (options.launches > 1) return measure_in_launches(options, arguments);
  return launch(largest_degree(options), arguments);
}

std::string command_line(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i == 0 ? "" : " ") + std::string(argv[i]);
  return line;
}

BenchWorld mpi_world() {
  static constexpr std::chrono::milliseconds nap{10};
  BenchWorld world;
  world.ranks = make_blocking_mpi_world("world");
  world.overlapping = make_blocking_mpi_world("overlapping", OverAt::wait);
  world.loop = google_loop();
  world.rest = [] { rest_until_all_arrive(nap); };
  world.bare = [](int ranks) -> BenchWorld::Bare {
    const auto bare = std::make_shared<BareMpi>(ranks);
    return [bare](const BareLoop& loop) { return bare->seconds(loop); };
  };
  return world;
}

// Blocking calls know no deadline, so a thread watches over the whole run.
class Guard {
 public:
  Guard(Communicator& world, double seconds)
      : processes_(processes_of(world)),
        watchdog_(
            {.overdue = [this, rank = world.rank()] { end_overdue(last_words, rank); },
             .signal = [this, rank = world.rank()](int) { end_by_signal(last_words, processes_, rank); }}) {
    watchdog_.arm(std::chrono::steady_clock::now() + std::chrono::seconds(static_cast<int>(seconds)));
  }

 private:
  static std::string last_words(const std::string& what_happened) {
    return fmt::format("tp_bench: {}\n", what_happened);
  }

  std::vector<int> processes_;
  Watchdog watchdog_;
};

// The code that this rank ends with; where it leaves the others behind, the whole job ends.
int guarded_run(const BenchOptions& options, const BenchWorld& world, const std::string& mpi_library,
                const std::string& command) {
  constexpr double patience = 600;
  constexpr int usage = 2;
  constexpr int environment = 3;
  const Guard guard(*world.ranks, 4 * options.seconds + patience);
  const auto agreed = [&](const std::exception& error, int code) {  // thrown by all ranks alike
    if (world.ranks->rank() == 0) say(fmt::format("tp_bench: {}\n", error.what()));
    return code;
  };
  try {
    return run_on_ranks(options, world, mpi_library, command);
  } catch (const UsageError& error) {
    return agreed(error, usage);
  } catch (const Refusal& refusal) {
    return agreed(refusal, usage);
  } catch (const AgreedFailure& failure) {
    return agreed(failure, environment);
  } catch (const std::exception& error) {
    say(fmt::format("tp_bench: rank {}: {}\n", world.ranks->rank(), error.what()));
    note_exit_code(environment);
    world.ranks->abort();
    return environment;
  }
}

int on_ranks(int argc, char** argv, const BenchOptions& options) {
  MpiSession session(argc, argv);
  int code = 0;
  {
    const BenchWorld world = mpi_world();
    code = guarded_run(options, world, MpiSession::library(), command_line(argc, argv));
    if (world.ranks->rank() == 0) note_exit_code(code);
  }
  session.finish(code);
}

}  // namespace

int bench_main(int argc, char** argv) {
  const Arguments arguments(argv + 1, argv + argc);
  try {
    const BenchOptions options = parse_options(arguments);
    if (!in_mpi_job()) return answer_alone(options, arguments);
    if (!options.part && (!options.compare.empty() || options.launches > 1))
      throw UsageError(
          "--compare and --launches start mpirun themselves, several times: call tp_bench without mpirun, or "
          "measure "
          "with --out FOLDER in each job and hold those against the baseline with tp_bench rate");
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // no rank outlives its mpirun
    one_thread_per_rank(argv);
    keep_freed_memory();
    choose_transport(options.transport);
    Watchdog::block_signals();
    return on_ranks(argc, argv, options);
  } catch (const UsageError& error) {
    say(fmt::format("tp_bench: {}\n", error.what()));
    return 2;
  } catch (const Refusal& refusal) {
    say(fmt::format("tp_bench: {}\n", refusal.what()));
    return 2;
  } catch (const std::exception& error) {
    say(fmt::format("tp_bench: {}\n", error.what()));
    return 3;
  }
}

}  // namespace tpc::bench
