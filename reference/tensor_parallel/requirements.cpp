// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/requirements.hpp"

#include "reference/core/contract.hpp"

namespace tpc {

namespace {

void require_divisible(const char* what, std::int64_t size, int ranks, const char* remedy) {
  if (size % ranks == 0) return;
  throw Refusal(fmt::format("{} {} is not divisible by tp {}: {}", what, size, ranks, remedy));
}

constexpr const char* choose_tp = "choose a tp that divides it";

void require_heads(const ModelConfig& config, int ranks, const Demands& demands) {
  if (demands.heads) require_divisible("number of heads", config.heads, ranks, choose_tp);
  if (demands.no_more_kv_heads_than_ranks && config.kv_heads > ranks)
    throw Refusal(fmt::format("kv heads {} exceed tp {}: raise tp", config.kv_heads, ranks));
  if (demands.kv_heads && config.kv_heads % ranks != 0 && ranks % config.kv_heads != 0)
    throw Refusal(
        fmt::format("kv heads {} and tp {}: neither divides the other; choose a tp that is a divisor or a "
                    "multiple of the kv heads",
                    config.kv_heads, ranks));
}

void require_mlp(const ModelConfig& config, int ranks, const Demands& demands) {
  if (demands.fused_rows_alone && config.mlp == MlpKind::swiglu)
    return require_divisible("rows of gate and up", 2 * config.ffn, ranks, choose_tp);
  if (config.mlp == MlpKind::swiglu && config.ffn % ranks != 0 && 2 * config.ffn % ranks == 0)
    throw Refusal(
        fmt::format("feed-forward size {} is not divisible by tp {}: the fused gate and up rows {} are, but "
                    "would part gate from up; choose a tp that divides {}",
                    config.ffn, ranks, 2 * config.ffn, config.ffn));
  require_divisible("feed-forward size", config.ffn, ranks, choose_tp);
}

// What the two unusual ways of cutting an MLP or an attention demand.
void require_unusual_cut(Operation operation, const ModelConfig& config, const Sharding& sharding,
                         int ranks) {
  const bool sequence_shards = sharding.sequence_parallel != SequenceParallel::off;
  if (sharding.own_entries && (sharding.fused || sequence_shards))
    throw Refusal("entries of their own need separate weights and no sequence parallelism: turn both off");
  if (sharding.mlp_order == MlpOrder::column_first) return;
  if (operation != Operation::mlp || config.mlp != MlpKind::gelu || sequence_shards)
    throw Refusal("the order row, then column exists for a single gelu mlp without sequence parallelism");
  require_divisible("hidden size", config.hidden, ranks, choose_tp);
}

void require_overlap(const Sharding& sharding) {
  if (sharding.overlap_chunks < 1)
    throw Refusal(fmt::format("collectives in {} chunks: choose 1 or more", sharding.overlap_chunks));
  if (sharding.overlap_chunks > 1 && sharding.sequence_parallel == SequenceParallel::off)
    throw Refusal(
        fmt::format("collectives in {} chunks overlap with products along the sequence only: turn sequence "
                    "parallelism on, or choose 1",
                    sharding.overlap_chunks));
}

void require_vocab(const ModelConfig& config, const Sharding& sharding, int ranks) {
  if (sharding.padded_vocab == 0) {
    require_divisible("vocabulary", config.vocab, ranks, "pad the vocabulary to a multiple of tp");
    return;
  }
  if (sharding.padded_vocab < config.vocab)
    throw Refusal(fmt::format("padded vocabulary {} is smaller than the vocabulary {}: pad upwards",
                              sharding.padded_vocab, config.vocab));
  require_divisible("padded vocabulary", sharding.padded_vocab, ranks, "pad it to a multiple of tp");
}

}  // namespace

void require_splittable(Operation operation, const ModelConfig& config, const Sharding& sharding,
                        std::int64_t sequence, int ranks, const Demands& demands) {
  const bool whole =
      operation == Operation::model || operation == Operation::init || operation == Operation::train;
  const bool block = whole || operation == Operation::transformer_layer;
  if (operation == Operation::row_linear || operation == Operation::column_linear)
    require_divisible(
        operation == Operation::row_linear ? "row linear input features" : "column linear output features",
        config.ffn, ranks, choose_tp);
  if (operation == Operation::dropout) require_divisible("number of heads", config.heads, ranks, choose_tp);
  if (block || operation == Operation::attention) {
    require_heads(config, ranks, demands);
    require_divisible("hidden size", config.hidden, ranks, choose_tp);
  }
  if (block || operation == Operation::mlp) require_mlp(config, ranks, demands);
  require_unusual_cut(operation, config, sharding, ranks);
  require_overlap(sharding);
  if (whole || operation == Operation::vocab_embedding || operation == Operation::vocab_cross_entropy)
    require_vocab(config, sharding, ranks);
  if (sharding.sequence_parallel != SequenceParallel::off && demands.sequence)
    require_divisible("sequence length", sequence, ranks,
                      "choose a length that tp divides, or turn sequence parallelism off");
  if ((whole || operation == Operation::vocab_embedding) && config.position == PositionKind::learned &&
      sequence > config.positions)
    throw Refusal(fmt::format("sequence length {} exceeds the {} learned positions: shorten the sequence",
                              sequence, config.positions));
}

}  // namespace tpc
