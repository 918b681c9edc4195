// SPDX-License-Identifier: Apache-2.0
// How far the answer of a rank is from what is right, and from another answer to the same request.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/judge/compare/tiers.hpp"

namespace tpc {

// Over what the ranks hold of a tensor. Two values that are no numbers are equal.
struct Apart {
  TensorError error;
  std::int64_t compared = 0;  // elements that both have, on the same rank
  std::int64_t held = 0;      // elements of the first
};
using ApartByName = std::map<std::string, Apart>;

ApartByName apart(const std::vector<LocalTensor>& mine, const ExpectedTensors& right);
ApartByName apart(const std::vector<LocalTensor>& mine, const std::vector<LocalTensor>& others);

// Collective: over all ranks. As everywhere, an element that n ranks hold counts 1/n from each.
ApartByName over_ranks(const ApartByName& mine, const ExpectedTensors& shapes, Communicator& ranks);

// Collective: how far what the ranks hold is from another answer. An implementation may hand out whole what
// another hands out in parts: what the same rank lacks there is taken from a rank that has it.
ApartByName apart_from_answer(const std::vector<LocalTensor>& mine, const std::vector<LocalTensor>& others,
                              const ExpectedTensors& shapes, Communicator& ranks);

}  // namespace tpc
