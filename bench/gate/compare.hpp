// SPDX-License-Identifier: Apache-2.0
// A run against a baseline: slower is an alarm, faster never is.
#pragma once

#include <string>
#include <vector>

#include "bench/report/results.hpp"

namespace tpc::bench {

struct RowVerdict {
  std::string key;
  int tp = 1;
  double before_s = 0;
  double now_s = 0;
  double smallest_effect = 0;  // share by which the row must be slower to be an alarm
  double chance = 1;           // that equal things come in such an order
  bool slower = false;
  std::string culprit;  // of a slower row: the part of the step, and the rank where it is one rank
  double change() const { return now_s / before_s - 1; }
};

struct BaselineComparison {
  std::vector<RowVerdict> rows;
  std::vector<std::string> not_compared;          // and why
  std::vector<std::string> changed;               // between the two provenances
  std::vector<std::string> changed_fingerprints;  // reductions whose bits differ: reported, no alarm
  double machine_change = 0;                      // of the yardstick: what no library explains
  double disturbance = 0;                         // how far it moved between equal things
  bool slower() const;
};

// Times of equal rows are compared one-sided: the median now must be larger by more than 5 %, 1 us, and one
// and a half times what would put each launch now above each before, all beyond what the yardstick moved.
BaselineComparison compare(const Results& baseline, const Results& now);

// An alarm counts if a second measurement of the same rows raises it again.
BaselineComparison confirmed(const BaselineComparison& first, const BaselineComparison& second);

std::string comparison_report(const BaselineComparison& comparison, const std::string& baseline_name);

}  // namespace tpc::bench
