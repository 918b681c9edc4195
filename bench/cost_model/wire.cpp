// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/wire.hpp"

#include <bit>
#include <cmath>

namespace tpc::bench {

namespace {

WireCost ring_cost(CollectiveKind kind, int ranks) {
  const double share = (ranks - 1.0) / ranks;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return {2.0 * (ranks - 1), 2 * share, share};
    case CollectiveKind::reduce_scatter:
      return {ranks - 1.0, share, share};
    case CollectiveKind::broadcast:
      return {ranks - 1.0, 1, 0};  // passed along the ring in small pieces
    default:
      return {ranks - 1.0, share, 0};
  }
}

// Two trees carry half of the payload each, and an inner node of one is a leaf of the other. Up: every rank
// sends both halves but roots; down: inner nodes send a half to two children. With two ranks each is the root
// of one.
WireCost tree_cost(CollectiveKind kind, int ranks) {
  const double depth = std::ceil(std::log2(ranks));
  if (kind == CollectiveKind::broadcast) return {depth, 1, 0};
  return {2 * depth, ranks == 2 ? 1.0 : 2.0, 1};
}

// Ranks beyond the largest power of two hand their operand to a partner first and get the result from it
// last.
WireCost doubling_cost(CollectiveKind kind, int ranks) {
  const int rounds = std::bit_width(static_cast<unsigned>(ranks)) - 1;
  const bool even = std::has_single_bit(static_cast<unsigned>(ranks));
  const double share = (ranks - 1.0) / ranks;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return {rounds + (even ? 0.0 : 2.0), rounds + (even ? 0.0 : 1.0), rounds + (even ? 0.0 : 1.0)};
    case CollectiveKind::reduce_scatter:
      return {std::ceil(std::log2(ranks)), share, share};
    default:
      return {std::ceil(std::log2(ranks)), share, 0};
  }
}

}  // namespace

Algorithm algorithm_named(std::string_view wanted) {
  std::string known;
  for (const Algorithm algorithm : every<Algorithm>()) {
    if (name(algorithm) == wanted) return algorithm;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name(algorithm));
  }
  throw UsageError(fmt::format("unknown algorithm '{}'; known: {}", wanted, known));
}

bool serves(Algorithm algorithm, CollectiveKind kind) {
  switch (algorithm) {
    case Algorithm::payload:
    case Algorithm::ring:
      return kind != CollectiveKind::point_to_point;
    case Algorithm::tree:
      return kind == CollectiveKind::all_reduce || kind == CollectiveKind::broadcast;
    case Algorithm::recursive_doubling:
      return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
             kind == CollectiveKind::reduce_scatter;
    case Algorithm::in_switch:
      return kind == CollectiveKind::all_reduce;
  }
  return false;
}

WireCost wire_cost(CollectiveKind kind, Algorithm algorithm, int ranks) {
  TPC_EXPECT(serves(algorithm, kind), "{} does not serve {}", name(algorithm), tpc::name(kind));
  TPC_EXPECT(ranks > 0, "{} ranks", ranks);
  if (algorithm == Algorithm::payload) return {0, 1, 0};
  if (ranks == 1) return {};
  switch (algorithm) {
    case Algorithm::tree:
      return tree_cost(kind, ranks);
    case Algorithm::recursive_doubling:
      return doubling_cost(kind, ranks);
    case Algorithm::in_switch:
      return {1, (ranks + 1.0) / ranks, 0};
    default:
      return ring_cost(kind, ranks);
  }
}

double wire_bytes(CollectiveKind kind, Algorithm algorithm, int ranks, double payload) {
  return wire_cost(kind, algorithm, ranks).bytes_per_payload * payload;
}

double bus_bandwidth(CollectiveKind kind, int ranks, double payload, double seconds) {
  TPC_EXPECT(ranks > 1, "bus bandwidth of {} on {} rank: nothing is sent", tpc::name(kind), ranks);
  return wire_bytes(kind, Algorithm::ring, ranks, payload) / seconds;
}

}  // namespace tpc::bench
