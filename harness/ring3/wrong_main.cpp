// SPDX-License-Identifier: Apache-2.0
// tp_conformance as it is, with an implementation that is wrong only where several things come together: what
// the search for the smallest failure is tested with.
#include "harness/conformance.hpp"
#include "harness/fakes.hpp"
#include "suites/suites.hpp"

namespace tpc {
namespace {

// The reference, but for one element of y on rank 1: only beyond one rank, with a bias, and from three tokens
// on.
class Wrong : public Implementation {
 public:
  std::string name() const override { return "wrong"; }
  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    Response response = reference_->run(request, ranks);
    const Problem& problem = request.problem;
    const bool wrong = ranks->rank() == 1 && problem.model.mlp_bias && problem.batch * problem.sequence > 2;
    for (LocalTensor& tensor : response.tensors)
      if (wrong && tensor.name == "y" && tensor.data.count() > 0)
        visit_float(tensor.data.dtype(), [&](auto zero) {
          using T = decltype(zero);
          tensor.data.data<T>()[0] = static_cast<T>(static_cast<float>(tensor.data.data<T>()[0]) + 1);
        });
    return response;
  }

 private:
  std::unique_ptr<Implementation> reference_ = make_reference_implementation();
};

}  // namespace
}  // namespace tpc

int main(int argc, char** argv) {
  tpc::Program program;
  program.suites = tpc::all_suites;
  program.implementation = [](std::string_view name) -> std::unique_ptr<tpc::Implementation> {
    if (name == "wrong") return std::make_unique<tpc::Wrong>();
    return tpc::make_implementation(name);
  };
  return tpc::conformance_main(argc, argv, program);
}
