// SPDX-License-Identifier: Apache-2.0
// The reference without memory and arithmetic: trace and memory account of any size on any number of ranks,
// from the same layer, region and model code as a real run.
#pragma once

#include <string>
#include <vector>

#include "harness/values/implementation.hpp"
#include "reference/model/config.hpp"

namespace tpc {

// As rank r of the request's mesh. Throws Refusal where the request cannot be split.
Response dry_run(const Request& request, int rank);

// What the calls of one phase or layer come to.
struct Volume {
  std::int64_t calls = 0;
  std::int64_t payload = 0;
  double ring_wire = 0;
};
Volume volume_of(const Trace& trace, const std::string& layer_prefix);  // of layers whose name begins so

struct DryRunChoice {
  NamedModel model;
  std::vector<int> tp;
  std::int64_t batch = 8;
  std::int64_t sequence = 2048;
  DType dtype = DType::bf16;
};
// A page for people: for each degree and form of sequence parallelism calls, payload and ring wire bytes by
// phase, per block and per step, seconds at the headline rates of three links, and what a block keeps for
// backward.
std::string dry_run_report(const DryRunChoice& choice);

// The tensors that rank 0 keeps between forward and backward, by name, with their sum. Throws UsageError
// where the request is no operation of layers.
std::string saved_report(const Request& request);

}  // namespace tpc
