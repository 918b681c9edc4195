// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/core/definitions.hpp"

namespace tpc::baseline {

double gelu(GeluForm form, double x);
double gelu_slope(GeluForm form, double x);  // its derivative
double silu(double x);
double silu_slope(double x);

}  // namespace tpc::baseline
