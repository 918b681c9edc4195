// SPDX-License-Identifier: Apache-2.0
// Fault x case: each fault is planted in the reference and put to the cases that could see it, cheap ones
// first, until one rejects it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/explain/faults/ordinary_check.hpp"
#include "harness/run/runner/runner.hpp"

namespace tpc {

// What would have become of the fault in a customary check.
struct OrdinaryResult {
  std::string setting;  // empty: it cannot occur in training
  bool ran = false;     // else it threw, or did not come back
  Closeness close;
  Closeness without_faults;  // what is not close even then is no answer
};

struct FaultResult {
  const FaultRow* row = nullptr;
  std::vector<Record> killers;  // the first case that rejects it, or all of them
  int cases_run = 0;
  OrdinaryResult ordinary;
  double seconds = 0;
  bool killed() const { return !killers.empty(); }
  bool survived() const { return !killed() && row->equivalent.empty(); }
};

// The reference, with what is planted at the moment.
class PlantedReference : public Implementation {
 public:
  PlantedReference();
  ~PlantedReference() override;
  void plant(const FaultSet& faults);
  std::string name() const override;
  Response run(const Request& request, const CommunicatorPtr& ranks) override;

 private:
  std::unique_ptr<Implementation> planted_;
};

// Judges by the baseline, which knows nothing of faults, and ordinary cases the ordinary way.
std::unique_ptr<Oracle> with_ordinary_check(std::unique_ptr<Oracle> oracle, OrdinaryCheck& ordinary);

// The cases of exact answers that could see a fault, cheap ones first; of the formats that round, those where
// only they can.
std::vector<const Case*> cases_for(const FaultRow& row, const std::vector<Suite>& suites, int ranks);

struct MatrixChoice {
  std::string filter = "*";  // of ids, with * and ?, and commas between several
  bool all = false;
};
// Of the rows that match. Throws UsageError where none does.
std::vector<const FaultRow*> chosen_rows(const MatrixChoice& choice);

class KillMatrix {
 public:
  struct Parts {
    const std::vector<Suite>& suites;
    Runner& runner;
    PlantedReference& implementation;
    OrdinaryCheck& ordinary;
    int ranks;
  };
  KillMatrix(Parts parts, MatrixChoice choice);

  // Collective. `done` is told of each fault as it comes. Ends early where ranks cannot go on.
  std::vector<FaultResult> run(const std::function<void(const FaultResult&)>& done);

 private:
  FaultResult judge(const FaultRow& row, const std::vector<const Case*>& cases);
  // Of the faults that are planted. A deadline that passes counts only where it passes again, and does not
  // without faults: a busy machine misses one, too.
  Record run(const Case& c, const FaultSet& faults);
  Record attempt(const Case& c, const FaultSet& faults, bool& overdue);
  OrdinaryResult ask_ordinary(const Case& setting, const FaultSet& faults);
  Closeness close_without_faults(const Case& setting);

  Parts parts_;
  MatrixChoice choice_;
  std::map<std::string, Closeness> without_faults_;  // by setting
};

// 0 where every fault but equivalent ones was killed, else 1.
int exit_code_of(const std::vector<FaultResult>& results);

}  // namespace tpc
