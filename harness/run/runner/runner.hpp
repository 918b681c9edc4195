// SPDX-License-Identifier: Apache-2.0
// A case and an implementation become a record. Every rank calls `run` with the same cases in the same order
// and gets the same record.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/oracle.hpp"
#include "harness/run/runner/agreement.hpp"
#include "harness/run/runner/ruling.hpp"
#include "harness/run/runner/watchdog.hpp"

namespace tpc {

// Ranks that a case needs.
int ranks_of(const Case& c);

struct RunnerOptions {
  std::chrono::milliseconds deadline{30'000};  // of a case
  // How much later than the deadline a rank may arrive at the verdict; not given: 2 s and a tenth of it.
  std::optional<std::chrono::milliseconds> grace;
  std::uint64_t seed = 1;
  std::function<std::string(const Case&)> replay;  // its command line
  // On every rank that holds tensors of a case that failed.
  using OnFailure =
      std::function<void(const Case&, const std::vector<LocalTensor>&, const ExpectedTensors&, int rank)>;
  OnFailure dump;
  OnFailure examine;  // the same, before anything else happens
  Watchdog* watchdog = nullptr;
};

class Runner {
 public:
  // Collective over world, which the runner has for itself from then on.
  Runner(const CommunicatorPtr& world, Implementation& implementation, Oracle& oracle, RunnerOptions options);

  // What will be run from here on, in this order, so that baselines can be made ahead; and whether it all
  // comes again, so that they are kept.
  void plan(std::vector<const Case*> order, bool again = false);
  Record run(const Case& c);
  // The same, on the way to an explanation of another case: an error in it is none of the run's.
  Record try_out(const Case& c);
  // Collective over all ranks: what the ranks of a case do together to explain it. Passes where none of them
  // threw, and all came back in time.
  Ruling consult(const Case& c, const std::function<void(const CommunicatorPtr& ranks)>& work);
  // The same on all ranks: another deadline than the run's, until it is given back.
  struct Patience {
    std::chrono::milliseconds deadline;
    std::optional<std::chrono::milliseconds> grace;
  };
  Patience patience() const { return {options_.deadline, options_.grace}; }
  void set_patience(const Patience& patience) {
    options_.deadline = patience.deadline;
    options_.grace = patience.grace;
  }
  // A record of a case that is not put to the implementation.
  Record not_run(const Case& c, const std::string& reason) const;

  // Set when the run cannot go on: what is run from then on is not run, with this reason.
  const std::optional<Stop>& stop() const { return stop_; }
  // After a deadline that all ranks came back from: makes their groups anew and goes on. False where the run
  // must end.
  bool resume();
  // Ends the run for a reason of the caller's, on all ranks alike.
  void stop_for(Stop stop) { stop_ = std::move(stop); }
  // Of the run so far, by design: 0, 1, 2, 3 or 5.
  int exit_code(const Tally& tally) const;
  Agreement& agreement() { return agreement_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Rule = std::function<Ruling(const RankReports&)>;

  Ruling rule_on(const Case& c);
  Ruling make_ready(const Case& c);
  Ruling prepare(const Case& c);
  std::vector<const Case*> wanted_from(const Case& c) const;
  Ruling ask(const Case& c, Response& response);
  Ruling compare_with_baseline(const Case& c, const Response& response);
  Ruling among_judges(const Case& c, const std::function<void(const CommunicatorPtr&, RankReport&)>& work);
  RankReport attempt(Communicator* family, const std::function<void(RankReport&)>& work) const;
  Ruling agree(const RankReport& mine, const Rule& rule, Clock::time_point started,
               std::chrono::milliseconds limit);
  void make_families();
  void arm(Clock::time_point started, std::chrono::milliseconds limit) const;
  std::chrono::milliseconds grace() const;

  Implementation& implementation_;
  Oracle& oracle_;
  RunnerOptions options_;
  Agreement agreement_;
  CommunicatorPtr cases_;   // family that implementations run in
  CommunicatorPtr judges_;  // family that comparisons run in: what a case left behind cannot reach it
  std::map<int, CommunicatorPtr> groups_;  // of the first n ranks
  std::map<int, CommunicatorPtr> judge_groups_;
  std::vector<const Case*> order_;
  bool again_ = false;
  std::optional<Stop> stop_;
  bool gave_up_ = false;  // in some case ranks threw or parted
};

}  // namespace tpc
