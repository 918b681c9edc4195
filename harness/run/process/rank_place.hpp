// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>

namespace tpc {

// What an implementation that is made of one process per rank has to know of them.
struct RankPlace {
  int rank = 0;
  int ranks = 1;
  std::filesystem::path folder = {};           // shared by all of them, private to the run, empty at first
  std::chrono::milliseconds deadline{30'000};  // of an answer
  std::chrono::milliseconds start_deadline{120'000};  // until a process is ready to be asked
};

}  // namespace tpc
