// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/faults/kill_matrix.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "harness/run/implementations.hpp"
#include "harness/run/reference/counted_implementation.hpp"
#include "harness/values/glob.hpp"

namespace tpc {

namespace {

bool rejects(const Record& record) {
  return record.verdict == Outcome::fail || record.verdict == Outcome::error;
}

bool has_exact_answers(Tier tier) { return tier != Tier::f32 && tier != Tier::bf16; }

// Roughly what a case costs beside others.
int weight(const Case& c) {
  const Problem& problem = c.request.problem;
  if (c.expectation == Expectation::refusal) return 0;
  if (problem.mesh() != nullptr) return 1;
  if (const auto* call = problem.collective())
    return 1 + static_cast<int>(call->count * call->repeats / 10'000);
  switch (problem.operation()) {
    case Operation::transformer_layer:
    case Operation::dropout:
    case Operation::init:
      return 4;
    case Operation::model:
      return 8;
    case Operation::train:
      return 16;
    default:
      return 2;
  }
}

auto cost(const Case& c) {
  const bool of_a_claim_besides = c.account.has_value();
  return std::tuple(!has_exact_answers(c.tier), weight(c), of_a_claim_besides, ranks_of(c));
}

class OracleWithOrdinaryCheck : public Oracle {
 public:
  OracleWithOrdinaryCheck(std::unique_ptr<Oracle> oracle, OrdinaryCheck& ordinary)
      : oracle_(std::move(oracle)), ordinary_(ordinary) {}

  // What the tolerances are made of comes from an implementation without faults.
  void prepare(std::span<const Case* const> wanted, Implementation& /*planted*/,
               std::chrono::steady_clock::time_point deadline) override {
    oracle_->prepare(wanted, *clean_, deadline);
  }
  bool has(const Case& c) const override { return ordinary_.is_one_of_mine(c) || oracle_->has(c); }
  std::string defect(const Case& c) const override {
    return ordinary_.is_one_of_mine(c) ? "" : oracle_->defect(c);
  }
  const ExpectedTensors& expected(const Case& c) const override { return oracle_->expected(c); }
  Comparison judge(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks) override {
    return ordinary_.is_one_of_mine(c) ? ordinary_.judge(c, got, ranks) : oracle_->judge(c, got, ranks);
  }

 private:
  std::unique_ptr<Oracle> oracle_;
  OrdinaryCheck& ordinary_;
  std::unique_ptr<Implementation> clean_ = make_reference_implementation();
};

}  // namespace

PlantedReference::PlantedReference() { plant({}); }
PlantedReference::~PlantedReference() = default;
void PlantedReference::plant(const FaultSet& faults) {
  planted_ = with_counted_calls(make_reference_implementation(faults));
}
std::string PlantedReference::name() const { return planted_->name(); }
Response PlantedReference::run(const Request& request, const CommunicatorPtr& ranks) {
  return planted_->run(request, ranks);
}

std::unique_ptr<Oracle> with_ordinary_check(std::unique_ptr<Oracle> oracle, OrdinaryCheck& ordinary) {
  return std::make_unique<OracleWithOrdinaryCheck>(std::move(oracle), ordinary);
}

std::vector<const Case*> cases_for(const FaultRow& row, const std::vector<Suite>& suites, int ranks) {
  std::vector<const Case*> cases;
  for (const Suite& suite : suites)
    for (const Case& c : suite.cases)
      if (ranks_of(c) <= ranks && can_occur(row, c.request)) cases.push_back(&c);
  if (row.fault_class == FaultClass::count) std::erase_if(cases, [](const Case* c) { return !c->account; });
  std::stable_sort(cases.begin(), cases.end(),
                   [](const Case* a, const Case* b) { return cost(*a) < cost(*b); });
  return cases;
}

std::vector<const FaultRow*> chosen_rows(const MatrixChoice& choice) {
  std::vector<const FaultRow*> rows;
  for (const FaultRow& row : fault_table())
    if (matches_one_of(choice.filter, row.id) ||
        (!row.also.empty() && matches_one_of(choice.filter, row.also)))
      rows.push_back(&row);
  if (rows.empty())
    throw UsageError(fmt::format("--fault-filter {} matches none of the {} faults; see --list-faults",
                                 choice.filter, fault_table().size()));
  return rows;
}

KillMatrix::KillMatrix(Parts parts, MatrixChoice choice) : parts_(parts), choice_(std::move(choice)) {}

std::vector<FaultResult> KillMatrix::run(const std::function<void(const FaultResult&)>& done) {
  const std::vector<const FaultRow*> rows = chosen_rows(choice_);
  std::vector<std::vector<const Case*>> cases;
  for (const FaultRow* row : rows) cases.push_back(cases_for(*row, parts_.suites, parts_.ranks));
  // Baselines are made ahead for what is likely to be asked: the first few cases of each fault.
  constexpr std::size_t likely = 2;
  std::vector<const Case*> order;
  std::set<const Case*> seen;
  for (std::size_t nth = 0; nth < likely; ++nth)
    for (const auto& list : cases)
      if (nth < list.size() && seen.insert(list[nth]).second) order.push_back(list[nth]);
  parts_.runner.plan(std::move(order), true);

  std::vector<FaultResult> results;
  for (std::size_t i = 0; i < rows.size() && !parts_.runner.stop(); ++i) {
    results.push_back(judge(*rows[i], cases[i]));
    done(results.back());
  }
  return results;
}

FaultResult KillMatrix::judge(const FaultRow& row, const std::vector<const Case*>& cases) {
  const auto started = std::chrono::steady_clock::now();
  FaultResult result;
  result.row = &row;
  const FaultSet faults(row.fault);
  for (const Case* c : cases) {
    const bool last_resort = !has_exact_answers(c->tier) && result.killed();
    if (last_resort || (result.killed() && !choice_.all)) break;
    const Record record = run(*c, faults);
    ++result.cases_run;
    if (rejects(record)) result.killers.push_back(record);
    if (parts_.runner.stop()) return result;
  }
  if (const Case* const setting = parts_.ordinary.setting_for(row); setting != nullptr) {
    result.ordinary = ask_ordinary(*setting, faults);
    result.ordinary.without_faults = close_without_faults(*setting);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
  result.seconds = taken.count();
  return result;
}

Record KillMatrix::attempt(const Case& c, const FaultSet& faults, bool& overdue) {
  parts_.implementation.plant(faults);
  Record record = parts_.runner.run(c);
  overdue = parts_.runner.stop().has_value();
  parts_.runner.resume();
  return record;
}

Record KillMatrix::run(const Case& c, const FaultSet& faults) {
  constexpr int attempts = 3;
  bool overdue = false;
  Record record = attempt(c, faults, overdue);
  for (int again = 1; overdue && again < attempts && !parts_.runner.stop(); ++again) {
    bool slow = false;
    attempt(c, {}, slow);
    if (parts_.runner.stop()) break;
    record = attempt(c, faults, overdue);
    if (overdue && !slow) return record;
  }
  if (overdue && !parts_.runner.stop()) record.verdict = Outcome::not_run;  // nothing is known of the fault
  return record;
}

OrdinaryResult KillMatrix::ask_ordinary(const Case& setting, const FaultSet& faults) {
  OrdinaryResult result;
  if (ranks_of(setting) > parts_.ranks) return result;
  result.setting = setting.name;
  const Record record = run(setting, faults);
  result.ran = record.worst_ratio.has_value();
  if (result.ran) result.close = parts_.ordinary.last();
  return result;
}

Closeness KillMatrix::close_without_faults(const Case& setting) {
  const auto [place, is_new] = without_faults_.try_emplace(setting.name);
  if (is_new) place->second = ask_ordinary(setting, {}).close;
  return place->second;
}

int exit_code_of(const std::vector<FaultResult>& results) {
  return std::any_of(results.begin(), results.end(), [](const FaultResult& r) { return r.survived(); }) ? 1
                                                                                                        : 0;
}

}  // namespace tpc
