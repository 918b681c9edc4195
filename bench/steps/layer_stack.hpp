// SPDX-License-Identifier: Apache-2.0
// What a step computes: a stack of transformer layers on one rank, forward, backward, and the gradient sums
// that sequence parallelism or copied kv heads leave.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/values/request.hpp"
#include "reference/model/stage.hpp"

namespace tpc::bench {

using tpc::name;

// How a stack is cut, its degree aside.
struct Form {
  SequenceParallel sequence_parallel = SequenceParallel::off;
  int overlap_chunks = 1;  // above 1: collectives in so many chunks, overlapped with products
  bool overlaps() const { return overlap_chunks > 1; }
  bool operator==(const Form&) const = default;
};
std::string name(const Form& form);      // "off", "kept", "kept_overlap2"
Form form_named(std::string_view name);  // off where it is no form

struct StackShape {
  ModelConfig model;  // its `layers` are stacked
  std::int64_t batch = 1;
  std::int64_t sequence = 1;
  DType dtype = DType::f32;
  Form form = {};
};

// Of the shape's sizes; without inputs.
Problem problem_of(const StackShape& shape, Operation operation);

// Inputs x, dy and the weights of all blocks, as generators.
Problem stack_problem(const StackShape& shape);

// A tensor of the step with its place in the whole.
struct PlacedTensor {
  std::string name;  // "y", "dx", "blocks.0.mlp.fc1.weight"
  Tensor local;
  Placement placement;
};

class LayerStack {
 public:
  // Collective over ranks. Throws Refusal where the shape cannot be split over them. Draws weights and inputs
  // unless the compute stores nothing.
  LayerStack(const StackShape& shape, const CommunicatorPtr& ranks, Compute& compute);

  // One pass each; backward is of the last forward. Inputs come in `slots`.
  static constexpr int slots = 2;
  void forward(int slot);
  void backward(int slot);
  void finalise();

  const Trace& trace() const { return ctx_.trace(); }
  std::vector<PlacedTensor> outputs() const;                         // of what ran last: y; dx and gradients
  std::size_t saved_bytes() const { return result_.saved.bytes(); }  // until backward took it

 private:
  Placement token_layout() const;
  Tensor drawn(const std::string& name, const Placement& placement, int slot);

  StackShape shape_;
  Problem problem_;
  Context ctx_;
  Compute& compute_;
  Stage stage_;
  std::vector<ParameterSpec> specs_;
  HeldParameters parameters_;
  std::vector<Tensor> x_;
  std::vector<Tensor> dy_;
  Stage::Result result_;
  Tensor dx_;
  Gradients gradients_;
};

}  // namespace tpc::bench
