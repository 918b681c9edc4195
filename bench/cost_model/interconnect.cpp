// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/interconnect.hpp"

#include <algorithm>

namespace tpc::bench {

const Interconnect& interconnect_named(const std::vector<Interconnect>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Interconnect& link) { return link.name == name; });
  if (found != all.end()) return *found;
  std::string known;
  for (const Interconnect& link : all) known += (known.empty() ? "" : ", ") + link.name;
  throw UsageError(
      fmt::format("unknown interconnect '{}'; known: measured, {}, or a JSON file", name, known));
}

Levels levels_of(const std::vector<Interconnect>& all, const Interconnect& link, int ranks) {
  if (link.ranks == 0 || ranks <= link.ranks) return {ranks, 1, &link, nullptr};
  const int hosts = (ranks + link.ranks - 1) / link.ranks;
  if (ranks % hosts != 0)
    throw Refusal(fmt::format("{} ranks do not fill {} hosts of {} evenly: {} joins {} ranks at most", ranks,
                              hosts, link.ranks, link.name, link.ranks));
  return {ranks / hosts, hosts, &link, &interconnect_named(all, link.beyond)};
}

namespace {

double ring_s(const Interconnect& link, CollectiveKind kind, int ranks, double payload) {
  const WireCost cost = wire_cost(kind, link.algorithm, ranks);
  return cost.steps * link.latency_s +
         cost.bytes_per_payload * payload / (link.bytes_per_s * link.efficiency);
}

double inside_s(const Interconnect& link, CollectiveKind kind, int ranks, double payload) {
  const double ring = ring_s(link, kind, ranks, payload);
  if (link.in_switch_bytes_per_s == 0 || ranks == 1 || !serves(Algorithm::in_switch, kind)) return ring;
  const WireCost cost = wire_cost(kind, Algorithm::in_switch, ranks);
  const double in_switch =
      cost.steps * link.latency_s + cost.bytes_per_payload * payload / link.in_switch_bytes_per_s;
  return std::min(ring, in_switch);
}

}  // namespace

// On two levels an all_reduce is a reduce_scatter inside, an all_reduce of each shard between, an all_gather
// inside; the other two have one half of that.
LinkTimes link_times(const Levels& levels, CollectiveKind kind, double payload) {
  const Interconnect& inside = *levels.inside;
  LinkTimes times;
  times.document_s = payload / inside.headline_bytes_per_s;
  if (levels.between == nullptr) {
    times.wire_bytes = wire_bytes(kind, inside.algorithm, levels.per_host, payload);
    times.bound_s = times.wire_bytes / inside.bytes_per_s;
    times.expected_s = inside_s(inside, kind, levels.per_host, payload);
    return times;
  }
  const Interconnect& between = *levels.between;
  const double shard = payload / levels.per_host;
  times.wire_bytes = wire_bytes(kind, inside.algorithm, levels.per_host, payload);
  times.wire_bytes_between = wire_bytes(kind, between.algorithm, levels.hosts, shard);
  times.bound_s =
      std::max(times.wire_bytes / inside.bytes_per_s, times.wire_bytes_between / between.bytes_per_s);
  times.expected_s =
      ring_s(inside, kind, levels.per_host, payload) + ring_s(between, kind, levels.hosts, shard);
  return times;
}

}  // namespace tpc::bench
