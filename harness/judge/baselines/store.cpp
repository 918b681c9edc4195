// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/store.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "harness/judge/baselines/answer_file.hpp"
#include "harness/judge/baselines/cost.hpp"
#include "harness/judge/baselines/exchange.hpp"
#include "harness/judge/baselines/solve.hpp"

namespace tpc {

namespace {

// The problem of some cases, with all that they need.
struct Wanted {
  std::string key;
  const Problem* problem = nullptr;
  BaselineNeeds needs;
};

struct Stored {
  std::unique_ptr<MappedAnswers> answers;  // null where there is a defect
  std::string defect;
  std::string exact_defect;
  bool accounted = false;
  bool rounded = false;
};

bool is_judged_by_rounding(const Case& c) { return c.tier == Tier::f32 || c.tier == Tier::bf16; }

// In the order of their first case.
std::vector<Wanted> problems_of(std::span<const Case* const> cases) {
  std::vector<Wanted> problems;
  std::map<std::string, std::size_t> places;
  for (const Case* c : cases) {
    std::string problem_key = key(c->request.problem);
    const auto [place, is_new] = places.try_emplace(problem_key, problems.size());
    if (is_new) problems.push_back({std::move(problem_key), &c->request.problem, {}});
    BaselineNeeds& needs = problems[place->second].needs;
    needs.account = needs.account || c->tier == Tier::exact;
    if (needs.rounding == nullptr && is_judged_by_rounding(*c)) needs.rounding = c;
  }
  return problems;
}

bool answers(const Stored& stored, const BaselineNeeds& needs) {
  return (stored.accounted || !needs.account) && (stored.rounded || needs.rounding == nullptr);
}

std::string in_mebibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 0x1p20);
}

std::string label(const Problem& problem) {
  return problem.is_operation() ? std::string(name(problem.operation())) : "a collective";
}

}  // namespace

struct BaselineStore::State {
  CommunicatorPtr ranks;
  std::uint64_t budget = 0;
  std::map<std::string, Stored> stored;

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& entry : stored) sum += entry.second.answers ? entry.second.answers->bytes() : 0;
    return sum;
  }
  void drop(const std::vector<Wanted>& wanted);
  std::vector<Wanted> choose(const std::vector<Wanted>& wanted, std::uint64_t free) const;
  std::vector<BaselineReport> solve_mine(const std::vector<Wanted>& chosen,
                                         const std::filesystem::path& folder,
                                         Implementation& implementation) const;
  void map(const std::vector<Wanted>& chosen, const std::vector<BaselineReport>& reports,
           const std::filesystem::path& folder);
};

// What is not wanted; and all, where the first would not fit beside the rest.
void BaselineStore::State::drop(const std::vector<Wanted>& wanted) {
  std::erase_if(stored, [&](const auto& entry) {
    return std::none_of(wanted.begin(), wanted.end(), [&](const Wanted& w) {
      return w.key == entry.first && answers(entry.second, w.needs);
    });
  });
  if (wanted.empty() || stored.contains(wanted.front().key)) return;
  if (bytes() + BaselineStore::bytes_needed(*wanted.front().problem) > budget) stored.clear();
}

// The first that is missing and whatever fits beside it.
std::vector<Wanted> BaselineStore::State::choose(const std::vector<Wanted>& wanted,
                                                 std::uint64_t free) const {
  std::vector<Wanted> chosen;
  std::vector<BaselineCost> costs;
  std::uint64_t files = 0;
  for (const Wanted& candidate : wanted) {
    if (stored.contains(candidate.key)) continue;
    costs.push_back(baseline_cost(*candidate.problem));
    files += costs.back().answers;
    const bool fits = bytes() + bytes_while_solving(costs, ranks->size()) <= budget && files <= free;
    if (fits) {
      chosen.push_back(candidate);
      continue;
    }
    if (&candidate == &wanted.front())
      throw EnvironmentError(
          fmt::format("the baseline of {} needs {}, of which {} stay in /dev/shm", label(*candidate.problem),
                      in_mebibytes(costs.back().answers + costs.back().work),
                      in_mebibytes(costs.back().answers)),
          fmt::format("{} are allowed for baselines, and {} are free in /dev/shm", in_mebibytes(budget),
                      in_mebibytes(free)),
          "ask for fewer --layers, or a smaller --batch or --seq");
    files -= costs.back().answers;
    costs.pop_back();
  }
  return chosen;
}

std::vector<BaselineReport> BaselineStore::State::solve_mine(const std::vector<Wanted>& chosen,
                                                             const std::filesystem::path& folder,
                                                             Implementation& implementation) const {
  std::vector<BaselineCost> costs;
  costs.reserve(chosen.size());
  for (const Wanted& w : chosen) costs.push_back(baseline_cost(*w.problem));
  const std::vector<int> owners = deal(costs, ranks->size());
  std::vector<BaselineReport> reports;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (owners[i] != ranks->rank()) continue;
    SolvedProblem solved = solve_problem(*chosen[i].problem, chosen[i].needs, implementation);
    if (solved.defect.empty()) {
      try {
        write_answers(folder / std::to_string(i), std::move(solved.answers));
      } catch (const std::exception& error) {
        solved.defect = fmt::format("the baseline cannot be kept: {}", error.what());
      }
    }
    reports.push_back({i, solved.defect, solved.exact_defect});
  }
  return reports;
}

void BaselineStore::State::map(const std::vector<Wanted>& chosen, const std::vector<BaselineReport>& reports,
                               const std::filesystem::path& folder) {
  for (const BaselineReport& report : reports) {
    const Wanted& w = chosen[report.problem];
    Stored& entry = stored[w.key];
    entry.defect = report.defect;
    entry.exact_defect = report.exact_defect;
    entry.accounted = w.needs.account;
    entry.rounded = w.needs.rounding != nullptr;
    if (report.defect.empty())
      entry.answers = std::make_unique<MappedAnswers>(folder / std::to_string(report.problem));
  }
}

BaselineStore::BaselineStore(CommunicatorPtr ranks, std::uint64_t byte_budget)
    : state_(std::make_unique<State>()) {
  state_->ranks = std::move(ranks);
  state_->budget = byte_budget;
}

BaselineStore::~BaselineStore() = default;

void BaselineStore::prepare(std::span<const Case* const> wanted, Implementation& implementation) {
  State& state = *state_;
  const std::vector<Wanted> problems = problems_of(wanted);
  state.drop(problems);
  if (std::all_of(problems.begin(), problems.end(),
                  [&](const Wanted& w) { return state.stored.contains(w.key); }))
    return;

  const BaselineVenue venue(*state.ranks);
  const std::vector<Wanted> chosen = state.choose(problems, venue.free_bytes());
  const std::vector<BaselineReport> mine = state.solve_mine(chosen, venue.folder(), implementation);
  const std::vector<BaselineReport> reports = exchange_reports(*state.ranks, mine);
  std::string trouble;
  try {
    state.map(chosen, reports, venue.folder());
  } catch (const std::exception& error) {
    trouble = error.what();
  }
  agree_on_trouble(*state.ranks, trouble);  // from here on nobody needs the names of the files
}

bool BaselineStore::has(const Case& c) const {
  const auto found = state_->stored.find(key(c.request.problem));
  BaselineNeeds needs;
  needs.account = c.tier == Tier::exact;
  needs.rounding = is_judged_by_rounding(c) ? &c : nullptr;
  return found != state_->stored.end() && answers(found->second, needs);
}

std::string BaselineStore::defect(const Case& c) const {
  const auto found = state_->stored.find(key(c.request.problem));
  if (found == state_->stored.end()) return {};
  if (!found->second.defect.empty() || c.tier != Tier::exact) return found->second.defect;
  return found->second.exact_defect;
}

const ExpectedTensors& BaselineStore::expected(const Case& c) const {
  const auto found = state_->stored.find(key(c.request.problem));
  static const ExpectedTensors nothing;
  TPC_EXPECT(found != state_->stored.end(), "no baseline of {} was prepared", full_name(c));
  return found->second.answers ? found->second.answers->tensors() : nothing;
}

std::uint64_t BaselineStore::bytes_needed(const Problem& problem) {
  const BaselineCost cost = baseline_cost(problem);
  return cost.answers + cost.work;
}

}  // namespace tpc
