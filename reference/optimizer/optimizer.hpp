// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "reference/parameters/gradients.hpp"
#include "reference/parameters/loading.hpp"

namespace tpc {

// What a checkpoint needs to go on as if uninterrupted. Tensors are laid out as the local parameter they
// belong to.
struct OptimizerState {
  std::int64_t steps = 0;
  std::map<std::string, Tensor> tensors;  // "momentum blocks.0.mlp.fc1.weight"
};

// Updates are element-wise, so shards are updated as the whole would be and nothing communicates. Replicated
// parameters stay equal because their gradients are.
class Optimizer {
 public:
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  // Every parameter must have its finished gradient, of whatever dtype. On the host.
  virtual void step(Compute& compute, const Parameters& params, const Gradients& gradients) = 0;

  virtual OptimizerState state() const = 0;  // a copy
  virtual void restore(const OptimizerState& state) = 0;
};

// Arithmetic is carried out in the wider of the state's and the parameter's dtype, f32 at least. `states` is
// f32 or f64.

// b = momentum·b + g, from b = 0; parameter -= lr·b. Polyak's heavy ball as torch.optim.SGD has it, without
// dampening: lr is outside of b.
struct SgdOptions {
  double lr = 1;
  double momentum = 0;  // 0 keeps no state
};
std::unique_ptr<Optimizer> make_sgd(const SgdOptions& options, DType states);

// Adam (Kingma, Ba, arXiv 1412.6980) with decoupled weight decay (Loshchilov, Hutter, arXiv 1711.05101), as
// torch.optim.AdamW has it, at step t = 1, 2, ...:
//   parameter -= lr·decay·parameter
//   m = beta1·m + (1 - beta1)·g;  v = beta2·v + (1 - beta2)·g²
//   parameter -= lr · m/(1 - beta1^t) / (sqrt(v/(1 - beta2^t)) + eps)
// All parameters decay alike. Throws UsageError for an eps below 1e-8, with which rounding decides the update
// where g is near zero.
struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
};
std::unique_ptr<Optimizer> make_adamw(const AdamWOptions& options, DType states);

}  // namespace tpc
