// SPDX-License-Identifier: Apache-2.0
// An implementation and an oracle that do as a test says. For tests alone.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "harness/judge/oracle.hpp"
#include "harness/values/implementation.hpp"

namespace tpc {

class FakeImplementation : public Implementation {
 public:
  using Run = std::function<Response(const Request&, Communicator&)>;
  explicit FakeImplementation(Run run) : run_(std::move(run)) {}
  std::string name() const override { return "fake"; }
  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    return run_(request, *ranks);
  }

 private:
  Run run_;
};

// One tensor of one element. Anything but 1 is wrong.
inline Response answer(double value) {
  LocalTensor tensor{"y", host_tensor(DType::f64, {1}), replicate({1})};
  *tensor.data.data<double>() = value;
  Response response;
  response.status = Response::Status::result;
  response.tensors.push_back(tensor);
  return response;
}

inline Response respond(Response::Status status, const std::string& reason) {
  Response response;
  response.status = status;
  response.reason = reason;
  return response;
}

class FakeOracle : public Oracle {
 public:
  void prepare(std::span<const Case* const> wanted, Implementation&,
               std::chrono::steady_clock::time_point) override {
    sizes.push_back(wanted.size());
    if (on_prepare) on_prepare();
    known_.clear();
    for (const Case* c : wanted) known_.insert(key(c->request.problem));
  }
  bool has(const Case& c) const override { return known_.contains(key(c.request.problem)); }
  std::string defect(const Case& c) const override { return c.name == "defect" ? "beyond 2^53" : ""; }
  const ExpectedTensors& expected(const Case&) const override { return expected_; }
  Comparison judge(const Case&, const std::vector<LocalTensor>& got, Communicator& ranks) override {
    const Tensor worst = host_tensor(DType::f64, {1});
    *worst.data<double>() = got.at(0).data.data<double>()[0];
    ranks.all_reduce(worst, worst, ReduceOp::max);
    const double value = *worst.data<double>();
    return {value == 1 ? Verdict::pass : Verdict::fail, value, "y", value == 1 ? "" : "y[0] expected 1"};
  }

  std::vector<std::size_t> sizes;  // of each call's list
  std::function<void()> on_prepare;

 private:
  std::set<std::string> known_;
  ExpectedTensors expected_;
};

// A problem of its own for each seed.
inline Case fake_case(const std::string& name, int ranks, std::uint64_t problem = 0) {
  Case c;
  c.suite = "fake";
  c.name = name;
  c.request.mesh = {{ranks}, {"tp"}};
  c.request.problem.seed = problem;
  return c;
}

}  // namespace tpc
