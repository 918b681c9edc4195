// SPDX-License-Identifier: Apache-2.0
// Who sent what, where and when. A traced communicator wraps any other and writes one row per call. Groups of
// size 1 send nothing and leave no row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/comm/communicator.hpp"
#include "reference/core/words.hpp"

namespace tpc {

enum class Phase { build, load, forward, backward, finalise, step, other };
constexpr auto words(Phase) {
  return spelling("build", "load", "forward", "backward", "finalise", "step", "other");
}

// Where in the computation a rank is; read by the trace, the random streams and the fault points.
struct Site {
  std::string layer;      // "blocks.0.mlp"
  std::string operation;  // the region or reduction: "reduce_from_tp"
  Phase phase = Phase::other;
  int microbatch = 0;
  int step = 0;
};

struct TraceRow {
  CollectiveKind kind;
  ReduceOp op;       // of reductions
  std::string axis;  // the communicator's name
  int group_size;
  std::string layer;
  std::string operation;
  Phase phase;
  std::int64_t count;  // elements passed to the call, as MPI and NCCL define it
  DType dtype;
  std::int64_t payload;  // bytes of the full tensor
  double ring_wire;      // bytes a rank sends under the ring algorithm; of what it receives, none
  struct Direction {
    Message::Way way;
    int peer;  // in the group
    bool operator==(const Direction&) const = default;
  };
  std::optional<Direction> message = {};  // of point_to_point, a row each
  bool operator==(const TraceRow&) const = default;
};

using Trace = std::vector<TraceRow>;

// Borrows site and trace, which must outlive the result and everything split from it.
CommunicatorPtr make_traced(CommunicatorPtr inner, const Site& site, Trace& trace);

}  // namespace tpc
