// SPDX-License-Identifier: Apache-2.0
#include "harness/front/run_faults.hpp"

#include <memory>

#include "harness/explain/diagnosis/confusion.hpp"
#include "harness/explain/diagnosis/investigation.hpp"
#include "harness/explain/faults/kill_matrix_report.hpp"
#include "harness/run/runner/ending.hpp"

namespace tpc {

namespace {

// Collective. The log is for last words alone: faults have records of their own.
std::unique_ptr<RunLog> checked_log(const RunFrame& frame, const MatrixChoice& choice) {
  std::unique_ptr<RunLog> log;
  together(frame.agreement, [&] {
    chosen_rows(choice);
    if (frame.speaks() && !frame.options.table.empty()) check_final_file(frame.options.table);
    log = std::make_unique<RunLog>(frame.provenance, "", false);
  });
  return log;
}

std::unique_ptr<Oracle> oracle_of(const RunFrame& frame, OrdinaryCheck& ordinary) {
  return with_ordinary_check(frame.program.oracle(frame.world.ranks->renew("baseline"), frame.suites),
                             ordinary);
}

RunnerOptions options_without_dump(const RunFrame& frame, Watch& watch) {
  RunnerOptions choices = runner_options(frame.options, watch.dog());
  choices.dump = nullptr;
  return choices;
}

}  // namespace

int run_matrix(const RunFrame& frame) {
  const Options& options = frame.options;
  const MatrixChoice choice{options.fault_filter, options.all};
  const std::unique_ptr<RunLog> log = checked_log(frame, choice);
  RecordFile records;
  together(frame.agreement, [&] {
    if (frame.speaks()) records = RecordFile(options.records.empty() ? "faults.jsonl" : options.records);
  });
  Watch watch(*frame.world.ranks, *log);
  OrdinaryCheck ordinary(options.suites.seed);
  PlantedReference implementation;
  const auto oracle = oracle_of(frame, ordinary);
  Runner runner(frame.world.ranks, implementation, *oracle, options_without_dump(frame, watch));
  KillMatrix matrix({frame.suites, runner, implementation, ordinary, frame.world.ranks->size()}, choice);
  MatrixOutput output(log->provenance(), std::move(records), options.table);
  const std::vector<FaultResult> results = matrix.run([&](const FaultResult& result) {
    if (frame.speaks()) print(output.add(result));
  });
  const int code = runner.stop() ? runner.stop()->code : exit_code_of(results);
  if (frame.speaks()) print(output.finish(results, code));
  if (frame.speaks() && runner.stop()) print(runner.stop()->reason + '\n');
  return agreed_code(runner, code);
}

int run_confusion(const RunFrame& frame) {
  const Options& options = frame.options;
  const std::unique_ptr<RunLog> log = checked_log(frame, {options.fault_filter, false});
  Watch watch(*frame.world.ranks, *log);
  OrdinaryCheck ordinary(options.suites.seed);
  const auto oracle = oracle_of(frame, ordinary);
  auto judged = std::make_unique<PlantedReference>();
  PlantedReference& planted = *judged;
  Substitute subject(std::move(judged));
  KeptAnswer kept;
  RunnerOptions choices = options_without_dump(frame, watch);
  choices.examine = [&kept](const Case&, const KeptAnswer& got, const ExpectedTensors&, int) { kept = got; };
  Runner runner(frame.world.ranks, subject, *oracle, choices);
  Investigation investigation({runner, *oracle, subject, kept, frame.program.suspects,
                               [&options](const Case& c) { return replay_command(options, c); }},
                              {.longest_line_up = 600});
  Confusion confusion({frame.suites, runner, planted, investigation, frame.world.ranks->size()},
                      {options.fault_filter, ConfusionChoice{}.pairs, options.suites.seed});
  const auto rows = confusion.run([&](const ConfusionRow& row) {
    if (frame.speaks()) print(line_of(row) + '\n');
  });
  int code = runner.stop() ? runner.stop()->code : 0;
  if (frame.speaks()) {  // the others know nothing of what was named
    print(confusion_summary(rows) + '\n');
    if (code == 0) code = exit_code_of(rows);
    if (!options.table.empty()) write_final_file(options.table, confusion_markdown(log->provenance(), rows));
  }
  return agreed_code(runner, code);
}

}  // namespace tpc
