// SPDX-License-Identifier: Apache-2.0
// Charts, drawn by gnuplot.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/formats.hpp"

namespace tpc::bench {

// Everything but the terminal: data and commands. Colours are told apart by the colour-blind (Okabe and Ito),
// lines by their dashes in grey.
struct Chart {
  std::string name;  // of its files
  std::string title;
  int width = 900;
  int height = 600;
  std::string script;
};

// Time, efficiency and residual against T, one chart per form of sequence parallelism.
std::vector<Chart> step_charts(const Results& results);
// Where the time of a step goes.
std::optional<Chart> split_chart(const Results& results);
// Time and bus bandwidth against the payload, measured and fitted.
std::optional<Chart> collective_chart(const Results& results);
std::vector<Chart> all_charts(const Results& results);

// NAME.gp, NAME.svg and NAME.png in the folder. Throws EnvironmentError with gnuplot's own words where it is
// missing or fails; then neither picture is there.
EmbeddedChart draw(const Chart& chart, const std::filesystem::path& folder);

}  // namespace tpc::bench
