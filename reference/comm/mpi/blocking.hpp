// SPDX-License-Identifier: Apache-2.0
// For measuring: MPI's blocking calls, without deadlines and without the tests in between that cost a
// microsecond and more. A rank that does not come hangs the others, so whoever uses this needs another way to
// notice.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "reference/comm/communicator.hpp"

namespace tpc {

// When an operation is over: when its start returns; or, of all_gather and reduce_scatter, at its wait. These
// two then are one message to and from each other rank, so that the network works on its own from start to
// wait; where MPI has to lend a hand, it does so in poll.
enum class OverAt { start, wait };

// All ranks of a session (mpi.hpp), which must exist. Collective. Abort ends the whole MPI job.
CommunicatorPtr make_blocking_mpi_world(const std::string& name, OverAt over = OverAt::start);

// Collective over all ranks. Ranks that come early sleep in between, so that they leave their core to those
// who are still measuring.
void rest_until_all_arrive(std::chrono::milliseconds nap);

// The same collective by bare MPI calls in a bare loop, to compare with: the largest over `ranks`, the first
// so many of the world, of the mean time in seconds of `calls` calls. Those ranks call it together.
struct BareLoop {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::vector<Tensor> in;  // sets of buffers that the calls take in turn
  std::vector<Tensor> out;
  int calls = 1;
};
class BareMpi {
 public:
  explicit BareMpi(int ranks);  // collective over the world
  ~BareMpi();
  BareMpi(const BareMpi&) = delete;
  BareMpi& operator=(const BareMpi&) = delete;
  double seconds(const BareLoop& loop) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tpc
