// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/values/implementation.hpp"
#include "reference/faulty/faulty_parts.hpp"
#include "reference/model/stage.hpp"

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
  // What an operation runs, and how what goes in and comes out is laid out.
  struct Built {
    Stage stage;
    Placement x;
    Placement y;
  };
  Built build() const;
  Built build_loss() const;
  LayerPlan plan() const { return {config_, request_.sharding, ctx_.position(), ctx_.parts()}; }
  void run_stage();
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
  // Of every part of every local tensor, e.g. "grad." + its canonical name.
  void give_parts(const std::string& prefix, const std::vector<ParameterSpec>& specs,
                  const Parameters& tensors);

  void open_streams();
  Shape activation(std::int64_t features) const;
  Placement token_layout(std::int64_t features) const;
  bool is_dry() const;
  bool wants(Action action) const;
  Tensor drawn(const std::string& name, const Shape& offset, const Shape& extent);
  Tensor input(const std::string& name, const Placement& placement);
  Tensor tokens(const std::string& name);
  Tensor stage_input(const Placement& layout);
  Tensor upstream_of_loss();
  Tensor sharded_logits(const Placement& layout);
  Parameters load(const std::vector<ParameterSpec>& specs);
  void give(const std::string& name, const Tensor& data, const Placement& placement);
  void give_result(const Built& built, const Stage::Result& result);
  void account(const Saved& saved, std::size_t bytes_before, const Parameters& params);

  const Request& request_;
  const Problem& problem_;
  const ModelConfig& config_;
  SequenceParallel sp_;
  Context ctx_;
  std::unique_ptr<RandomStreams> streams_;
  Response response_;
};

}  // namespace tpc
