// SPDX-License-Identifier: Apache-2.0
// `tp_conformance --ranks N`: starts itself under mpirun and turns what comes back into one of our exit
// codes.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tpc {

// Runs `program` (this executable) with these arguments, less --ranks, on so many ranks of this host. Leaves
// no process, segment or folder behind. Throws EnvironmentError where mpirun cannot be started.
int launch(int ranks, const std::vector<std::string>& arguments);

// What mpirun left: its exit code, or the signal that ended it.
struct LaunchResult {
  std::optional<int> noted;  // by the run itself before it ended
  int code = 0;              // of mpirun; 128 + signal for a lost rank
  bool interrupted = false;  // this process was told to end
};
int exit_code_of(const LaunchResult& result);

std::vector<std::string> without_ranks_option(const std::vector<std::string>& arguments);

}  // namespace tpc
