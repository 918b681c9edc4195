// SPDX-License-Identifier: Apache-2.0
// What is done about a case that failed, beside recording it: it is diagnosed, the layers of a model are
// tried one by one, and the smallest configuration that still fails is searched for.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/explain/diagnosis/diagnosis.hpp"
#include "harness/explain/diagnosis/substitute.hpp"
#include "harness/run/runner/runner.hpp"

namespace tpc {

// The tensors of the last answer that did not pass, on this rank.
using KeptAnswer = std::vector<LocalTensor>;

struct InvestigationParts {
  Runner& runner;
  Oracle& oracle;
  Substitute& subject;  // that the runner puts its cases to
  KeptAnswer& kept;     // filled by the runner's `examine`
  FindSuspects suspects;
  std::function<std::string(const Case&)> replay;
};

struct InvestigationChoice {
  int most_diagnosed = 3;       // failures; a negative number: all
  double longest_line_up = 30;  // seconds that known faults may take to answer one case
};

// What is said of one case.
struct Diagnosis {
  std::vector<std::string> facts;  // first wrong tensor, fingerprints
  bool tensors_tell = false;       // some tensor is wrong by itself
  std::vector<Candidate> candidates;
  bool asked = false;   // whether known faults were looked for
  int suspects = 0;     // that were tried
  double seconds = 0;   // that they took
  std::string stopped;  // why not all were
};
std::vector<std::string> lines_of(const Diagnosis& diagnosis);
std::string to_text(const Diagnosis& diagnosis);

// Collective; the ranks do the same, since the records that they go by are the same. Texts and candidates
// are complete on rank 0.
class Investigation {
 public:
  Investigation(InvestigationParts parts, const InvestigationChoice& choice)
      : parts_(std::move(parts)), choice_(choice) {}

  // Of a record with verdict fail or error; adds to it what was found.
  void operator()(const Case& c, Record& record);

  // Of a case that just failed with this record.
  Diagnosis diagnose(const Case& c, const Record& record);

 private:
  // What suspects are held against.
  struct Failure {
    const Case& c;
    const Record& record;
    KeptAnswer got;
    RightAnswer right;
    bool by_tensors = false;  // whether any tensor of the answer is wrong by itself; by words otherwise
  };

  RightAnswer right_answer(const Case& c);
  Impression look(const Case& c, const RightAnswer& right);
  std::vector<Suspect> pairs_of(const std::vector<Candidate>& candidates);
  static bool can_be_compared(const Failure& failure, const Suspect& suspect);
  void line_up(const Failure& failure, std::vector<Suspect> suspects, Diagnosis& diagnosis);
  double compare_tensors(const Failure& failure, std::span<Candidate> some);
  double compare_words(const Failure& failure, Candidate& candidate);
  std::string as_rank_0_says(const std::string& text);
  Record try_out(const Case& c, Implementation* other);
  std::string first_divergence(const Case& c);
  std::string smallest(const Case& c, const Record& record);

  InvestigationParts parts_;
  InvestigationChoice choice_;
  int diagnosed_ = 0;  // so far
  int shrunk_ = 0;
};

}  // namespace tpc
