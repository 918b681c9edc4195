// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/runner.hpp"

#include <algorithm>
#include <new>
#include <set>

namespace tpc {

namespace {

using How = RankReport::How;
using std::chrono::milliseconds;

// Baselines made ahead at a time, per rank: enough to share the work out, few enough to notice a hang.
constexpr std::size_t problems_ahead_per_rank = 4;
// A problem is solved, solved again with moved inputs, and put to the implementation on a mesh of size 1.
constexpr int steps_per_problem = 3;

constexpr milliseconds patience_with_families{60'000};

bool runnable(const Case& c, int world) {
  return c.expectation == Expectation::answers && ranks_of(c) <= world;
}

Ruling silence_of_rank_0() {
  Ruling ruling;
  ruling.stop = Stop{5, "rank 0 did not answer", true};
  ruling.message = ruling.stop->reason;
  return ruling;
}

Ruling own_error(const std::string& reason) {
  Ruling ruling;
  ruling.message = "error of the suite itself: " + reason;
  ruling.stop = Stop{5, ruling.message};
  return ruling;
}

void remember(RankReport& report, How how, const char* reason) {
  report.how = how;
  report.reason = reason;
}

// Ranks beyond get null, and keep it: a split is collective.
CommunicatorPtr first_ranks(std::map<int, CommunicatorPtr>& made, Communicator& family, int ranks) {
  const auto found = made.find(ranks);
  if (found != made.end()) return found->second;
  return made[ranks] =
             family.split(family.rank() < ranks ? 0 : -1, family.rank(), fmt::format("first{}", ranks));
}

// What was sent and kept, where the answer itself is right.
void judge_account(const Case& c, const Response& response, int rank, Comparison& comparison) {
  if (!c.account || comparison.verdict != Verdict::pass) return;
  const bool about_memory = c.account->activation_bytes || c.account->statistics_bytes;
  if (!response.reports_calls || (about_memory && !response.reports_memory)) {
    comparison.verdict = Verdict::unsupported;
    comparison.message = fmt::format("the answer is right; the implementation does not say what it {}",
                                     response.reports_calls ? "keeps" : "sends");
    return;
  }
  const std::string defect = account_defect(*c.account, response);
  if (defect.empty()) return;
  comparison.verdict = Verdict::fail;
  comparison.message = fmt::format("rank {}: {}", rank, defect);
}

}  // namespace

int ranks_of(const Case& c) { return c.ranks > 0 ? c.ranks : std::max(1, c.request.mesh.ranks()); }

Runner::Runner(const CommunicatorPtr& world, Implementation& implementation, Oracle& oracle,
               RunnerOptions options)
    : implementation_(implementation),
      oracle_(oracle),
      options_(std::move(options)),
      agreement_(world->renew("verdict")) {
  make_families();
}

void Runner::plan(std::vector<const Case*> order, bool again) {
  order_ = std::move(order);
  again_ = again;
}

milliseconds Runner::grace() const {
  return options_.grace.value_or(milliseconds(2000) + options_.deadline / 10);
}

void Runner::make_families() {
  groups_.clear();
  judge_groups_.clear();
  Communicator& ranks = agreement_.ranks();
  // Only ranks that are there come here, however late on a busy machine.
  ranks.set_deadline(Clock::now() + std::max(options_.deadline + grace(), patience_with_families));
  cases_ = ranks.renew("cases");
  judges_ = ranks.renew("comparison");
}

Record Runner::not_run(const Case& c, const std::string& reason) const {
  Record record;
  record.case_name = full_name(c);
  record.suite = c.suite;
  record.tier = name(c.tier);
  record.mesh = to_string(c.request.mesh);
  record.dtype = name(c.request.problem.dtype);
  record.profile = c.profile;
  record.implementation = implementation_.name();
  record.seed = options_.seed;
  record.message = reason;
  if (options_.replay) record.replay = options_.replay(c);
  return record;
}

Record Runner::run(const Case& c) {
  const int there = agreement_.ranks().size();
  if (stop_) return not_run(c, stop_->reason);
  if (ranks_of(c) > there)
    return not_run(c, fmt::format("needs {} ranks and there are {}", ranks_of(c), there));
  Ruling ruling;
  try {
    implementation_.make_ready();
    ruling = rule_on(c);
    gave_up_ = gave_up_ || ruling.broken;
    if (ruling.broken && !ruling.stop) make_families();
  } catch (const std::exception& error) {  // of the agreement itself: ranks cannot be relied on any more
    ruling.message = error.what();
    ruling.stop = Stop{5, ruling.message, true};
  }
  if (options_.watchdog != nullptr) options_.watchdog->disarm();
  if (ruling.stop) {
    stop_ = ruling.stop;
    stop_->reason = fmt::format("the run ended in {}", full_name(c));
  }
  Record record = not_run(c, ruling.message);
  record.verdict = ruling.verdict;
  record.worst_ratio = ruling.worst_ratio;
  record.note = ruling.note;
  record.tests = ruling.tests;
  record.volume = ruling.volume;
  record.seconds = ruling.seconds;
  return record;
}

Record Runner::try_out(const Case& c) {
  const bool before = gave_up_;
  Record record = run(c);
  gave_up_ = before;
  resume();
  return record;
}

bool Runner::resume() {
  constexpr int deadline_passed = 5;
  if (!stop_) return true;
  if (stop_->at_once || stop_->code != deadline_passed) return false;
  stop_.reset();
  make_families();
  return true;
}

Ruling Runner::rule_on(const Case& c) {
  const bool refusal_is_due = c.expectation == Expectation::refusal;
  if (!refusal_is_due) {
    Ruling ready = make_ready(c);
    if (!ready.go_on) return ready;
  }
  Response response;
  const Clock::time_point started = Clock::now();
  Ruling ruling = ask(c, response);
  if (!ruling.go_on) return ruling;
  if (refusal_is_due) {  // what should have been refused may be answered, if the answer is right
    Ruling ready = make_ready(c);
    if (!ready.go_on) {
      if (!ready.stop) ready.verdict = Outcome::fail;
      ready.message = "not refused; " + ready.message;
      return ready;
    }
  }
  ruling = compare_with_baseline(c, response);
  if (c.account) ruling.volume = phase_volumes(*c.account, response);
  ruling.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  const bool held = agreement_.ranks().rank() < ranks_of(c);
  if (ruling.verdict != Outcome::pass && held && !ruling.stop)
    for (const auto* use : {&options_.examine, &options_.dump})
      if (*use) (*use)(c, response.tensors, oracle_.expected(c), agreement_.ranks().rank());
  return ruling;
}

std::vector<const Case*> Runner::wanted_from(const Case& c) const {
  const int world = agreement_.ranks().size();
  const std::size_t ahead = problems_ahead_per_rank * static_cast<std::size_t>(world);
  std::vector<const Case*> wanted = {&c};
  std::set<std::string> fresh = {key(c.request.problem)};
  const auto current = std::find(order_.begin(), order_.end(), &c);
  for (auto next = current; next != order_.end(); ++next) {
    if (*next == &c || !runnable(**next, world)) continue;
    if (!oracle_.has(**next)) {
      if (fresh.size() >= ahead) continue;
      fresh.insert(key((*next)->request.problem));
    }
    wanted.push_back(*next);
  }
  for (auto earlier = order_.begin(); again_ && earlier != current; ++earlier)
    if (runnable(**earlier, world) && oracle_.has(**earlier)) wanted.push_back(*earlier);
  return wanted;
}

// Goes on where there is a baseline to judge by.
Ruling Runner::make_ready(const Case& c) {
  if (!oracle_.has(c)) {
    Ruling prepared = prepare(c);
    if (!prepared.go_on) return prepared;
  }
  const std::string defect = oracle_.defect(c);
  Ruling ruling;
  ruling.go_on = defect.empty();
  if (!ruling.go_on) ruling.message = "the case cannot be judged: " + defect;
  return ruling;
}

// Rank 0 speaks for a rank that does not arrive, and its own watchdog for itself; those of the other ranks
// are for the case that nobody does.
void Runner::arm(Clock::time_point started, milliseconds limit) const {
  if (options_.watchdog == nullptr) return;
  const int patience = agreement_.ranks().rank() == 0 ? 2 : 6;
  options_.watchdog->arm(started + limit + patience * grace());
}

Ruling Runner::prepare(const Case& c) {
  const auto limit = options_.deadline * (steps_per_problem * static_cast<int>(problems_ahead_per_rank));
  const Clock::time_point started = Clock::now();
  const std::vector<const Case*> wanted = wanted_from(c);
  arm(started, limit);
  const RankReport mine = attempt(nullptr, [&](RankReport& report) {
    oracle_.prepare(wanted, implementation_, started + limit);
    report.how = How::prepared;
  });
  return agree(mine, rule_on_preparation, started, limit);
}

Ruling Runner::ask(const Case& c, Response& response) {
  const Clock::time_point started = Clock::now();
  arm(started, options_.deadline);
  cases_->set_deadline(started + options_.deadline);
  CaseCalls calls(cases_->log());
  RankReport mine = attempt(cases_.get(), [&](RankReport& report) {
    const CommunicatorPtr ranks = first_ranks(groups_, *cases_, ranks_of(c));
    if (ranks) {
      response = implementation_.run(c.request, ranks);
      report.how = how_of(response.status);
    } else {
      response = implementation_.stand_by(c.request, ranks_of(c));
      if (response.status == Response::Status::error) report.how = How::error;
    }
    report.reason = response.reason;
  });
  mine.calls = calls.finish();
  return agree(
      mine, [&c](const RankReports& reports) { return rule_on_responses(c, reports); }, started,
      options_.deadline);
}

Ruling Runner::compare_with_baseline(const Case& c, const Response& response) {
  return among_judges(c, [&](const CommunicatorPtr& ranks, RankReport& report) {
    report.comparison = oracle_.judge(c, response.tensors, *ranks);
    judge_account(c, response, ranks->rank(), report.comparison);
  });
}

Ruling Runner::consult(const Case& c, const std::function<void(const CommunicatorPtr& ranks)>& work) {
  Ruling ruling;
  if (stop_) return ruling;
  try {
    ruling = among_judges(c, [&](const CommunicatorPtr& ranks, RankReport&) { work(ranks); });
    if (ruling.stop && ruling.stop->at_once) stop_ = ruling.stop;
    if (ruling.broken && !stop_) make_families();
  } catch (const std::exception& error) {  // of the agreement itself, as in `run`
    ruling.verdict = Outcome::error;
    stop_ = Stop{5, error.what(), true};
  }
  if (options_.watchdog != nullptr) options_.watchdog->disarm();
  return ruling;
}

Ruling Runner::among_judges(const Case& c,
                            const std::function<void(const CommunicatorPtr&, RankReport&)>& work) {
  const Clock::time_point started = Clock::now();
  arm(started, options_.deadline);
  judges_->set_deadline(started + options_.deadline);
  CaseCalls calls(judges_->log());
  RankReport mine = attempt(judges_.get(), [&](RankReport& report) {
    const CommunicatorPtr ranks = first_ranks(judge_groups_, *judges_, ranks_of(c));
    if (!ranks) return;
    work(ranks, report);
    report.how = How::judged;
  });
  mine.calls = calls.finish();
  return agree(
      mine, [&c](const RankReports& reports) { return rule_on_comparison(c, reports); }, started,
      options_.deadline);
}

// A rank that throws wakes those that wait for it in the family.
RankReport Runner::attempt(Communicator* family, const std::function<void(RankReport&)>& work) const {
  RankReport report;
  try {
    work(report);
    return report;
  } catch (const DeadlineExceeded& error) {
    remember(report, How::deadline, error.what());
  } catch (const Abandoned& error) {
    remember(report, How::abandoned, error.what());
  } catch (const EnvironmentError& error) {
    remember(report, How::environment, error.what());
  } catch (const UsageError& error) {
    remember(report, How::usage, error.what());
  } catch (const std::bad_alloc&) {
    remember(report, How::environment, "out of memory");
  } catch (const std::exception& error) {
    remember(report, How::threw, error.what());
  } catch (...) {
    remember(report, How::threw, "something that is no std::exception");
  }
  if (family != nullptr) family->abort();
  return report;
}

Ruling Runner::agree(const RankReport& mine, const Rule& rule, Clock::time_point started,
                     milliseconds limit) {
  const int rank = agreement_.ranks().rank();
  const Clock::time_point reports_until = started + limit + grace();
  // Where rank 0 is stuck, its own watchdog speaks first; where it is gone, the next rank does.
  const Clock::time_point decision_until = reports_until + 2 * grace() + milliseconds(200) * rank;
  const auto decide = [&](const Agreement::Reports& texts) {
    Ruling ruling;
    try {
      RankReports reports;
      for (const auto& text : texts)
        reports.push_back(text ? std::optional(unpack_report(*text)) : std::nullopt);
      ruling = rule(reports);
    } catch (const std::exception& error) {
      ruling = own_error(error.what());
    }
    ruling.seconds = std::chrono::duration<double>(Clock::now() - started).count();
    return pack(ruling);
  };
  const auto decision = agreement_.reach(pack(mine), decide, {reports_until, decision_until});
  return decision ? unpack_ruling(*decision) : silence_of_rank_0();
}

int Runner::exit_code(const Tally& tally) const {
  if (stop_) return stop_->code;
  if (gave_up_) return 5;
  if (tally.failed + tally.errors > 0) return 1;
  return tally.compared() == 0 ? 2 : 0;
}

}  // namespace tpc
