// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "harness/explain/dry_run.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"
#include "harness/values/account.hpp"
#include "reference/tensor_parallel/requirements.hpp"

namespace tpc {

namespace {

struct Link {
  const char* name;
  double bytes_per_second;
};
// The headline rates that the claim uses; what of them a ring can use is another matter.
constexpr Link claimed_links[] = {{"900 GB/s", 900e9}, {"64 GB/s", 64e9}, {"25 GB/s", 25e9}};

std::string grouped_digits(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

Request model_request(const DryRunChoice& choice, int tp, SequenceParallel mode, Operation operation) {
  Request request;
  Problem& problem = request.problem;
  problem.asked = operation;
  problem.model = choice.model.config;
  problem.batch = choice.batch;
  problem.sequence = choice.sequence;
  problem.dtype = choice.dtype;
  problem.inputs = inputs_for(problem, InputRecipe::gaussian);
  request.mesh = {{tp}, {"tp"}};
  request.sharding.sequence_parallel = mode;
  const std::int64_t multiple = 128L * tp;
  request.sharding.padded_vocab = (problem.model.vocab + multiple - 1) / multiple * multiple;
  return request;
}

// One line for each kind of call: phase, operation, where, how often, of how many bytes.
std::string call_table(const Trace& trace) {
  struct Key {
    Phase phase;
    std::string what;
    std::int64_t payload;
    bool operator<(const Key& other) const {
      return std::tie(phase, what, payload) < std::tie(other.phase, other.what, other.payload);
    }
  };
  std::map<Key, Volume> rows;
  for (const TraceRow& row : trace) {
    const std::string what =
        fmt::format("{} {} on {} ({})", name(row.kind), row.operation, row.axis, name(row.dtype));
    Volume& sum = rows[{row.phase, what, row.payload}];
    ++sum.calls;
    sum.payload += row.payload;
    sum.ring_wire += row.ring_wire;
  }
  std::string text = fmt::format("    {:<9}{:<52}{:>7}{:>18}{:>20}{:>22}\n", "phase", "call", "calls",
                                 "payload each", "payload", "ring wire per rank");
  for (const auto& [key, sum] : rows)
    text += fmt::format("    {:<9}{:<52}{:>7}{:>18}{:>20}{:>22}\n", name(key.phase), key.what, sum.calls,
                        grouped_digits(key.payload), grouped_digits(sum.payload),
                        grouped_digits(static_cast<std::int64_t>(sum.ring_wire)));
  return text;
}

std::string block_summary(const DryRunChoice& choice, const Trace& trace) {
  const Volume blocks = volume_of(trace, "blocks.");
  const Volume one = volume_of(trace, "blocks.0.");
  std::string text = fmt::format(
      "    a block: {} calls, payload {} B, ring wire {} B; {} blocks a step: payload {} B, ring wire {} B\n",
      one.calls, grouped_digits(one.payload), grouped_digits(static_cast<std::int64_t>(one.ring_wire)),
      choice.model.config.layers, grouped_digits(blocks.payload),
      grouped_digits(static_cast<std::int64_t>(blocks.ring_wire)));
  text += "    seconds a step, blocks only:";
  for (const Link& link : claimed_links)
    text += fmt::format("  {} payload {:.3f}, ring wire {:.3f};", link.name,
                        static_cast<double>(blocks.payload) / link.bytes_per_second,
                        blocks.ring_wire / link.bytes_per_second);
  return text + "\n";
}

std::string memory_summary(const DryRunChoice& choice, int tp, SequenceParallel mode) {
  const Response block = dry_run(model_request(choice, tp, mode, Operation::transformer_layer), 0);
  const Response alone =
      dry_run(model_request(choice, 1, SequenceParallel::off, Operation::transformer_layer), 0);
  const auto kept = static_cast<double>(activation_bytes(block));
  const auto whole = static_cast<double>(activation_bytes(alone));
  return fmt::format(
      "    kept for backward, a block and rank: {} B of activations ({:.2f} MiB), {} B of statistics; "
      "{:.4f} of one device's {} B, 1/T is {:.4f}{}\n",
      grouped_digits(activation_bytes(block)), kept / 0x1p20, grouped_digits(statistics_bytes(block)),
      kept / whole, grouped_digits(activation_bytes(alone)), 1.0 / tp,
      activation_bytes(block) * tp == activation_bytes(alone) ? " (exactly 1/T)" : "");
}

std::string degree_report(const DryRunChoice& choice, int tp, SequenceParallel mode) {
  std::string text = fmt::format("\n  T = {}, sequence parallel {}\n", tp, name(mode));
  try {
    const Response whole = dry_run(model_request(choice, tp, mode, Operation::model), 0);
    text += call_table(whole.trace) + block_summary(choice, whole.trace) + memory_summary(choice, tp, mode);
  } catch (const Refusal& refusal) {
    text += fmt::format("    not possible: {}\n", refusal.what());
  }
  return text;
}

}  // namespace

std::string dry_run_report(const DryRunChoice& choice) {
  const ModelConfig& c = choice.model.config;
  std::string text = fmt::format(
      "dry run of {}: {} blocks, hidden {}, heads {}, kv heads {}, feed-forward {}, "
      "vocabulary {}; batch {}, sequence {}, {}\n",
      choice.model.name, c.layers, c.hidden, c.heads, c.kv_heads, c.ffn, c.vocab, choice.batch,
      choice.sequence, name(choice.dtype));
  text +=
      "  payload: bytes of the full tensor of a call; ring wire: bytes a rank sends under the ring "
      "algorithm\n";
  for (const int tp : choice.tp)
    for (const auto mode : {SequenceParallel::off, SequenceParallel::kept, SequenceParallel::regathered})
      if (tp > 1 || mode == SequenceParallel::off) text += degree_report(choice, tp, mode);
  return text;
}

std::string saved_report(const Request& request) {
  if (!request.problem.is_operation())
    throw UsageError("collectives and meshes keep nothing for backward; name a case of layers");
  const Response dry = dry_run(request, 0);
  std::string text =
      fmt::format("kept between forward and backward by rank 0 of {}\n", to_string(request.mesh));
  for (const SavedTensor& saved : dry.saved)
    text += fmt::format("{:>14} B  {:<5}{:<20}{}\n", grouped_digits(saved.bytes), name(saved.dtype),
                        to_string(saved.shape), saved.name);
  return text + fmt::format("{:>14} B of activations, {} B of statistics; shared elements count once\n",
                            grouped_digits(activation_bytes(dry)), grouped_digits(statistics_bytes(dry)));
}

}  // namespace tpc
