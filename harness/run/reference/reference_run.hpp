// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/values/implementation.hpp"
#include "reference/faulty/faulty_parts.hpp"

namespace tpc {

// One request on one rank of the reference: draws what the rank needs, builds, runs the script, collects what
// the rank holds. On a compute that stores nothing (a dry run) nothing is drawn or handed out, and the
// response is the trace and the memory account alone.
class ReferenceRun {
 public:
  // Collective over ranks. The request must be splittable.
  ReferenceRun(const Request& request, const CommunicatorPtr& ranks, Compute& compute,
               const FaultSet& faults = {});
  Response run();

 private:
  struct SingleLayer {
    std::unique_ptr<Layer> layer;
    Placement x;
    Placement y;
  };
  SingleLayer build_layer() const;
  LayerPlan plan() const { return {config_, request_.sharding, ctx_.position(), ctx_.parts()}; }
  void run_layer();
  void run_embedding();
  void run_cross_entropy();
  void run_model();
  void run_dropout();  // reference_run_dropout.cpp
  void run_init();     // reference_run_training.cpp
  void run_train();

  struct DropoutPlace {
    std::string name;  // of its mask
    std::unique_ptr<Dropout> dropout;
    DrawLayout layout;
  };
  std::vector<DropoutPlace> dropout_places() const;
  Tensor ones(const DrawLayout& layout);
  void give_streams();
  void give_parameters(const std::string& prefix, const std::vector<ParameterSpec>& specs,
                       const Parameters& params);

  void open_streams();
  Shape activation(std::int64_t features) const;
  Placement token_layout(std::int64_t features) const;
  bool is_dry() const;
  bool wants(Action action) const;
  Tensor drawn(const std::string& name, const Shape& offset, const Shape& extent);
  Tensor input(const std::string& name, const Placement& placement);
  Tensor whole_input(const std::string& name);
  Tensor upstream_of_loss();
  Tensor sharded_logits(const Placement& layout, std::int64_t width);
  Parameters load(const std::vector<ParameterSpec>& specs);
  void give(const std::string& name, const Tensor& data, const Placement& placement);
  void give_loss(const Tensor& mean, const Tensor& tokens);
  void give_gradients(const std::vector<ParameterSpec>& specs, const Gradients& gradients);
  void account(const Saved& saved, std::size_t bytes_before, const Parameters& params);

  const Request& request_;
  const Problem& problem_;
  const ModelConfig& config_;
  SequenceParallel sp_;
  Context ctx_;
  std::unique_ptr<RandomStreams> streams_;
  FaultSet faults_;  // of what is done here; the layers have their own
  Response response_;
};

}  // namespace tpc
