// SPDX-License-Identifier: Apache-2.0
// What the suites are asked for and what they hand to the harness.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/values/case.hpp"
#include "reference/model/config.hpp"

namespace tpc {

// What the user chose, as far as it decides which cases exist.
struct SuiteOptions {
  std::uint64_t seed = 1;
  std::vector<int> tp = {1, 2, 3, 4, 6, 8};
  bool tp_given = false;    // then a degree that a model cannot have is a UsageError, else merely impossible
  std::vector<Tier> tiers;  // all of them where none was asked for
  bool tiers_given = false;
  std::optional<NamedModel> model;  // of --model: the run is about it alone
  std::optional<int> layers;
  int batch = 0;              // 0: the suite's own choice
  int sequence = 0;           // 0: the suite's own choice
  std::string text;           // path; empty: the text that comes with the suite
  int random = 0;             // of --random: as many configurations drawn at random, and nothing else
  std::string configuration;  // of --case: this one (configuration/configuration.hpp), and nothing else
  int world = 1;              // ranks that there are; cases that need more are listed all the same
};

struct Suite {
  std::string name;
  std::vector<Case> cases;
  std::vector<Impossible> impossible;
};

using MakeSuites = std::function<std::vector<Suite>(const SuiteOptions&)>;

}  // namespace tpc
