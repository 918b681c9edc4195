// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/buffers.hpp"
#include "reference/faults/edit.hpp"
#include "reference/faults/fault.hpp"
#include "reference/faults/faulty_communicator.hpp"
#include "reference/faults/forwarding_communicator.hpp"

namespace tpc {

namespace {

// Knows from the site which region or reduction calls.
class FaultyRegions : public ForwardingCommunicator {
 public:
  FaultyRegions(CommunicatorPtr inner, const Site& site, const FaultSet& faults)
      : ForwardingCommunicator(std::move(inner)), site_(site), faults_(faults) {}

  Pending start_all_reduce(const Tensor& out, const Tensor& in, ReduceOp op) override {
    if (is_left_out()) {
      copy_elements(out, in);
      return {};
    }
    if (planted(Fault::partial_sums_rounded_to_bf16) && at("reduce_from_tp")) round_to_bf16(in);
    if (planted(Fault::input_gradient_reduced_twice) && at("copy_to_tp")) {
      inner().all_reduce(out, in, op);
      return inner().start_all_reduce(out, out, op);
    }
    if (planted(Fault::pending_gradients_averaged) && at("finalise_gradients")) {
      inner().all_reduce(out, in, op);
      scale_elements(out, 1.0 / size());
      return {};
    }
    return inner().start_all_reduce(out, in, op);
  }

  Pending start_reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op) override {
    const bool entry = at("gather_from_sp");
    if (entry && (planted(Fault::entry_backward_slices) || head_is_left_out())) {
      copy_elements(shard, full.rows(rank() * shard.size(0), shard.size(0)));
      return {};
    }
    if (entry && planted(Fault::entry_reduced_besides_scatter)) inner().all_reduce(full, full, op);
    if (planted(Fault::partial_sums_rounded_to_bf16) && at("reduce_scatter_to_sp")) round_to_bf16(full);
    return inner().start_reduce_scatter(shard, full, op);
  }

 protected:
  CommunicatorPtr wrap(CommunicatorPtr inner) const override {
    return std::make_shared<FaultyRegions>(std::move(inner), site_, faults_);
  }

 private:
  bool planted(Fault fault) const { return faults_.contains(fault); }
  bool at(std::string_view operation) const { return site_.operation == operation; }

  // The head is a column linear of its own name, or of the embedding's where they are tied.
  bool head_is_left_out() const {
    return planted(Fault::head_input_gradient_not_reduced) && site_.phase == Phase::backward &&
           (site_.layer == "head" || site_.layer == "embedding");
  }
  bool is_left_out() const {
    if (at("copy_to_tp")) return planted(Fault::input_gradient_not_reduced) || head_is_left_out();
    if (at("sum_logit") && planted(Fault::mean_of_local_logits)) return true;
    return site_.layer == "cross_entropy" && planted(Fault::loss_of_own_shard);
  }

  const Site& site_;
  FaultSet faults_;
};

}  // namespace

CommunicatorPtr make_faulty_regions(CommunicatorPtr inner, const Site& site, const FaultSet& faults) {
  return std::make_shared<FaultyRegions>(std::move(inner), site, faults);
}

CommunicatorPtr make_faulty(CommunicatorPtr inner, const Site& site, const FaultSet& faults) {
  if (faults.empty()) return inner;
  return make_faulty_regions(make_faulty_collectives(std::move(inner), faults), site, faults);
}

}  // namespace tpc
