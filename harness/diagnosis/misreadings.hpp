// SPDX-License-Identifier: Apache-2.0
// Requests that are understood in another way: by another definition, or with weights in each other's place.
// No collective shows that, and no fault of the reference has to be planted for it: the baseline answers the
// other question.
#pragma once

#include <functional>
#include <vector>

#include "harness/diagnosis/dictionary.hpp"
#include "reference/baseline/baseline.hpp"

namespace tpc {

using Answers = std::map<std::string, baseline::Answer>;

struct Misreading {
  std::string id;     // "gelu"
  std::string title;  // "gelu erf where tanh is asked"
  // What is asked instead, and how its answers are called by whoever understood it so.
  std::function<void(ModelConfig&)> model = [](ModelConfig&) {};
  std::function<void(baseline::Inputs&)> inputs = [](baseline::Inputs&) {};
  std::function<void(Answers&)> answers = [](Answers&) {};
};

// Those that matter to the operation; none where solving it that often would take long.
std::vector<Misreading> misreadings_of(const Request& request);

Answers solve_as_read(const Request& request, const Misreading& misreading);

std::vector<Suspect> misreading_suspects(const Request& request);

}  // namespace tpc
