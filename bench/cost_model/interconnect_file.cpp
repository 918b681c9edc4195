// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/cost_model/interconnect.hpp"

namespace tpc::bench {

namespace {

using nlohmann::json;

double positive(const json& entry, const char* key) {
  if (!entry.contains(key) || !entry[key].is_number() || entry[key].get<double>() <= 0)
    throw UsageError(fmt::format("'{}' must be a number above 0", key));
  return entry[key];
}

double at_least_zero(const json& entry, const char* key) {
  if (!entry.contains(key)) return 0;
  if (!entry[key].is_number() || entry[key].get<double>() < 0)
    throw UsageError(fmt::format("'{}' must be a number of at least 0", key));
  return entry[key];
}

std::string text(const json& entry, const char* key) {
  if (!entry.contains(key) || !entry[key].is_string())
    throw UsageError(fmt::format("'{}' must be a text", key));
  return entry[key];
}

Interconnect parse(const json& entry) {
  Interconnect link;
  link.name = text(entry, "name");
  link.title = entry.contains("title") ? text(entry, "title") : link.name;
  link.source = text(entry, "source");
  link.bytes_per_s = positive(entry, "bytes_per_s");
  link.headline_bytes_per_s =
      entry.contains("headline_bytes_per_s") ? positive(entry, "headline_bytes_per_s") : link.bytes_per_s;
  if (entry.contains("efficiency")) link.efficiency = positive(entry, "efficiency");
  if (link.efficiency > 1) throw UsageError("'efficiency' is above 1: no link is faster than itself");
  link.latency_s = at_least_zero(entry, "latency_s");
  link.in_switch_bytes_per_s = at_least_zero(entry, "in_switch_bytes_per_s");
  if (entry.contains("algorithm")) link.algorithm = algorithm_named(text(entry, "algorithm"));
  link.ranks = static_cast<int>(at_least_zero(entry, "ranks"));
  if (entry.contains("beyond")) link.beyond = text(entry, "beyond");
  if (link.ranks > 0 && link.beyond.empty())
    throw UsageError("'ranks' limits the link, so 'beyond' must name the one between such groups");
  return link;
}

}  // namespace

std::vector<Interconnect> read_interconnects(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw UsageError(fmt::format("cannot read interconnects from {}", file.string()));
  const json all = json::parse(in, nullptr, false);
  if (!all.is_object() || all.value("schema", json()) != "tp_bench.interconnects" ||
      all.value("version", json()) != 1 || !all.value("interconnects", json()).is_array())
    throw UsageError(fmt::format(
        R"({} is no JSON of schema "tp_bench.interconnects", version 1, with a list "interconnects")",
        file.string()));
  std::vector<Interconnect> links;
  for (const json& entry : all["interconnects"]) try {
      links.push_back(parse(entry));
    } catch (const UsageError& error) {
      throw UsageError(
          fmt::format("interconnect {} of {}: {}", links.size() + 1, file.string(), error.what()));
    }
  return links;
}

}  // namespace tpc::bench
