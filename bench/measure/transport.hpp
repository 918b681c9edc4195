// SPDX-License-Identifier: Apache-2.0
// What messages between ranks really travel over, seen from outside: the counters of the network interfaces.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/run/implementations.hpp"
#include "reference/comm/communicator.hpp"

namespace tpc::bench {

// Bytes sent by each interface of this process's network namespace since it came up (the format of
// /proc/net/dev).
std::map<std::string, std::uint64_t> sent_bytes(const std::string& table);
std::map<std::string, std::uint64_t> sent_bytes();

// The interfaces over which at least half of `bytes` more were sent; "shm" where there is none.
std::string carrier(const std::map<std::string, std::uint64_t>& before,
                    const std::map<std::string, std::uint64_t>& after, std::uint64_t bytes);

struct RankPlaces {
  std::string transport;  // "none" on one rank; "shm", "tcp(lo)", "shm+tcp(veth0)"
  int hosts = 1;
  int most_on_a_machine = 1;            // hosts that are namespaces of one machine count together
  std::vector<std::string> host_names;  // by rank
};
// Collective. Each rank in turn sends to the next, while the others keep still.
RankPlaces places_of(Communicator& ranks);

}  // namespace tpc::bench
