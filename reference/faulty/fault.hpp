// SPDX-License-Identifier: Apache-2.0
// Defects that somebody reported in public against a real framework or library, planted on demand: what a
// suite has to reject. Wherever a seam expresses one (communicator, random streams, sharding map, gradient
// finalisation) it stands there; else it is one line in a layer that asks `ctx.planted(Fault::...)`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/comm/communicator.hpp"
#include "reference/core/definitions.hpp"
#include "reference/core/words.hpp"
#include "reference/faulty/fault_set.hpp"

namespace tpc {

enum class Fault : std::uint8_t {
  // A term of the row-parallel sum that is counted T times, or 1/T.
  row_bias_before_reduce,
  row_bias_gradient_divided,
  reduced_again_in_backward,
  residual_before_reduce,
  row_bias_loaded_once_per_rank,
  row_bias_gradient_averaged,
  // A replicated parameter whose gradient is a pending sum.
  norm_gradients_not_summed,
  pending_gradients_averaged,
  train_step_without_finalisation,
  kv_copies_summed_under_sp_only,
  nothing_finalised,
  kv_biases_not_summed,
  last_norm_not_summed,
  // A gradient reduced twice, or scaled wrongly.
  gather_backward_reduces,
  input_gradient_reduced_twice,
  whole_norm_gradients_summed,
  entry_reduced_besides_scatter,
  gradients_divided_by_ranks,
  // An activation's gradient whose collective is missing or misplaced.
  row_input_gradient_of_own_tokens,
  kv_reads_uncopied_input,
  targets_owner_alone_has_gradient,
  head_input_gradient_not_reduced,
  entry_backward_slices,
  input_gradient_not_reduced,
  // Cross entropy on shards of the vocabulary.
  smoothing_over_local_vocabulary,
  mean_of_local_logits,
  softmax_sum_counted_per_rank,
  padding_in_the_softmax,
  foreign_target_reads_padding,
  first_token_scales_all,
  loss_of_own_shard,
  last_columns_dropped,
  target_is_local_index,
  average_of_uneven_means,
  // Embedding on shards of the vocabulary.
  padding_row_of_every_shard,
  mask_of_earlier_ids,
  last_rows_dropped,
  embedding_not_padded,
  embedding_widened,
  // Fused weights, heads.
  gate_up_cut_as_one,
  qkv_cut_as_one,
  fused_parts_not_sorted_out,
  interleaved_weight_cut_in_the_middle,
  kv_head_by_remainder,
  // Configurations that should be refused, or should not.
  kv_heads_unchecked,
  kv_heads_beyond_ranks_refused,
  heads_unchecked,
  fused_size_checked,
  sequence_unchecked,
  // Axes, buffers, precision, memory.
  gathered_along_first_dim,
  batch_by_rank,
  gather_buffer_reused,
  partial_sums_rounded_to_bf16,
  gathered_input_kept,
  // The collectives library.
  single_rank_copy_in_blocks,
  operation_ignored_when_short,
  stale_half_line,
  chunk_border_not_reduced,
  order_depends_on_calls,
  order_depends_on_rank,
  unsigned_comparison,
  in_place_contribution_lost,
  offset_wraps,
  copy_in_16_bytes,
  in_place_gather_reads_base,
  group_order_differs_by_rank,
  every_rank_its_own_world,
  group_members_sorted,
  root_read_as_world_rank,
  // Dropout.
  shared_stream_under_sequence_parallel,
  same_mask_on_every_shard,
  own_mask_where_replicated,
  seeded_by_world_rank,
  recompute_draws_anew,
  counter_is_local_index,
  kept_scaled_by_inverse_rate,
  shards_draw_shifted_copies,
  // Initialisation.
  spread_of_the_shards_fan,
  same_initial_values_on_every_shard,
  replicated_parameter_of_own_stream,
  state_restored_after_each_draw,
  // Norm of the gradients.
  norm_counts_copies,
  norm_counts_first_rank_alone,
  norm_forgets_sharded_vectors,
  finalised_in_bf16,
  count
};

// What kind of defect it is: the catalogue's classes, and `config` for a check that is missing or wrong.
enum class FaultClass {
  scale,
  drop,
  order,
  index,
  group,
  race,
  state,
  dup,
  norm,
  dtype,
  hang,
  rng,
  nondet,
  lib,
  count,
  config
};
constexpr auto words(FaultClass) {
  return spelling("SCALE", "DROP", "ORDER", "INDEX", "GROUP", "RACE", "STATE", "DUP", "NORM", "DTYPE", "HANG",
                  "RNG", "NONDET", "LIB", "COUNT", "CONFIG");
}

// What a request must have for a fault to make a difference.
enum class Condition {
  one_rank,  // instead of several, which is what all others need
  sequence_parallel,
  no_sequence_parallel,
  kept,
  regathered,
  row_bias,
  qkv_bias,
  fused,
  separate_weights,
  swiglu,
  kv_copies,
  padded_vocabulary,
  learned_positions,
  label_smoothing,
  gathered_output,
  several_sequences,
  bf16,
  wider_than_bf16,
  dropout,
  recompute,
  streams_with_positions,  // profiles whose numbers depend on what was drawn before
  streams_without,         // those that depend on the element alone
  several_data_parallel_ranks,
  spread_by_fan_in,
  named_members,  // a group that does not have all ranks
  refusal         // the configuration cannot be split
};
constexpr auto words(Condition) {
  return spelling("one rank", "sequence parallel", "no sequence parallel", "gathered input kept",
                  "input gathered again", "row bias", "qkv bias", "fused weights", "separate weights",
                  "swiglu", "kv copies", "padded vocabulary", "learned positions", "label smoothing",
                  "gathered output", "several sequences", "bf16", "wider than bf16", "dropout",
                  "recomputation", "streams with positions", "streams without positions",
                  "several data-parallel ranks", "spread by fan-in", "named members", "cannot be split");
}

struct FaultRow {
  Fault fault;
  std::string_view id;     // of the catalogue of defects: "TP-01"
  std::string_view also;   // further ids of reports of the same defect
  std::string_view title;  // what goes wrong
  std::string_view source;
  FaultClass fault_class;
  // The innermost operations that it can occur in; it occurs in whatever contains them, too.
  std::vector<Operation> operations;
  std::vector<CollectiveKind> collectives;  // single calls that it can occur in
  std::vector<Condition> needs;
  std::string_view equivalent = {};  // the proof that no answer shows it, where there is one
};
// A row of the catalogue that waits for what it needs.
struct NotPlanted {
  std::string_view id;
  std::string_view reason;
};

const std::vector<FaultRow>& fault_table();  // in the order of the ids
const std::vector<NotPlanted>& faults_not_planted();
const FaultRow& row_of(Fault fault);

}  // namespace tpc
