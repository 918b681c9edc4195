// SPDX-License-Identifier: Apache-2.0
#include "harness/collective_runner.hpp"
#include "harness/implementation.hpp"
#include "harness/reference_run.hpp"
#include "reference/tensor_parallel/requirements.hpp"

namespace tpc {

namespace {

class ReferenceImplementation : public Implementation {
 public:
  std::string name() const override { return "reference"; }

  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    try {
      if (request.problem.kind == Problem::Kind::collective) return run_collective(request, ranks);
      if (request.problem.kind == Problem::Kind::mesh) return run_mesh(request, ranks);
      validate(request.mesh, ranks->size());
      const int tp = tp_degree(request.mesh);
      require_splittable(request.problem.operation, request.problem.model, request.sharding,
                         request.problem.sequence, tp);
      return ReferenceRun(request, ranks, *compute_).run();
    } catch (const Refusal& refusal) {
      Response refused;
      refused.status = Response::Status::refused;
      refused.reason = refusal.what();
      return refused;
    }
  }

 private:
  static int tp_degree(const MeshSpec& mesh) {
    for (std::size_t i = 0; i < mesh.axes.size(); ++i)
      if (mesh.axes[i] == "tp") return mesh.shape[i];
    throw Refusal(fmt::format("mesh {} has no axis 'tp': name one axis so", to_string(mesh)));
  }

  std::unique_ptr<Compute> compute_ = make_host_compute();
};

}  // namespace

std::unique_ptr<Implementation> make_reference_implementation() {
  return std::make_unique<ReferenceImplementation>();
}

std::unique_ptr<Implementation> make_implementation(std::string_view name) {
  if (name == "reference") return make_reference_implementation();
  throw UsageError(fmt::format("unknown implementation '{}'; known: reference", name));
}

}  // namespace tpc
