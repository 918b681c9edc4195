// SPDX-License-Identifier: Apache-2.0
#include "reference/parameters/gradients.hpp"

#include <algorithm>

namespace tpc {

namespace {

Tensor converted(Compute& compute, const Tensor& gradient, DType dtype) {
  if (gradient.dtype() == dtype) return gradient;
  const Tensor wide = compute.allocate(dtype, gradient.shape(), "gradient");
  compute.copy(wide, gradient);
  return wide;
}

}  // namespace

Gradients::Gradients(std::vector<ParameterSpec> specs, const Options& options)
    : specs_(std::move(specs)), sums_in_(options.sums), due_(pending_groups(specs_)) {
  for (const ParameterSpec& spec : specs_) missing_[spec.name] = spec.uses * options.microbatches;
}

void Gradients::add(Compute& compute, const std::string& name, const Tensor& gradient) {
  const auto missing = missing_.find(name);
  TPC_EXPECT(missing != missing_.end(), "a gradient of {}, which is no parameter here", name);
  TPC_EXPECT(missing->second > 0, "one gradient of {} too many", name);
  const Tensor term = converted(compute, gradient, sums_in_.value_or(gradient.dtype()));
  const auto [place, is_first] = sums_.try_emplace(name, term);
  if (!is_first) compute.add(place->second, place->second, term);
  if (--missing->second == 0 && on_final) on_final(name);
}

const Tensor& Gradients::at(const std::string& name) const {
  const auto missing = missing_.find(name);
  TPC_EXPECT(missing != missing_.end(), "no gradient of {}", name);
  TPC_EXPECT(missing->second == 0, "{} gradients of {} are missing", missing->second, name);
  return sums_.at(name);
}

void Gradients::settle(const PendingGroup& group) {
  const auto found = std::find(due_.begin(), due_.end(), group);
  TPC_EXPECT(found != due_.end(), "no sum over {} is due", tpc::name(group.axis));
  due_.erase(found);
}

}  // namespace tpc
