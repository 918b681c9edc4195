// SPDX-License-Identifier: Apache-2.0
// The initial value of every parameter, as data, and its placing on the ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/core/definitions.hpp"
#include "reference/random/draws.hpp"
#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

// Which dim of a parameter tensor parallelism cuts: rows of column linears and of vocabulary tables, columns
// of row linears.
enum class TpCut { none, rows, columns };

struct InitRule {
  std::string parameter;  // canonical, as in baseline/baseline.hpp
  Shape shape;            // of the whole tensor
  double mean = 0;        // the value itself where std is 0
  double std = 0;
  bool by_fan_in = false;  // std is made for the features of the whole weight
  TpCut cut = TpCut::none;
};

// fixed: one std for all weights (0.02: GPT-2, Radford et al. 2019). inverse_root_fan_in: 1/sqrt(in features
// of the whole weight) for linears and the head; the tables keep the fixed one.
enum class WeightScale { fixed, inverse_root_fan_in };
struct InitOptions {
  WeightScale scale = WeightScale::fixed;
  double std = 0.02;
};

// Weights are normal with mean 0; the two projections that end on the residual (attention.out, mlp.fc2 or
// mlp.down) have their std divided by sqrt(2·layers), so that the residual does not grow with depth (GPT-2).
// Norm gains are 1, all biases 0.
std::vector<InitRule> initialisation_rules(Operation operation, const ModelConfig& config,
                                           const InitOptions& options = {});

// How the tp ranks hold one part of a local parameter, in the part's own rows.
DrawLayout part_layout(const ParameterSpec& spec, const ParameterPart& part, const InitRule& rule,
                       const Coordinate& tp);

// This rank's parameters, drawn in the order of the specifications. Padding is zero.
Parameters initialise(Compute& compute, RandomStreams& streams, const std::vector<ParameterSpec>& specs,
                      const std::vector<InitRule>& rules, DType dtype, const LayerPlan& plan);

}  // namespace tpc
