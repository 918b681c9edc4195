// SPDX-License-Identifier: Apache-2.0
#include "harness/run/fault_conditions.hpp"

#include <algorithm>
#include <set>

#include "harness/values/parallelism.hpp"
#include "reference/tensor_parallel/requirements.hpp"

namespace tpc {

namespace {

// Of a collective call among some of the ranks.
std::vector<int> named_members(const Problem& problem) {
  const CollectiveProblem* call = problem.collective();
  return call == nullptr ? std::vector<int>{} : call->members;
}

int ranks_together(const Request& request) {
  const std::vector<int> members = named_members(request.problem);
  if (!members.empty()) return static_cast<int>(members.size());
  return parallelism_of(request.mesh).tp;
}

// The operation and all that it is made of.
std::set<Operation> parts_of(Operation operation, const ModelConfig& config) {
  std::set<Operation> all = {operation};
  const auto add = [&](std::initializer_list<Operation> inner) {
    for (const Operation part : inner) all.merge(parts_of(part, config));
  };
  const Operation norm = config.norm == NormKind::layer_norm ? Operation::layer_norm : Operation::rms_norm;
  switch (operation) {
    case Operation::mlp:
    case Operation::attention:
      add({Operation::column_linear, Operation::row_linear});
      break;
    case Operation::transformer_layer:
      add({norm, Operation::attention, Operation::mlp});
      break;
    case Operation::model:
      add({Operation::vocab_embedding, Operation::transformer_layer, norm, Operation::column_linear,
           Operation::vocab_cross_entropy});
      break;
    case Operation::train:
      add({Operation::model});
      break;
    default:
      break;
  }
  const bool drops = operation == Operation::attention || operation == Operation::transformer_layer ||
                     operation == Operation::model || operation == Operation::vocab_embedding;
  if (drops && config.dropout != DropoutRates{}) all.insert(Operation::dropout);
  return all;
}

bool is_refused(const Request& request) {
  const int ranks = parallelism_of(request.mesh).tp;
  if (ranks == 0) return true;
  try {
    require_splittable(request.problem.operation(), request.problem.model, request.sharding,
                       request.problem.sequence, ranks);
  } catch (const Refusal&) {
    return true;
  }
  return false;
}

bool has_row_bias(const Problem& problem) {
  const ModelConfig& c = problem.model;
  switch (problem.operation()) {
    case Operation::attention:
      return c.out_bias;
    case Operation::mlp:
    case Operation::row_linear:
      return c.mlp_bias;
    default:
      return c.out_bias || c.mlp_bias;
  }
}

bool gathers_output(const Request& request) {
  return (request.problem.asks(Operation::column_linear) && request.sharding.gather_output) ||
         (request.problem.asks(Operation::mlp) && request.sharding.mlp_order == MlpOrder::row_first);
}

// Of an operation that can be split.
bool holds_for_operation(Condition condition, const Request& request) {
  const ModelConfig& c = request.problem.model;
  const Sharding& cut = request.sharding;
  switch (condition) {
    case Condition::sequence_parallel:
      return cut.sequence_parallel != SequenceParallel::off;
    case Condition::no_sequence_parallel:
      return cut.sequence_parallel == SequenceParallel::off;
    case Condition::kept:
      return cut.sequence_parallel == SequenceParallel::kept;
    case Condition::regathered:
      return cut.sequence_parallel == SequenceParallel::regathered;
    case Condition::row_bias:
      return has_row_bias(request.problem);
    case Condition::qkv_bias:
      return c.qkv_bias;
    case Condition::fused:
      return cut.fused;
    case Condition::separate_weights:
      return !cut.fused;
    case Condition::swiglu:
      return c.mlp == MlpKind::swiglu;
    case Condition::kv_copies:
      return parallelism_of(request.mesh).tp > c.kv_heads;
    case Condition::padded_vocabulary:
      return cut.padded_vocab > c.vocab;
    case Condition::learned_positions:
      return c.position == PositionKind::learned;
    case Condition::label_smoothing:
      return c.loss.label_smoothing != 0;
    case Condition::gathered_output:
      return gathers_output(request);
    case Condition::several_sequences:
      return request.problem.batch > 1;
    case Condition::dropout:
      return c.dropout != DropoutRates{};
    case Condition::recompute:
      return cut.recompute != Recompute::none;
    case Condition::streams_with_positions:
      return request.problem.random.profile != "invariant";
    case Condition::streams_without:
      return request.problem.random.profile == "invariant";
    case Condition::spread_by_fan_in:
      return request.problem.init.inverse_root_fan_in;
    default:
      return true;
  }
}

bool holds(Condition condition, const Request& request) {
  switch (condition) {
    case Condition::one_rank:
      return ranks_together(request) == 1;
    case Condition::bf16:
      return request.problem.dtype == DType::bf16;
    case Condition::wider_than_bf16:
      return request.problem.dtype != DType::bf16;
    case Condition::several_data_parallel_ranks:
      return parallelism_of(request.mesh).dp > 1;
    case Condition::named_members:
      return !named_members(request.problem).empty();
    case Condition::refusal:
      return is_refused(request);
    default:
      return !request.problem.is_operation() || holds_for_operation(condition, request);
  }
}

bool has(const FaultRow& row, Condition condition) {
  return std::find(row.needs.begin(), row.needs.end(), condition) != row.needs.end();
}

bool is_about(const FaultRow& row, const Problem& problem) {
  if (problem.mesh() != nullptr) return false;
  if (const auto* call = problem.collective())
    return std::find(row.collectives.begin(), row.collectives.end(), call->kind) != row.collectives.end();
  const std::set<Operation> parts = parts_of(problem.operation(), problem.model);
  return std::any_of(row.operations.begin(), row.operations.end(),
                     [&](Operation operation) { return parts.contains(operation); });
}

}  // namespace

bool can_occur(const FaultRow& row, const Request& request) {
  if (!is_about(row, request.problem)) return false;
  if (!has(row, Condition::one_rank) && ranks_together(request) < 2) return false;
  if (request.problem.is_operation() && !has(row, Condition::refusal) && is_refused(request)) return false;
  return std::all_of(row.needs.begin(), row.needs.end(),
                     [&](Condition condition) { return holds(condition, request); });
}

std::vector<Fault> faults_that_can_occur(const Request& request) {
  std::vector<Fault> faults;
  for (const FaultRow& row : fault_table())
    if (can_occur(row, request)) faults.push_back(row.fault);
  return faults;
}

}  // namespace tpc
