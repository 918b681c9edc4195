// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reference/compute/compute.hpp"
#include "reference/mesh/placement.hpp"

namespace tpc {

// A canonical weight's share in a local tensor. A fused local tensor has several, e.g. q.weight, k.weight,
// v.weight.
struct ParameterPart {
  std::string canonical;
  Placement placement;
  // Axes over which this rank's gradient is still one term of a sum when backward ends.
  std::vector<Axis> gradient_pending_over = {};
  int copies = 1;  // neighbours on tp that hold the same elements: those of a kv head where K < T
};

struct ParameterSpec {
  std::string name;                  // of the local tensor
  Shape shape;                       // local
  std::vector<ParameterPart> parts;  // each a contiguous range of rows of the local tensor
};

bool is_pending_over(const ParameterPart& part, Axis axis);
bool holds_everything(const ParameterPart& part);  // of the canonical tensor

// The rows of a local tensor that belong to a part.
Tensor part_of(const Tensor& local, const ParameterPart& part);

// The local tensors of this rank, by name. They come with each call, so that their owner may shard or free
// them.
using Parameters = std::map<std::string, Tensor>;

// Receives each gradient once it needs nothing more from its layer. A second one of the same name (a tied
// weight, a further microbatch) is added.
class Gradients {
 public:
  void add(Compute& compute, const std::string& name, const Tensor& gradient);
  const Tensor& at(const std::string& name) const;
  const std::map<std::string, Tensor>& all() const { return tensors_; }

 private:
  std::map<std::string, Tensor> tensors_;
};

// Fills a block of a canonical tensor into `values` (row-major, the block's extent), in the parameter's
// dtype.
using WeightSource = std::function<Tensor(const std::string& canonical, const Block& block)>;

// Cuts this rank's local tensors out of the canonical weights; padding is zero.
Parameters load_parameters(Compute& compute, const std::vector<ParameterSpec>& specs, DType dtype,
                           const WeightSource& source);

}  // namespace tpc
