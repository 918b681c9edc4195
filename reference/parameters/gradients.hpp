// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reference/compute/compute.hpp"
#include "reference/parameters/parameter_spec.hpp"

namespace tpc {

// Where layers deliver gradients: sums them over the layers that share a parameter and over microbatches,
// knows when each is final on this rank, and which sums over ranks are still due then.
class Gradients {
 public:
  struct Options {
    std::optional<DType> sums = std::nullopt;  // dtype that is summed in; nothing: that of the gradients
    int microbatches = 1;                      // each delivers every gradient
  };
  explicit Gradients(std::vector<ParameterSpec> specs) : Gradients(std::move(specs), {}) {}
  Gradients(std::vector<ParameterSpec> specs, const Options& options);

  // Told once for each gradient that has become final, in the order in which they do.
  std::function<void(const std::string& name)> on_final;

  // More deliveries than a parameter has uses and microbatches are a ContractError.
  void add(Compute& compute, const std::string& name, const Tensor& gradient);

  const std::vector<ParameterSpec>& specs() const { return specs_; }
  // Only once it is final.
  const Tensor& at(const std::string& name) const;
  const std::map<std::string, Tensor>& all() const { return sums_; }

  // Groups of ranks over which sums are still due. Who has made a sum settles it.
  const std::vector<PendingGroup>& due() const { return due_; }
  void settle(const PendingGroup& group);
  void settle_all() { due_.clear(); }

 private:
  std::vector<ParameterSpec> specs_;
  std::optional<DType> sums_in_;
  std::map<std::string, int> missing_;  // deliveries
  std::map<std::string, Tensor> sums_;
  std::vector<PendingGroup> due_;
};

}  // namespace tpc
