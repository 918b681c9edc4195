// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/dropout.hpp"

#include <utility>

namespace tpc::baseline {

namespace {

void drop_unkept(Values& values, const Values& mask, double rate) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    TPC_EXPECT(mask[i] == 0 || mask[i] == 1, "a mask holds {} at element {}", mask[i], i);
    values[i] = mask[i] == 0 ? 0 : values[i] / (1 - rate);
  }
}

}  // namespace

Dropout::Dropout(Scope scope, const std::string& site, double rate)
    : scope_(std::move(scope)), mask_("mask." + site), rate_(rate) {
  TPC_EXPECT(rate >= 0 && rate < 1, "{} with the drop rate {}", mask_, rate);
}

Values Dropout::apply(Values x, const Shape& shape) const {
  if (!active()) return x;
  drop_unkept(x, scope_.input(mask_, shape), rate_);
  scope_.stored("dropped." + mask_, x);
  return x;
}

// Terms whose factor is no power of two have been rounded, which the account of what is stored tells.
Terms Dropout::apply(Terms x, const Shape& shape) const {
  if (!active()) return x;
  x.value = apply(std::move(x.value), shape);
  if (!x.magnitudes.empty()) drop_unkept(x.magnitudes, scope_.input(mask_, shape), rate_);
  x.unit /= 1 - rate_;
  return x;
}

}  // namespace tpc::baseline
