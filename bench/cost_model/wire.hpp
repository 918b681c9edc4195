// SPDX-License-Identifier: Apache-2.0
// What a collective puts on the wire. The payload (bytes of the full tensor) is free of the algorithm and of
// the number of ranks; what a rank sends, and in how many steps that wait for each other, is not.
#pragma once

#include <string_view>

#include "reference/comm/communicator.hpp"
#include "reference/core/words.hpp"

namespace tpc::bench {

using tpc::name;

enum class Algorithm {
  payload,  // the payload once: the formula of texts that divide it by a headline rate; no algorithm does
            // this
  ring,
  tree,                // double binary tree (Sanders, Speck, Traeff, 2009), pipelined
  recursive_doubling,  // all_gather by doubling, reduce_scatter by halving
  in_switch            // the switch reduces and multicasts (NVLS, SHARP)
};
constexpr auto words(Algorithm) {
  return spelling("payload", "ring", "tree", "recursive_doubling", "in_switch");
}
Algorithm algorithm_named(std::string_view name);  // throws UsageError

// Of the rank that sends most.
struct WireCost {
  double steps = 0;                // each waits for the one before
  double bytes_per_payload = 0;    // sent, for each byte of payload
  double reduced_per_payload = 0;  // added up by the rank itself, for each byte of payload
};

bool serves(Algorithm algorithm, CollectiveKind kind);
// Nothing is sent on one rank. A ContractError where the algorithm does not serve the kind.
WireCost wire_cost(CollectiveKind kind, Algorithm algorithm, int ranks);
double wire_bytes(CollectiveKind kind, Algorithm algorithm, int ranks, double payload);

// Bus bandwidth, as nccl-tests defines it: the rate at which a ring of `ranks` would have to send. It is no
// utilisation where another algorithm is at work, and has no meaning on one rank, which is refused.
double bus_bandwidth(CollectiveKind kind, int ranks, double payload, double seconds);

}  // namespace tpc::bench
