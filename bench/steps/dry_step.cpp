// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/dry_step.hpp"

#include <algorithm>

#include "reference/comm/dry_run/dry_run.hpp"

namespace tpc::bench {

double StepContent::payload_bytes() const {
  double sum = 0;
  for (const TraceRow& call : calls) sum += static_cast<double>(call.payload);
  return sum;
}

double StepContent::ring_wire_bytes() const {
  double sum = 0;
  for (const TraceRow& call : calls) sum += call.ring_wire;
  return sum;
}

double StepContent::flops() const {
  double sum = 0;
  for (const auto& [shape, use] : kernels.products) sum += shape.flops() * static_cast<double>(use.calls);
  return sum;
}

StepContent dry_step(const StackShape& shape, Pass pass, int ranks) {
  const auto compute = make_shape_only_compute();
  Station station(shape, pass, make_dry_run_world(0, ranks), *compute, {}, false, nullptr);
  const Subject subject = station.subject("dry");
  if (subject.before) subject.before(0);
  subject.run(0);
  return {station.kernels(), station.calls(), station.saved_bytes()};
}

namespace {

// Elements of a layer's gradients that are still a sum when backward ends (gradient finalisation).
std::int64_t pending_per_layer(const StackShape& shape, int ranks) {
  const ModelConfig& m = shape.model;
  std::int64_t over_tp = 0;
  if (shape.form.sequence_parallel != SequenceParallel::off) {
    const std::int64_t norms = 2 * m.hidden * (m.norm == NormKind::layer_norm ? 2 : 1);
    const std::int64_t row_biases = (m.out_bias ? m.hidden : 0) + (m.mlp_bias ? m.hidden : 0);
    over_tp = norms + row_biases;
  }
  const bool copies = ranks > m.kv_heads;
  return over_tp + (copies ? 2 * m.head_dim * (m.hidden + (m.qkv_bias ? 1 : 0)) : 0);
}

}  // namespace

ExpectedVolume expected_volume(const StackShape& shape, Pass pass, int ranks) {
  if (ranks == 1) return {};
  const bool sp = shape.form.sequence_parallel != SequenceParallel::off;
  const bool again = shape.form.sequence_parallel == SequenceParallel::regathered;
  const std::int64_t forward = sp ? 4 : 2;
  const std::int64_t backward = (sp ? 4 : 2) + (again ? 2 : 0);
  const std::int64_t per_layer =
      (pass != Pass::backward ? forward : 0) + (pass != Pass::forward ? backward : 0);
  // Of a call that is cut into chunks; those that gather again in backward are not.
  const std::int64_t chunks = std::min<std::int64_t>(shape.form.overlap_chunks, shape.sequence / ranks);
  const std::int64_t whole_calls = again && pass != Pass::forward ? 2 : 0;
  const auto bytes = static_cast<double>(size_of(shape.dtype));
  const auto tokens = static_cast<double>(shape.batch * shape.sequence);
  ExpectedVolume volume;
  volume.calls = shape.model.layers * ((per_layer - whole_calls) * chunks + whole_calls);
  volume.payload_bytes = static_cast<double>(shape.model.layers * per_layer) * tokens *
                         static_cast<double>(shape.model.hidden) * bytes;
  if (pass == Pass::forward) return volume;
  const bool over_copies = ranks > shape.model.kv_heads;
  volume.calls += (sp ? 1 : 0) + (over_copies ? 1 : 0);
  volume.payload_bytes += static_cast<double>(shape.model.layers * pending_per_layer(shape, ranks)) * bytes;
  return volume;
}

}  // namespace tpc::bench
