// SPDX-License-Identifier: Apache-2.0
// The seam to whatever is judged.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/values/request.hpp"
#include "reference/comm/trace.hpp"
#include "reference/mesh/placement.hpp"

namespace tpc {

// A piece of a global tensor as one rank holds it. Two of one name may share a local tensor (a fused weight).
struct LocalTensor {
  std::string
      name;     // as in baseline/baseline.hpp: "y", "dx", "grad.fc1.weight", "loss"; "out"; "coordinates"
  Tensor data;  // on the host
  Placement placement;
};

// A tensor that is kept between forward and backward.
struct SavedTensor {
  std::string name;
  DType dtype;
  Shape shape;
  std::int64_t bytes = 0;
  const void* elements = nullptr;  // equal where two names share their elements; of no other meaning
};

// What a transport's own counter saw of one request, by operation and communicator: "all_reduce tp".
struct CountedCall {
  std::int64_t calls = 0;
  std::int64_t payload = 0;  // bytes of the full tensor
  bool operator==(const CountedCall&) const = default;
};
using CountedCalls = std::map<std::string, CountedCall>;

struct Response {
  enum class Status {
    result,
    refused,      // this configuration, with the reason, before any collective
    unsupported,  // this feature
    error         // it failed
  };
  Status status = Status::error;
  std::string reason;
  std::vector<LocalTensor> tensors;
  Trace trace;
  std::int64_t saved_bytes = 0;    // kept for backward, as reported; shared elements count once
  std::int64_t live_bytes = 0;     // what forward left behind at the allocator, apart from its output
  std::vector<SavedTensor> saved;  // the report in detail
  std::vector<double> seconds;     // of each sample on this rank, where the request asks for them
  // Whether the implementation says anything at all about its calls and about what it keeps.
  bool reports_calls = true;
  bool reports_memory = true;
  std::optional<CountedCalls> counted;
};

class Implementation {
 public:
  Implementation() = default;
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  virtual ~Implementation() = default;

  virtual std::string name() const = 0;  // as --implementation spells it
  // As it calls itself, with its version, once it was made ready.
  virtual std::string identity() const { return name(); }
  // Called by every rank of the world before each case. What broke in the case before is made anew here.
  virtual void make_ready() {}
  // Called instead of `run` by a rank of the world that is not among `ranks`, of whom the first `members`
  // are.
  virtual Response stand_by(const Request& request, int members);
  // Called by every rank of `ranks`, whose size is the mesh's. Verdicts on the implementation are responses;
  // only the transport's DeadlineExceeded and Abandoned, and EnvironmentError, are thrown.
  virtual Response run(const Request& request, const CommunicatorPtr& ranks) = 0;
};

}  // namespace tpc
