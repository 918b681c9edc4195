// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/dry_run.hpp"

#include "harness/run/reference/reference_run.hpp"
#include "reference/comm/dry_run/dry_run.hpp"
#include "reference/tensor_parallel/requirements.hpp"

namespace tpc {

Response dry_run(const Request& request, int rank) {
  const Problem& problem = request.problem;
  require_splittable(problem.operation(), problem.model, request.sharding, problem.sequence,
                     request.mesh.ranks());
  const auto compute = make_shape_only_compute();
  return ReferenceRun(request, make_dry_run_world(rank, request.mesh.ranks()), *compute).run();
}

Volume volume_of(const Trace& trace, const std::string& layer_prefix) {
  Volume sum;
  for (const TraceRow& row : trace)
    if (row.layer.starts_with(layer_prefix)) {
      ++sum.calls;
      sum.payload += row.payload;
      sum.ring_wire += row.ring_wire;
    }
  return sum;
}

}  // namespace tpc
