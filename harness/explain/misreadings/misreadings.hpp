// SPDX-License-Identifier: Apache-2.0
// Requests that are understood in another way: by another definition, or with weights in each other's place.
// No collective shows that, and no fault of the reference has to be planted for it: the baseline answers the
// other question.
#pragma once

#include <functional>
#include <vector>

#include "harness/values/request.hpp"
#include "reference/baseline/train.hpp"

namespace tpc {

using Answers = std::map<std::string, baseline::Answer>;

struct Misreading {
  std::string id;     // "gelu"
  std::string title;  // "gelu erf where tanh is asked"
  // What is asked instead, and how its answers are called by whoever understood it so.
  std::function<void(ModelConfig&)> model = [](ModelConfig&) {};
  std::function<void(baseline::Inputs&)> inputs = [](baseline::Inputs&) {};
  std::function<void(Answers&)> answers = [](Answers&) {};
  std::function<void(baseline::Training&)> training = [](baseline::Training&) {};  // where it is trained
  std::function<Answers(const Problem&)> instead = {};  // where no other question gives the answer: all of it
};

// Whether the baseline solves the problem that many times within about a second.
bool is_solved_quickly(const Problem& problem, std::int64_t times = 1);

// Those that matter to the operation; none where solving it that often would take long.
std::vector<Misreading> misreadings_of(const Request& request);

Answers solve_as_read(const Request& request, const Misreading& misreading);

}  // namespace tpc
