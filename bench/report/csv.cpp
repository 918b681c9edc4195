// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "bench/report/formats.hpp"

namespace tpc::bench {

namespace {

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::set<std::string> figure_names(const Results& results) {
  std::set<std::string> names;
  for (const Row& row : results.rows)
    for (const auto& [name, value] : row.figures) names.insert(name);
  return names;
}

}  // namespace

std::string to_csv(const Results& results) {
  const std::set<std::string> figures = figure_names(results);
  std::string text =
      "key,kind,op,pass,dtype,sequence_parallel,implementation,transport,tp,hosts,layers,batch,sequence,"
      "hidden,"
      "payload_bytes,status,reason,oversubscribed,samples,median_s,p5_s,p95_s";
  for (const std::string& name : figures) text += "," + name;
  text += "\n";
  for (const Row& row : results.rows) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.9g},{:.9g},{:.9g}",
                        cell(key(row)), row.kind, cell(row.op), row.pass, row.dtype, row.sequence_parallel,
                        cell(row.implementation), cell(row.transport), row.tp, row.hosts, row.layers,
                        row.batch, row.sequence, row.hidden, row.payload_bytes, row.status, cell(row.reason),
                        row.oversubscribed, row.series.slowest.size(), row.seconds.median, row.seconds.p5,
                        row.seconds.p95);
    for (const std::string& name : figures) {
      const auto found = row.figures.find(name);
      text += found == row.figures.end() ? "," : fmt::format(",{:.9g}", found->second);
    }
    text += "\n";
  }
  return text;
}

}  // namespace tpc::bench
