// SPDX-License-Identifier: Apache-2.0
// Links as data, and how long a collective takes on one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/cost_model/wire.hpp"

namespace tpc::bench {

struct Interconnect {
  std::string name;
  std::string title;
  std::string source;                // of the figures
  double bytes_per_s = 0;            // one direction, per rank
  double headline_bytes_per_s = 0;   // what texts divide by
  double efficiency = 1;             // share of bytes_per_s that large messages reach
  double latency_s = 0;              // per step
  double in_switch_bytes_per_s = 0;  // 0: the switch does not reduce
  Algorithm algorithm = Algorithm::ring;
  int ranks = 0;       // that one such link joins; 0: any number
  std::string beyond;  // the link between groups of `ranks`
};

// Throws UsageError that names the file and the key.
std::vector<Interconnect> read_interconnects(const std::filesystem::path& file);
const Interconnect& interconnect_named(const std::vector<Interconnect>& all, const std::string& name);

// Ranks of a group, seen as `hosts` groups of `per_host` joined by a fast link inside and a slower one
// between.
struct Levels {
  int per_host = 1;
  int hosts = 1;
  const Interconnect* inside = nullptr;
  const Interconnect* between = nullptr;  // null where one host is enough
};
// Throws Refusal where the ranks cannot fill the hosts evenly.
Levels levels_of(const std::vector<Interconnect>& all, const Interconnect& link, int ranks);

struct LinkTimes {
  double document_s = 0;  // payload / headline rate: the document's formula
  double bound_s = 0;  // wire bytes of the algorithm at the link's full rate, no latency; levels run at once
  double expected_s =
      0;  // with efficiency and latency, levels one after the other; in the switch where that wins
  double wire_bytes = 0;  // sent by a rank over the inner link
  double wire_bytes_between = 0;
};
LinkTimes link_times(const Levels& levels, CollectiveKind kind, double payload);

}  // namespace tpc::bench
