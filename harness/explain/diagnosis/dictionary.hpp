// SPDX-License-Identifier: Apache-2.0
// Known faults held against a wrong answer: the reference with each of them has answered the same case.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/judge/compare/tiers.hpp"
#include "harness/values/implementation.hpp"
#include "reference/faulty/fault_set.hpp"

namespace tpc {

// An implementation with a known defect.
struct Suspect {
  std::string id;      // "TP-01"
  std::string title;   // "row bias added before the reduction"
  std::string source;  // "Wenyueh/MinivLLM #80"; empty: the title says it all
  bool hangs = false;  // or may
  std::function<std::unique_ptr<Implementation>()> make;
  FaultSet faults = {};   // that are planted in the reference
  bool misreads = false;  // the request, and is right otherwise
};
// Those that can make a difference to the answer to a request.
using FindSuspects = std::function<std::vector<Suspect>(const Request&)>;

// One tensor of a wrong answer, between what is right and what a suspect answers.
struct TensorDistances {
  std::string name;
  Expected expected;  // shape and scales; its values are not looked at
  TensorError to_right;
  TensorError to_suspect;
  bool compared = true;  // the suspect answers every element
};

// What holds, and what does not, if the suspect were the cause.
struct Explanation {
  double distance = 0;                    // largest relative distance to the suspect of what it explains
  std::vector<std::string> explained;     // wrong tensors that are what the suspect answers
  std::vector<std::string> unexplained;   // wrong in another way
  std::vector<std::string> contradicted;  // right, but the suspect's are not
  bool by_rounding = false;  // where equality is demanded, a suspect's answer may be rounded in another way
  bool by_words = false;     // the failure reads the same, where no tensor tells
  bool by_not_refusing = false;  // what cannot be done is begun by both
  bool full() const {
    return unexplained.empty() && contradicted.empty() && (by_words || by_not_refusing || !explained.empty());
  }
  bool partial() const { return !explained.empty() && !full() && contradicted.empty(); }
};

// How much nearer to the wrong answer than the right one the suspect's must be. A suspect's own answer is as
// near as rounding; anything else that is wrong in a similar way is off by some per cent.
constexpr double nearer_than_right = 0.01;

// A wrong tensor is explained where the tier would pass it if the suspect's answer were the right one, and it
// is so much nearer to that.
Explanation explanation_of(const Case& c, const std::vector<TensorDistances>& tensors);

struct Candidate {
  Suspect suspect;
  Explanation explanation;
};
// At most three sentences, best first. Faults that explain everything cannot be told apart on this case and
// share one, and of the exact tier those that answer to the bit are preferred; where one explains
// everything, those that explain only a part are left out.
std::vector<std::string> verdict_on(const std::vector<Candidate>& candidates);

// The ids that the first of the sentences names with certainty; none where nothing explains everything.
std::vector<std::string> certain_ids(const std::vector<Candidate>& candidates);

}  // namespace tpc
