// SPDX-License-Identifier: Apache-2.0
// The diagnosis put to the test: one planted fault after the other, and pairs of them, are diagnosed as if
// nobody knew. What it names is held against what was planted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/explain/diagnosis/investigation.hpp"
#include "harness/explain/faults/kill_matrix.hpp"

namespace tpc {

struct ConfusionRow {
  std::vector<std::string> planted;  // ids: one, or two
  std::string case_name;             // the first that failed; empty: none did
  std::vector<std::string> named;    // with certainty, best first
  std::string message;               // of the record, with its diagnosis
  bool found() const { return !case_name.empty(); }
  // One fault: it is named first, or among those that this case cannot tell apart. Two: nothing else is.
  bool right() const;
};

struct ConfusionChoice {
  std::string filter = "*";
  int pairs = 20;
  std::uint64_t seed = 1;
};

class Confusion {
 public:
  struct Parts {
    const std::vector<Suite>& suites;
    Runner& runner;
    PlantedReference& planted;
    Investigation& investigation;
    int ranks;
  };
  Confusion(const Parts& parts, ConfusionChoice choice) : parts_(parts), choice_(std::move(choice)) {}

  // Collective. `done` is told of each row as it comes.
  std::vector<ConfusionRow> run(const std::function<void(const ConfusionRow&)>& done);

 private:
  ConfusionRow diagnose(const std::vector<const FaultRow*>& faults);
  std::vector<std::vector<const FaultRow*>> random_pairs(const std::vector<const FaultRow*>& rows) const;

  Parts parts_;
  ConfusionChoice choice_;
};

// Two different faults each, the first cases of which fail; a function of the seed.
std::string line_of(const ConfusionRow& row);
std::string confusion_summary(const std::vector<ConfusionRow>& rows);
std::string confusion_markdown(const Provenance& provenance, const std::vector<ConfusionRow>& rows);

// Share of the single faults that the diagnosis must name.
constexpr double demanded_share = 0.9;
// 0 where that share was named, no pair was blamed on another fault, and every one of them failed; else 1.
int exit_code_of(const std::vector<ConfusionRow>& rows);

}  // namespace tpc
