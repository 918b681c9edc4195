// SPDX-License-Identifier: Apache-2.0
// tp_conformance as it is, with an implementation that is wrong only where several things come together: what
// the search for the smallest failure is tested with.
#include <set>

#include "harness/front/conformance.hpp"
#include "harness/run/implementations.hpp"
#include "harness/run/runner/fakes.hpp"
#include "suites/suites.hpp"

namespace tpc {
namespace {

// The reference, but for the first element of some tensors on rank 1: only beyond one rank, with a bias, and
// from three tokens on.
class Wrong : public Implementation {
 public:
  Wrong(std::string name, std::set<std::string> tensors)
      : name_(std::move(name)), tensors_(std::move(tensors)) {}
  std::string name() const override { return name_; }
  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    Response response = reference_->run(request, ranks);
    const Problem& problem = request.problem;
    const bool wrong = ranks->rank() == 1 && problem.model.mlp_bias && problem.batch * problem.sequence > 2;
    for (LocalTensor& tensor : response.tensors)
      if (wrong && tensors_.contains(tensor.name) && tensor.data.count() > 0) add_one(tensor);
    return response;
  }

 private:
  static void add_one(LocalTensor& tensor) {
    visit_float(tensor.data.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T& first = tensor.data.data<T>()[0];
      first = static_cast<T>(static_cast<float>(first) + 1);
    });
  }

  std::string name_;
  std::set<std::string> tensors_;
  std::unique_ptr<Implementation> reference_ = make_reference_implementation();
};

Suspect suspect(const std::string& id, const std::set<std::string>& tensors) {
  return {id, "one element is off", "nobody/nothing #1", false,
          [id, tensors] { return std::make_unique<Wrong>(id, tensors); }};
}

std::unique_ptr<Implementation> make_careless() {
  return make_reference_implementation(faults_named("TP-76"));
}

std::vector<Suspect> suspects(const Request&) {
  return {suspect("W-1", {"y"}),
          suspect("W-2", {"grad.bias"}),
          {"W-3", "what does not split is accepted", "nobody/nothing #2", false, make_careless}};
}

}  // namespace
}  // namespace tpc

int main(int argc, char** argv) {
  tpc::Program program;
  program.suites = tpc::all_suites;
  program.implementation = [](std::string_view name,
                              const tpc::RankPlace& place) -> std::unique_ptr<tpc::Implementation> {
    if (name == "wrong") return std::make_unique<tpc::Wrong>("wrong", std::set<std::string>{"y"});
    if (name == "wrong_twice")
      return std::make_unique<tpc::Wrong>("wrong_twice", std::set<std::string>{"y", "grad.weight"});
    if (name == "careless") return tpc::make_careless();
    return tpc::make_implementation(name, place);
  };
  program.suspects = tpc::suspects;
  return tpc::conformance_main(argc, argv, program);
}
