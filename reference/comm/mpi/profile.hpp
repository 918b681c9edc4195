// SPDX-License-Identifier: Apache-2.0
// An independent count of what goes out: the MPI profiling layer (MPI standard, "Profiling Interface") sees
// every call that this process makes, whoever makes it, and knows nothing of traces. Calls are attributed by
// the name of their communicator, so that set-up and the harness's own traffic can be told from the
// implementation's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tpc {

struct MpiCount {
  std::int64_t calls = 0;
  std::int64_t payload = 0;  // bytes of the full tensor, as in comm/trace.hpp; of a message, its bytes
  bool operator==(const MpiCount&) const = default;
};

// By "operation name-of-the-communicator": "all_reduce tp". Blocking and non-blocking forms count alike.
using MpiCounts = std::map<std::string, MpiCount>;

// Of this process so far. Not thread-safe: MPI is called by one thread.
MpiCounts mpi_counts();
// What was added between two snapshots.
MpiCounts difference(const MpiCounts& before, const MpiCounts& after);

}  // namespace tpc
