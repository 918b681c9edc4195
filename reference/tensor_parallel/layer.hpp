// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reference/parameters/gradients.hpp"
#include "reference/parameters/loading.hpp"
#include "reference/random/random_streams.hpp"
#include "reference/tensor_parallel/context.hpp"

namespace tpc {

// What a layer keeps between forward and backward: named tensors, and what the layers inside it keep.
// Move-only, owned by the caller, any number alive at once. Its bytes are the memory account.
class Saved {
 public:
  Saved() = default;
  Saved(Saved&&) = default;
  Saved& operator=(Saved&&) = default;
  Saved(const Saved&) = delete;
  Saved& operator=(const Saved&) = delete;
  ~Saved() = default;

  void keep(const std::string& name, Tensor tensor);
  void keep(const std::string& name, Saved inner);
  void keep(StreamState streams) { streams_ = std::move(streams); }
  bool has(const std::string& name) const { return tensors_.contains(name); }
  const Tensor& tensor(const std::string& name) const;
  const StreamState& streams() const { return streams_; }
  Saved take(const std::string& name);  // moves the inner one out

  struct Entry {
    std::string name;  // "mlp.fc1.x"
    Tensor tensor;
  };
  std::vector<Entry> entries() const;  // in alphabetical order, with the names of the layers around them
  std::size_t bytes() const;           // shared elements count once

 private:
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, Saved> inner_;
  StreamState streams_;  // where recomputation draws from
};

struct Output {
  Tensor y;
  Saved saved;
};
struct InputGradient {
  Tensor dx;
  Saved rest;  // what the weight gradients still need
};

// Shapes, layouts and definitions; no state. Backward comes in two parts, so that a pipeline schedule may put
// other work between them.
class Layer {
 public:
  explicit Layer(std::string name) : name_(std::move(name)) {}
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;

  const std::string& name() const { return name_; }
  virtual std::vector<ParameterSpec> parameters() const = 0;
  virtual Output forward(Context& ctx, const Parameters& params, const Tensor& x) const = 0;
  virtual InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                                       Saved saved) const = 0;
  virtual void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const = 0;

  Tensor backward(Context& ctx, const Parameters& params, const Tensor& dy, Saved saved,
                  Gradients& gradients) const;

 private:
  std::string name_;  // prefix of its parameters; empty for a layer on its own
};

}  // namespace tpc
