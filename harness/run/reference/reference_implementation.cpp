// SPDX-License-Identifier: Apache-2.0
#include "harness/run/implementations.hpp"
#include "harness/run/reference/collective_runner.hpp"
#include "harness/run/reference/reference_run.hpp"
#include "harness/values/parallelism.hpp"
#include "reference/tensor_parallel/requirements.hpp"

namespace tpc {

namespace {

constexpr std::string_view plain_name = "reference";
constexpr std::string_view with_faults = "reference+fault:";

class ReferenceImplementation : public Implementation {
 public:
  explicit ReferenceImplementation(const FaultSet& faults) : faults_(faults) {}

  std::string name() const override {
    return faults_.empty() ? std::string(plain_name) : std::string(with_faults) + names_of(faults_);
  }

  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    try {
      if (request.problem.collective() != nullptr) return run_collective(request, ranks, faults_);
      if (request.problem.mesh() != nullptr) return run_mesh(request, ranks);
      validate(request.mesh, ranks->size());
      const int tp = parallelism_of(request.mesh).tp;
      if (tp == 0)
        throw Refusal(fmt::format("mesh {} has no axis 'tp': name one axis so", to_string(request.mesh)));
      make_parts(faults_)->require_splittable(request.problem.operation(), request.problem.model,
                                              request.sharding, request.problem.sequence, tp);
      return ReferenceRun(request, ranks, *compute_, faults_).run();
    } catch (const Refusal& refusal) {
      Response refused;
      refused.status = Response::Status::refused;
      refused.reason = refusal.what();
      return refused;
    }
  }

 private:
  FaultSet faults_;
  std::unique_ptr<Compute> compute_ = make_host_compute();
};

}  // namespace

std::unique_ptr<Implementation> make_reference_implementation(const FaultSet& faults) {
  return std::make_unique<ReferenceImplementation>(faults);
}

}  // namespace tpc
