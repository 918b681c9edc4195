// SPDX-License-Identifier: Apache-2.0
#include "harness/front/renderings/volume_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tpc {

namespace {

constexpr double link_rates[] = {900e9, 64e9, 25e9};  // bytes per second, as the claim has them

bool is_shown(const Record& record) {
  return record.case_name.find(".transformer_layer") != std::string::npos ||
         record.case_name.find(".model") != std::string::npos;
}

std::string phase_line(const std::string& what, const PhaseVolume& v) {
  std::string line = fmt::format("{:<52}{:<9}{:>6}{:>14}{:>16.0f}{:>14}{:>11}", what, v.phase, v.calls,
                                 v.payload, v.ring_wire, v.profile_payload, v.payload - v.profile_payload);
  for (const double rate : link_rates)
    line += fmt::format("{:>11.2e}", static_cast<double>(v.payload) / rate);
  return line + "\n";
}

}  // namespace

std::string volume_report(const std::vector<Record>& records) {
  const bool only_volume = std::all_of(records.begin(), records.end(), [](const Record& record) {
    return record.suite == "volume" || record.verdict == Outcome::not_run;
  });
  if (!only_volume || records.empty()) return {};
  std::string text =
      fmt::format("{:<52}{:<9}{:>6}{:>14}{:>16}{:>14}{:>11}{:>33}\n", "bytes, per rank", "phase", "calls",
                  "payload", "ring wire", "formula", "difference", "seconds at 900, 64, 25 GB/s");
  std::size_t others = 0;
  for (const Record& record : records) {
    if (record.volume.empty()) continue;
    if (!is_shown(record)) {
      ++others;
      continue;
    }
    std::string what = record.case_name.substr(record.case_name.find('.') + 1);
    for (const PhaseVolume& v : record.volume) {
      text += phase_line(what, v);
      what.clear();
    }
  }
  return text +
         fmt::format("{} further cases of single layers are judged call by call and not shown\n", others);
}

}  // namespace tpc
