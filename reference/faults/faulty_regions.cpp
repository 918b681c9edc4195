// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/buffers.hpp"
#include "reference/comm/intercept.hpp"
#include "reference/faults/edit.hpp"
#include "reference/faults/fault.hpp"
#include "reference/faults/faulty_communicator.hpp"

namespace tpc {

namespace {

// Knows from the site which region or reduction calls.
class FaultyRegions {
 public:
  FaultyRegions(const Site& site, const FaultSet& faults) : site_(site), faults_(faults) {}

  Pending operator()(Communicator& inner, const Call& call, const DeviceStream& after) const {
    if (call.kind == CollectiveKind::all_reduce) return all_reduce(inner, call, after);
    if (call.kind == CollectiveKind::reduce_scatter) return reduce_scatter(inner, call, after);
    return inner.start(call, after);
  }

 private:
  Pending all_reduce(Communicator& inner, const Call& call, const DeviceStream& after) const {
    if (is_left_out()) {
      copy_elements(call.out, call.in);
      return {};
    }
    if (planted(Fault::partial_sums_rounded_to_bf16) && at("reduce_from_tp")) round_to_bf16(call.in);
    if (planted(Fault::input_gradient_reduced_twice) && at("copy_to_tp")) {
      inner.run(call);
      return inner.start(Call::all_reduce(call.out, call.out, call.op), after);
    }
    if (planted(Fault::pending_gradients_averaged) && at("finalise_gradients")) {
      inner.run(call);
      scale_elements(call.out, 1.0 / inner.size());
      return {};
    }
    return inner.start(call, after);
  }

  Pending reduce_scatter(Communicator& inner, const Call& call, const DeviceStream& after) const {
    const bool entry = at("gather_from_sp");
    if (entry && (planted(Fault::entry_backward_slices) || head_is_left_out())) {
      const std::int64_t rows = call.out.size(0);
      copy_elements(call.out, call.in.rows(inner.rank() * rows, rows));
      return {};
    }
    if (entry && planted(Fault::entry_reduced_besides_scatter)) inner.all_reduce(call.in, call.in, call.op);
    if (planted(Fault::partial_sums_rounded_to_bf16) && at("reduce_scatter_to_sp")) round_to_bf16(call.in);
    return inner.start(call, after);
  }

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
  return intercept(std::move(inner), {.start = FaultyRegions(site, faults)});
}

CommunicatorPtr make_faulty(CommunicatorPtr inner, const Site& site, const FaultSet& faults) {
  if (faults.empty()) return inner;
  return make_faulty_regions(make_faulty_collectives(std::move(inner), faults), site, faults);
}

}  // namespace tpc
