// SPDX-License-Identifier: Apache-2.0
// A request as an outside process reads it: harness/adapters/README.md.
#pragma once

#include <string>
#include <vector>

#include "harness/values/request.hpp"

namespace tpc {

// What is told besides the request itself.
struct RequestEnvelope {
  int id = 0;
  std::vector<int> ranks;  // of the world, in the order of the mesh
  int rank = -1;           // in the mesh; -1: not in it
  std::string inputs;      // path of the file with all inputs, whole
  std::string answer;      // path of the file that the answer's tensors go into
};

// One line, no line break at the end.
std::string to_json(const Request& request, const RequestEnvelope& envelope);

}  // namespace tpc
