// SPDX-License-Identifier: Apache-2.0
#include "suites/memory/formulas.hpp"

#include "reference/compute/compute.hpp"

namespace tpc {

namespace {

// Between q, k, v and context.
std::vector<KeptTensor> kept_by_attention(const Request& request) {
  const Problem& problem = request.problem;
  if (request.sharding.recompute != Recompute::none) return {};
  const std::int64_t pairs =
      problem.batch * problem.model.heads / request.mesh.ranks() * problem.sequence * problem.sequence;
  const auto size = static_cast<std::int64_t>(size_of(problem.dtype));
  std::vector<KeptTensor> kept = {{"probabilities", size * pairs}};
  if (problem.random.training && problem.model.dropout.attention > 0) {
    kept.push_back({"mask of the probabilities", pairs});
    kept.push_back({"dropped probabilities", size * pairs});
  }
  return kept;
}

}  // namespace

std::vector<KeptTensor> kept_activations(const Request& request) {
  const ModelConfig& c = request.problem.model;
  const std::int64_t ranks = request.mesh.ranks();
  const auto size = static_cast<std::int64_t>(size_of(request.problem.dtype));
  const std::int64_t n = request.problem.batch * request.problem.sequence;
  const SequenceParallel mode = request.sharding.sequence_parallel;
  const std::int64_t token_shards = mode == SequenceParallel::off ? 1 : ranks;
  // The input of a column linear: this rank's tokens, or all of them where the gathered input is kept.
  const std::int64_t input_shards = mode == SequenceParallel::regathered ? ranks : 1;
  const std::int64_t kv_heads = std::max<std::int64_t>(1, c.kv_heads / ranks);
  const std::int64_t residual = size * n * c.hidden / token_shards;
  const std::int64_t input = size * n * c.hidden / input_shards;
  const std::int64_t heads = size * n * c.heads * c.head_dim / ranks;
  const std::int64_t ffn = size * n * c.ffn / ranks;
  if (request.sharding.recompute == Recompute::full) return {{"input of the block", residual}};
  std::vector<KeptTensor> kept = {
      {"input of norm 1", residual},
      {"input of q, k, v", input},
      {"q", heads},
      {"k", size * n * kv_heads * c.head_dim},
      {"v", size * n * kv_heads * c.head_dim},
      {"context", heads},
      {"input of norm 2", residual},
      {"input of the mlp", input},
  };
  if (c.mlp == MlpKind::gelu) {
    kept.push_back({"gelu input", ffn});
    kept.push_back({"gelu output", ffn});
  } else {
    kept.push_back({"gate", ffn});
    kept.push_back({"up", ffn});
    kept.push_back({"silu(gate)·up", ffn});
  }
  for (KeptTensor& tensor : kept_by_attention(request)) kept.push_back(std::move(tensor));
  if (request.problem.random.training && c.dropout.hidden > 0) {
    kept.push_back({"mask after attention", n * c.hidden / token_shards});
    kept.push_back({"mask after the mlp", n * c.hidden / token_shards});
  }
  return kept;
}

std::int64_t kept_statistics(const Request& request) {
  if (request.sharding.recompute == Recompute::full) return 0;
  const std::int64_t shards =
      request.sharding.sequence_parallel == SequenceParallel::off ? 1 : request.mesh.ranks();
  const std::int64_t rows = request.problem.batch * request.problem.sequence / shards;
  const std::int64_t per_norm = request.problem.model.norm == NormKind::layer_norm ? 2 : 1;
  return 2 * per_norm * rows * static_cast<std::int64_t>(size_of(statistics_dtype(request.problem.dtype)));
}

std::int64_t total(const std::vector<KeptTensor>& kept) {
  std::int64_t sum = 0;
  for (const KeptTensor& tensor : kept) sum += tensor.bytes;
  return sum;
}

double gpt_block_bytes(const BlockShape& shape, const BlockForm& form) {
  const auto s = static_cast<double>(shape.s);
  const auto b = static_cast<double>(shape.b);
  const auto h = static_cast<double>(shape.h);
  const auto a = static_cast<double>(shape.a);
  const auto t = static_cast<double>(shape.t);
  if (form.recompute == Recompute::full) return 2 * s * b * h / (form.mode == SequenceParallel::off ? 1 : t);
  const double per_pair = form.recompute == Recompute::selective ? 0 : form.dropout ? 5 : 2;
  const double pairs = per_pair * a * s * s * b / t;
  const double masks = form.dropout ? 2 : 0;  // after the attention and after the mlp
  switch (form.mode) {
    case SequenceParallel::kept:
      return s * b * h * (4 + (28 + masks) / t) + pairs;
    case SequenceParallel::regathered:
      return s * b * h * (32 + masks) / t + pairs;
    default:
      return s * b * h * (8 + masks + 24 / t) + pairs;
  }
}

}  // namespace tpc
