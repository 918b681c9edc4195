// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <thread>

#include "harness/explain/diagnosis/investigation.hpp"
#include "harness/explain/dry_run.hpp"
#include "harness/explain/expectations.hpp"
#include "harness/explain/faults/fault_list.hpp"
#include "harness/front/conformance.hpp"
#include "harness/front/coverage.hpp"
#include "harness/front/explain.hpp"
#include "harness/front/gtest_front.hpp"
#include "harness/front/renderings/junit.hpp"
#include "harness/front/renderings/report.hpp"
#include "harness/front/run_faults.hpp"
#include "harness/front/run_frame.hpp"
#include "harness/run/implementations.hpp"
#include "harness/run/records/dump.hpp"
#include "harness/run/reference/counted_implementation.hpp"
#include "harness/run/runner/agreement.hpp"
#include "harness/run/runner/ending.hpp"
#include "harness/values/join.hpp"
#include "harness/values/machine/machine.hpp"
#include "harness/values/machine/private_folder.hpp"
#include "harness/values/texts.hpp"

namespace tpc {

namespace {

constexpr std::chrono::seconds patience_with_rank_0{10};

// GoogleTest takes 1 to 99999.
int seed_by_the_clock() {
  return static_cast<int>(std::chrono::system_clock::now().time_since_epoch().count() / 1000 % 99'999) + 1;
}

void check_ranks(const Options& options, const World& world) {
  const int there = world.ranks->size();
  if (options.ranks > 0 && options.ranks != there)
    throw UsageError(
        fmt::format("--ranks {} under an mpirun of {}: leave out one of the two", options.ranks, there));
  if (world.ranks_on_this_host != there)
    throw UsageError(fmt::format("{} of {} ranks are on {}; start all of them on one host",
                                 world.ranks_on_this_host, there, host_name()));
  const auto& tp = options.suites.tp;
  const int largest = tp.empty() ? 1 : *std::max_element(tp.begin(), tp.end());
  if (options.suites.tp_given && largest > there)
    throw UsageError(
        fmt::format("--tp {} needs {} ranks and there are {}; start with mpirun -np {} or leave it out",
                    largest, largest, there, largest));
}

// One run on one rank.
class Conformance {
 public:
  Conformance(const World& world, const Program& program)
      : world_(world), program_(program), agreement_(world.ranks->renew("run")), rank_(world.ranks->rank()) {}

  int run(const Arguments& arguments) {
    read(arguments);
    if (options_.help || options_.version) {
      say_on_rank_0(options_.help ? help_text() : version_text(local_provenance()));
      return 0;
    }
    if (options_.list_faults) {
      say_on_rank_0(fault_list());
      return 0;
    }
    if (options_.dry_run) {
      run_dry();
      return 0;
    }
    make_suites();
    if (show()) return 0;
    together(agreement_, [&] { check_ranks(options_, world_); });
    if (options_.diagnose_faults) return run_confusion(frame(arguments));
    return options_.faults ? run_matrix(frame(arguments)) : run_cases(arguments);
  }

 private:
  // Rank 0's arguments rule, and its clock.
  void read(const Arguments& own) {
    Arguments lines = own;
    lines.push_back(std::to_string(seed_by_the_clock()));
    world_.ranks->set_deadline(std::chrono::steady_clock::now() + patience_at_start);
    lines = broadcast_lines(*world_.ranks, lines);
    together(agreement_, [&] {
      const int clock_seed = std::stoi(lines.back());
      lines.pop_back();
      options_ = parse_options(lines);
      if (options_.front.random_seed == 0) options_.front.random_seed = clock_seed;
    });
  }

  void make_suites() {
    together(agreement_, [&] {
      if (!options_.model_file.empty()) options_.suites.model = read_model_config(options_.model_file);
      options_.suites.world = world_.ranks->size();
      suites_ = program_.suites(options_.suites);
      check_names(suites_);
    });
  }

  // One process is enough: no rank is asked, so no rank is needed.
  void run_dry() {
    std::string text;
    together(agreement_, [&] {
      DryRunChoice choice{read_model_config(options_.model_file), {2, 4, 8, 16}};
      if (options_.suites.tp_given) choice.tp = options_.suites.tp;
      if (options_.suites.layers) choice.model.config.layers = *options_.suites.layers;
      if (options_.suites.batch > 0) choice.batch = options_.suites.batch;
      if (options_.suites.sequence > 0) choice.sequence = options_.suites.sequence;
      if (rank_ == 0) text = dry_run_report(choice);
    });
    say_on_rank_0(text);
  }

  // What is asked for without running anything.
  bool show() {
    if (options_.list || options_.front.list_tests) {
      together(agreement_, [&] { list_with_gtest(suites_, options_.front, world_.ranks->size()); });
      return true;
    }
    if (options_.coverage) {
      say_on_rank_0(coverage_table(suites_));
      return true;
    }
    if (options_.explain.empty() && options_.list_saved.empty()) return false;
    std::string text;
    together(agreement_, [&] {
      text = options_.explain.empty() ? saved_report(case_named(suites_, options_.list_saved).request)
                                      : explanation(case_named(suites_, options_.explain));
    });
    say_on_rank_0(text);
    return true;
  }

  RunFrame frame(const Arguments& arguments) {
    return {world_, program_, options_, suites_, agreement_, provenance_of(world_, options_, arguments)};
  }

  // Collective. The folder is rank 0's, and goes with it.
  RankPlace rank_place() {
    RankPlace place{rank_, world_.ranks->size()};
    place.deadline = deadline_of(options_);
    place.start_deadline = start_deadline_of(options_);
    if (!is_outside_process(options_.implementation)) return place;
    together(agreement_, [&] {
      if (rank_ == 0) folder_ = std::make_unique<PrivateFolder>();
    });
    const std::string own = folder_ ? folder_->path().string() : "";
    place.folder = broadcast_lines(*world_.ranks, {own}).at(0);
    return place;
  }

  int run_cases(const Arguments& arguments) {
    std::unique_ptr<Substitute> implementation;
    std::unique_ptr<RunLog> log;
    const RankPlace place = rank_place();
    together(agreement_, [&] {
      auto asked = program_.implementation(options_.implementation, place);
      // What an outside process sends is nothing that this program's MPI could count.
      if (!is_outside_process(options_.implementation)) asked = with_counted_calls(std::move(asked));
      implementation = std::make_unique<Substitute>(std::move(asked));
      if (!options_.expectations.empty()) expectations_ = read_expectations(options_.expectations);
      if (rank_ == 0 && !options_.junit.empty()) check_final_file(options_.junit);
      if (rank_ == 0 && !options_.dump.empty()) make_dump_folder(options_.dump);
      log = std::make_unique<RunLog>(frame(arguments).provenance, options_.records, rank_ == 0);
    });
    Watch watch(*world_.ranks, *log);
    const auto oracle = program_.oracle(world_.ranks->renew("baseline"), suites_);
    KeptAnswer kept;
    RunnerOptions choices = runner_options(options_, watch.dog());
    choices.examine = [&kept](const Case&, const KeptAnswer& got, const ExpectedTensors&, int) {
      kept = got;
    };
    Runner runner(world_.ranks, *implementation, *oracle, choices);
    Investigation investigation({runner, *oracle, *implementation, kept, program_.suspects,
                                 [this](const Case& c) { return replay_command(options_, c); }},
                                {.most_diagnosed = options_.diagnose});
    run_with_gtest({.suites = suites_,
                    .options = options_.front,
                    .runner = runner,
                    .log = *log,
                    .speaks = rank_ == 0,
                    .watched = rank_ == 0 && watched_by_a_person(),
                    .investigate = std::ref(investigation),
                    .lost = [](const std::exception& error) {
                      say(fmt::format("tp_conformance: {}\n", error.what()));
                      note_exit_code(3);
                      end_at_once(3);
                    }});
    identity_ = implementation->identity();
    return finish(runner, *log);
  }

  // Summary, JUnit, report, and the code that all ranks end with.
  int finish(Runner& runner, RunLog& log) {
    const bool at_once = runner.stop() && runner.stop()->at_once;
    int code = runner.exit_code(tally_of(log.records()));
    if (rank_ == 0) code = write_results(code, log);
    if (at_once && rank_ != 0) {
      // Rank 0 ends the job when it has written everything; unless it is the one that is gone.
      std::this_thread::sleep_for(patience_with_rank_0);
      say(fmt::format("tp_conformance: rank {}: {}\n", rank_, runner.stop()->reason));
    }
    if (at_once) end_at_once(code);
    return agreed_code(runner, code);
  }

  // A run that came to its end is held against what is expected of it: then 0 and 1 mean just that.
  int held_against_expectations(int code, const std::vector<Record>& records) const {
    if (!expectations_ || code > 1) return code;
    std::vector<std::string> names;
    for (const Suite& suite : suites_)
      for (const Case& c : suite.cases) names.push_back(full_name(c));
    const ExpectationFindings findings = hold(*expectations_, {identity_, names, records, today()});
    for (const auto* lines : {&findings.remarks, &findings.violations})
      for (const std::string& line : *lines)
        print(fmt::format("{}: {}\n", lines == &findings.remarks ? "remark" : "against expectations", line));
    print(fmt::format("expectations of {}: {} failures explained, {} violations\n", identity_,
                      findings.waived, findings.violations.size()));
    return findings.violations.empty() ? 0 : 1;
  }

  int write_results(int code, RunLog& log) const {
    code = held_against_expectations(code, log.records());
    const auto write_file = [&](const std::function<void()>& write) {
      try {
        write();
      } catch (const EnvironmentError& error) {
        say(fmt::format("tp_conformance: {}\n", error.what()));
        code = 3;
      }
    };
    if (!options_.junit.empty())
      write_file([&] { write_final_file(options_.junit, junit_xml(log.provenance(), log.records())); });
    Summary summary{tally_of(log.records()), code, log.seconds()};
    write_file([&] { summary = log.finish_run(code); });
    summary.exit_code = code;
    print(report(log.provenance(), log.records(), summary.seconds));
    if (code == 2) print("nothing was compared\n");
    print(last_line(log.provenance(), summary) + '\n');
    note_exit_code(code);
    return code;
  }

  void say_on_rank_0(const std::string& text) const {
    if (rank_ == 0) print(text);
  }

  const World& world_;
  const Program& program_;
  Agreement agreement_;
  int rank_;
  Options options_;
  std::vector<Suite> suites_;
  std::unique_ptr<PrivateFolder> folder_;
  std::optional<Expectations> expectations_;
  std::string identity_;  // of what is judged
};

}  // namespace

int run_conformance(const World& world, const Arguments& arguments, const Program& program) {
  int code = 0;
  std::string reason;
  try {
    return Conformance(world, program).run(arguments);
  } catch (const RunEnds& end) {
    code = end.exit_code();
    reason = end.what();
  } catch (const UsageError& error) {  // of all ranks alike
    code = 2;
    reason = error.what();
  } catch (const std::exception& error) {
    // Of this rank alone: the others must not wait for it.
    say(fmt::format("tp_conformance: rank {}: {}\n", world.ranks->rank(), error.what()));
    note_exit_code(3);
    end_at_once(3);
  }
  if (world.ranks->rank() == 0) {
    say(fmt::format("tp_conformance: {}\n", reason));
    note_exit_code(code);
  }
  return code;
}

}  // namespace tpc
