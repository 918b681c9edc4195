// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/row.hpp"

#include <algorithm>

namespace tpc::bench {

std::string key(const Row& row) {
  std::string text = row.kind + "/" + row.op;
  const auto add = [&](const char* label, const std::string& value) {
    if (!value.empty()) text += fmt::format("/{}{}", label, value);
  };
  const auto add_number = [&](const char* label, std::int64_t value) {
    if (value > 0) text += fmt::format("/{}{}", label, value);
  };
  add("", row.pass);
  add("", row.dtype);
  add_number("tp", row.tp);
  if (row.hosts > 1) add_number("hosts", row.hosts);
  add("sp_", row.sequence_parallel);
  add_number("L", row.layers);
  add_number("B", row.batch);
  add_number("S", row.sequence);
  add_number("H", row.hidden);
  add_number("bytes", row.payload_bytes);
  add("", row.implementation);
  add("", row.transport);
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

std::vector<double> equal_medians(const Row& row) {
  std::vector<double> medians;
  if (row.series.launches.size() > 1)
    for (const auto& launch : row.series.by_launch()) medians.push_back(summary_of(launch).median);
  else
    for (const auto& round : row.series.by_round())
      if (!round.empty()) medians.push_back(median(round));
  return medians;
}

void summarise(Row& row) {
  if (row.series.slowest.empty()) {
    row.status = "skip";
    if (row.reason.empty()) row.reason = "nothing was measured";
    return;
  }
  row.seconds = summary_of(row.series.slowest);
  if (row.series.launches.size() > 1)  // each has a steady window of its own
    row.seconds = {0, median(equal_medians(row)), quantile(row.series.slowest, 0.05),
                   quantile(row.series.slowest, 0.95)};
  if (row.series.wrong.empty()) return;
  row.status = "fail";
  row.reason = row.series.wrong;
}

}  // namespace tpc::bench
