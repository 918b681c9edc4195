// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/faults/kill_matrix_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/values/join.hpp"

namespace tpc {

namespace {

using Json = nlohmann::ordered_json;

template <class Test>
int number_of(const std::vector<FaultResult>& results, Test&& test) {
  return static_cast<int>(std::count_if(results.begin(), results.end(), test));
}

bool trains(const FaultResult& r) { return !r.ordinary.setting.empty(); }
bool loss_passes(const FaultResult& r) {
  return r.ordinary.ran && r.ordinary.close.loss[0] && r.ordinary.close.loss[1];
}
bool outputs_pass(const FaultResult& r) {
  return r.ordinary.ran && r.ordinary.close.outputs[0] && r.ordinary.close.outputs[1];
}

// "yes, no" after one step and after three; "-" where even the right answer is not close.
std::string looks(const FaultResult& r, const bool (&close)[2], const bool (&without)[2]) {
  if (!trains(r)) return "n/a";
  if (!r.ordinary.ran) return "no result";
  const auto word = [&](int look) { return !without[look] ? "-" : close[look] ? "yes" : "no"; };
  return fmt::format("{}, {}", word(0), word(1));
}
std::string looks_of_loss(const FaultResult& r) {
  return looks(r, r.ordinary.close.loss, r.ordinary.without_faults.loss);
}
std::string looks_of_outputs(const FaultResult& r) {
  return looks(r, r.ordinary.close.outputs, r.ordinary.without_faults.outputs);
}

std::string outcome(const FaultResult& r) {
  if (r.killed()) return "killed";
  return r.survived() ? "SURVIVED" : "equivalent";
}

// Why the ordinary check has nothing to say.
std::string reason_of_silence(const FaultResult& r) {
  if (trains(r)) return "";
  const auto& needs = r.row->needs;
  if (std::find(needs.begin(), needs.end(), Condition::refusal) != needs.end())
    return "what cannot be split is not trained";
  if (std::find(needs.begin(), needs.end(), Condition::one_rank) != needs.end())
    return "layers on one rank call no collective";
  const auto& places = r.row->operations;
  if (places.empty()) return "no layer makes such a call";
  if (places == std::vector<Operation>{Operation::init})
    return "the check starts from weights that are given";
  std::vector<std::string> words;
  for (const Condition condition : needs) words.emplace_back(name(condition));
  return "the check trains nothing with " + joined(words, ", ");
}

}  // namespace

std::string to_json(const FaultResult& r) {
  Json json = {{"kind", "fault"},          {"id", r.row->id},
               {"title", r.row->title},    {"class", name(r.row->fault_class)},
               {"source", r.row->source},  {"outcome", outcome(r)},
               {"cases_run", r.cases_run}, {"seconds", r.seconds}};
  for (const Record& record : r.killers)
    json["killed_by"].push_back({{"case", record.case_name},
                                 {"tier", record.tier},
                                 {"verdict", name(record.verdict)},
                                 {"message", record.message},
                                 {"replay", record.replay}});
  if (!trains(r)) {
    json["ordinary_check"] = reason_of_silence(r);
  } else if (!r.ordinary.ran) {
    json["ordinary_check"] = {{"setting", r.ordinary.setting}, {"result", false}};
  } else {
    json["ordinary_check"] = {
        {"setting", r.ordinary.setting},
        {"result", true},
        {"loss_close", {r.ordinary.close.loss[0], r.ordinary.close.loss[1]}},
        {"outputs_close", {r.ordinary.close.outputs[0], r.ordinary.close.outputs[1]}},
        {"loss_close_without_faults", {r.ordinary.without_faults.loss[0], r.ordinary.without_faults.loss[1]}},
        {"outputs_close_without_faults",
         {r.ordinary.without_faults.outputs[0], r.ordinary.without_faults.outputs[1]}}};
  }
  if (!r.row->equivalent.empty()) json["proof_of_equivalence"] = r.row->equivalent;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string matrix_summary_json(const std::vector<FaultResult>& results, int exit_code, double seconds) {
  const Json json = {{"kind", "summary"},
                     {"faults", results.size()},
                     {"killed", number_of(results, [](const FaultResult& r) { return r.killed(); })},
                     {"survived", number_of(results, [](const FaultResult& r) { return r.survived(); })},
                     {"occur_in_training", number_of(results, trains)},
                     {"pass_the_loss_check", number_of(results, loss_passes)},
                     {"pass_the_output_check", number_of(results, outputs_pass)},
                     {"exit_code", exit_code},
                     {"seconds", seconds}};
  return json.dump();
}

std::string result_line(const FaultResult& r) {
  const std::string by = r.killed()
                             ? fmt::format("{} ({})", r.killers.front().case_name, r.killers.front().tier)
                             : fmt::format("{} cases", r.cases_run);
  return fmt::format("{:<9} {:<7} {:<10} {:<62} loss close: {:<9} outputs: {}", r.row->id,
                     name(r.row->fault_class), outcome(r), by, looks_of_loss(r), looks_of_outputs(r));
}

std::string matrix_summary(const std::vector<FaultResult>& results, double seconds) {
  const int killed = number_of(results, [](const FaultResult& r) { return r.killed(); });
  const int equivalent =
      number_of(results, [](const FaultResult& r) { return !r.killed() && !r.survived(); });
  return fmt::format(
      "{} of {} faults killed, {} equivalent, {} survived, in {:.0f} s. Of the {} that occur in training, {} "
      "leave the loss within {} of the right one after {} and {} steps of Adam, and {} every token's loss "
      "within the customary tolerance of f32.",
      killed, results.size(), equivalent,
      number_of(results, [](const FaultResult& r) { return r.survived(); }), seconds,
      number_of(results, trains), number_of(results, loss_passes), loss_tolerance.relative, first_look,
      second_look, number_of(results, outputs_pass));
}

std::string matrix_markdown(const Provenance& provenance, const std::vector<FaultResult>& results,
                            double seconds) {
  std::string text = fmt::format("# Kill matrix\n\n{}, commit {}, {} ranks: `{}`.\n\n{}\n\n",
                                 provenance.started.substr(0, 10), short_commit(provenance), provenance.ranks,
                                 provenance.command, matrix_summary(results, seconds));
  text += fmt::format(
      "The ordinary check trains a small model on two ranks and on one, and asks after {} and {} steps of "
      "Adam "
      "whether the\nloss (relative {}) and each token's loss (relative {}, absolute {}) are close: *yes* "
      "means "
      "that it misses the fault, a dash that even a run without faults is not close.\n\n",
      first_look, second_look, loss_tolerance.relative, output_tolerance.relative, output_tolerance.absolute);
  text += "| fault | class | what goes wrong | killed by | tier | loss close | outputs close |\n";
  text += "|---|---|---|---|---|---|---|\n";
  for (const FaultResult& r : results) {
    const bool killed = r.killed();
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", r.row->id, name(r.row->fault_class),
                        r.row->title, killed ? "`" + r.killers.front().case_name + "`" : outcome(r),
                        killed ? r.killers.front().tier : std::string(r.row->equivalent),
                        trains(r) ? looks_of_loss(r) : "n/a: " + reason_of_silence(r), looks_of_outputs(r));
  }
  text += "\nNot planted:\n\n| row | reason |\n|---|---|\n";
  for (const NotPlanted& row : faults_not_planted()) text += fmt::format("| {} | {} |\n", row.id, row.reason);
  return text;
}

MatrixOutput::MatrixOutput(Provenance provenance, RecordFile records, std::string table)
    : provenance_(std::move(provenance)), records_(std::move(records)), table_(std::move(table)) {
  if (records_.is_open()) records_.append(to_json(provenance_));
}

std::string MatrixOutput::add(const FaultResult& result) {
  if (records_.is_open()) records_.append(to_json(result));
  return result_line(result) + '\n';
}

std::string MatrixOutput::finish(const std::vector<FaultResult>& results, int exit_code) {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started_;
  if (records_.is_open()) records_.append(matrix_summary_json(results, exit_code, taken.count()));
  if (!table_.empty()) write_final_file(table_, matrix_markdown(provenance_, results, taken.count()));
  return matrix_summary(results, taken.count()) + '\n';
}

}  // namespace tpc
