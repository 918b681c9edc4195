// SPDX-License-Identifier: Apache-2.0
// What can be said of a wrong answer by looking at it.
#pragma once

#include <string>
#include <vector>

#include "harness/explain/diagnosis/dictionary.hpp"
#include "harness/explain/diagnosis/distances.hpp"
#include "harness/explain/diagnosis/right_answer.hpp"

namespace tpc {

// Tensors that the tier would not pass, in order of execution. `distances`: over all ranks.
std::vector<std::string> wrong_tensors(const Case& c, const ApartByName& distances, const RightAnswer& right);

// What one sees of an answer.
struct Impression {
  std::vector<std::string> lines;
  bool any_wrong = false;  // tensor, by itself
};

// Collective over the ranks of the case: the first wrong tensor in numbers, what is wrong besides, and the
// fingerprints of the first few. The same on every rank.
Impression look_at(const Case& c, const std::vector<LocalTensor>& got, const RightAnswer& right,
                   Communicator& ranks);

// Collective: where `suspect` answered stands between the right answer and the wrong one.
std::vector<TensorDistances> distances_to(const std::vector<LocalTensor>& got, const RightAnswer& right,
                                          const std::vector<LocalTensor>& suspect, Communicator& ranks);

}  // namespace tpc
