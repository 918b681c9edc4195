// SPDX-License-Identifier: Apache-2.0
// Small problems for the tests of this folder, with inputs that any program can make to the bit.
#pragma once

#include <string>
#include <vector>

#include "reference/baseline/baseline.hpp"

namespace tpc::baseline {

struct Sample {
  std::string name;
  Operation operation = Operation::mlp;
  ModelConfig config;
  std::int64_t sequence = 3;
  std::int64_t batch = 2;
};

// Element i of the input `name` is ((31·i² + 17·i + h) mod 257 - 128)/128 with h = Σ_p (p+1)·code(name[p]);
// gains are moved by 1. ids and targets are (3·i + h) mod V; where `ignored` and i mod 4 is 1, the target is
// the ignore index. A mask is given for each site with a drop rate p: 1 where the residue above is at least
// round(257·p), else 0.
Inputs sample_inputs(const Sample& sample);

// Every operation with every definition, at small odd sizes.
std::vector<Sample> samples();

}  // namespace tpc::baseline
