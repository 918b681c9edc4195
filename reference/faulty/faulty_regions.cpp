// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/intercept.hpp"
#include "reference/faulty/edit.hpp"
#include "reference/faulty/fault.hpp"
#include "reference/faulty/faulty_communicator.hpp"

namespace tpc {

namespace {

// Knows from the site which region or reduction calls.
class FaultyRegions {
 public:
  FaultyRegions(const Site& site, Compute& compute, const FaultSet& faults)
      : site_(site), compute_(compute), faults_(faults) {}

  Pending operator()(Communicator& inner, const Call& call, const DeviceStream& after) const {
    if (call.kind == CollectiveKind::all_reduce) return all_reduce(inner, call, after);
    if (call.kind == CollectiveKind::reduce_scatter) return reduce_scatter(inner, call, after);
    if (call.kind == CollectiveKind::all_gather && call.out.place() != Place::nowhere)
      return all_gather(inner, call, after);
    return inner.start(call, after);
  }

 private:
  Pending all_reduce(Communicator& inner, const Call& call, const DeviceStream& after) const {
    if (is_left_out()) {
      compute_.copy(call.out, call.in);
      return {};
    }
    if (planted(Fault::partial_sums_rounded_to_bf16) && at("reduce_from_tp"))
      round_to_bf16(compute_, call.in);
    if (planted(Fault::input_gradient_reduced_twice) && at("copy_to_tp")) {
      inner.run(call);
      return inner.start(Call::all_reduce(call.out, call.out, call.op), after);
    }
    if (planted(Fault::finalised_in_bf16) && at("finalise_gradients")) round_to_bf16(compute_, call.in);
    if (planted(Fault::pending_gradients_averaged) && at("finalise_gradients")) {
      inner.run(call);
      compute_.scale(call.out, call.out, 1.0 / inner.size());
      return {};
    }
    return inner.start(call, after);
  }

  Pending reduce_scatter(Communicator& inner, const Call& call, const DeviceStream& after) const {
    const bool entry = at("gather_from_sp");
    if (entry && (planted(Fault::entry_backward_slices) || head_is_left_out())) {
      const std::int64_t rows = call.out.size(0);
      compute_.copy(call.out, call.in.rows(inner.rank() * rows, rows));
      return {};
    }
    if (entry && planted(Fault::entry_reduced_besides_scatter)) inner.all_reduce(call.in, call.in, call.op);
    if (planted(Fault::partial_sums_rounded_to_bf16) && at("reduce_scatter_to_sp"))
      round_to_bf16(compute_, call.in);
    return inner.start(call, after);
  }

  Pending all_gather(Communicator& inner, const Call& call, const DeviceStream& after) const {
    const bool along_last_dim = at("gather_from_tp") || at("scatter_to_tp");
    if (planted(Fault::gathered_along_first_dim) && along_last_dim && inner.size() > 1) {
      inner.run(call);
      leave_by_rank(call.out, inner.size());
      return {};
    }
    if (planted(Fault::gather_buffer_reused) && site_.phase == Phase::forward) {
      inner.run(call);
      overwrite_earlier(call.out);
      return {};
    }
    return inner.start(call, after);
  }

  // The shards [T,R,W] so that whoever sorts them into rows [R,T,W] ends with them as they came, one after
  // the other.
  void leave_by_rank(const Tensor& stacked, int ranks) const {
    const Tensor came = compute_.allocate(stacked.dtype(), stacked.shape(), "gathered");
    compute_.copy(came, stacked);
    const std::int64_t rows = stacked.size(0) / ranks;
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      for (std::int64_t row = 0; row < rows; ++row)
        compute_.copy(stacked.rows(rank * rows + row, 1), came.rows(row * ranks + rank, 1));
  }

  // As if all results of one size had been put into one buffer.
  void overwrite_earlier(const Tensor& result) const {
    std::vector<Tensor>& earlier = (*gathered_)[to_string(result.shape())];
    for (const Tensor& tensor : earlier) compute_.copy(tensor, result);
    earlier.push_back(result);
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
  Compute& compute_;
  FaultSet faults_;
  std::shared_ptr<std::map<std::string, std::vector<Tensor>>> gathered_ =
      std::make_shared<std::map<std::string, std::vector<Tensor>>>();  // by shape
};

}  // namespace

CommunicatorPtr make_faulty_regions(CommunicatorPtr inner, const Site& site, Compute& compute,
                                    const FaultSet& faults) {
  return intercept(std::move(inner), {.start = FaultyRegions(site, compute, faults)});
}

CommunicatorPtr make_faulty(CommunicatorPtr inner, const Site& site, Compute& compute,
                            const FaultSet& faults) {
  if (faults.empty()) return inner;
  return make_faulty_regions(make_faulty_collectives(std::move(inner), faults), site, compute, faults);
}

}  // namespace tpc
