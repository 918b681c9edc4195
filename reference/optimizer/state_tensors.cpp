// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/state_tensors.hpp"

#include <cstring>

namespace tpc {

StateTensors::StateTensors(DType dtype) : dtype_(dtype) {
  if (dtype != DType::f32 && dtype != DType::f64)
    throw UsageError(fmt::format("optimizer states of {}: f32 or f64", name(dtype)));
}

Tensor StateTensors::of(Compute& compute, const std::string& kind, const std::string& parameter,
                        const Tensor& like) {
  const std::string name = kind + " " + parameter;
  auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    found = tensors_.emplace(name, compute.allocate(dtype_, like.shape(), name)).first;
    compute.fill(found->second, 0);
  }
  TPC_EXPECT(found->second.shape() == like.shape(), "{} is {}, its parameter {}", name,
             to_string(found->second.shape()), to_string(like.shape()));
  return found->second;
}

namespace {

std::map<std::string, Tensor> copied_tensors(const std::map<std::string, Tensor>& tensors) {
  std::map<std::string, Tensor> copies;
  for (const auto& [name, tensor] : tensors) {
    const Tensor copy = host_tensor(tensor.dtype(), tensor.shape(), name);
    if (tensor.bytes() > 0) std::memcpy(copy.raw(), tensor.raw(), tensor.bytes());
    copies.emplace(name, copy);
  }
  return copies;
}

}  // namespace

std::map<std::string, Tensor> StateTensors::copy() const { return copied_tensors(tensors_); }

void StateTensors::restore(const std::map<std::string, Tensor>& tensors) {
  for (const auto& [name, tensor] : tensors)
    TPC_EXPECT(tensor.dtype() == dtype_, "{} is {}, states are {}", name, tpc::name(tensor.dtype()),
               tpc::name(dtype_));
  tensors_ = copied_tensors(tensors);
}

Update checked_update(Compute& compute, const std::string& name, const Tensor& parameter,
                      const Gradients& gradients, DType states) {
  TPC_EXPECT(compute.place() == Place::host, "an optimizer on {}", tpc::name(compute.place()));
  const Tensor& gradient = gradients.at(name);
  TPC_EXPECT(gradients.due().empty(), "a step with gradients of which sums over {} are due",
             tpc::name(gradients.due().front().axis));
  TPC_EXPECT(gradient.shape() == parameter.shape(), "{} is {}, its gradient {}", name,
             to_string(parameter.shape()), to_string(gradient.shape()));
  const DType arithmetic = parameter.dtype() == DType::f64 || states == DType::f64 ? DType::f64 : DType::f32;
  if (gradient.dtype() == arithmetic) return {parameter, gradient};
  const Tensor converted = compute.allocate(arithmetic, gradient.shape(), "gradient");
  compute.copy(converted, gradient);
  return {parameter, converted};
}

}  // namespace tpc
