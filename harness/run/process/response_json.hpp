// SPDX-License-Identifier: Apache-2.0
// What an outside process answers: harness/adapters/README.md. Everything is checked; what does not hold is
// named.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "harness/run/process/safetensors.hpp"
#include "harness/values/implementation.hpp"

namespace tpc {

inline constexpr int protocol_version = 1;

// An answer that is not as the protocol has it.
class MalformedAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ChildIdentity {
  std::string name;
  std::string version;
};
ChildIdentity identity_of(const std::string& line);

// A rank's place in the mesh that was asked about.
struct MeshPlace {
  int rank = 0;
  int ranks = 1;
};

struct ChildAnswer {
  Response response;
  bool idle = false;  // of a rank that is not in the mesh
};
// `read` opens the file of answers; called where the answer speaks of tensors.
using ReadTensors = std::function<NamedTensors()>;
ChildAnswer answer_of(const std::string& line, int id, const MeshPlace& place, const ReadTensors& read);

}  // namespace tpc
