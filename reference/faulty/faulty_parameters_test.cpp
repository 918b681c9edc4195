// SPDX-License-Identifier: Apache-2.0
#include "reference/faulty/faulty_parameters.hpp"

#include <gtest/gtest.h>

#include "reference/faulty/fault.hpp"
#include "reference/faulty/faulty_parts.hpp"
#include "reference/tensor_parallel/attention.hpp"
#include "reference/tensor_parallel/mlp.hpp"
#include "reference/tensor_parallel/norm.hpp"

namespace tpc {
namespace {

constexpr int ranks = 2;

ModelConfig small_config() {
  ModelConfig c;
  c.hidden = 4;
  c.heads = c.kv_heads = 2;
  c.head_dim = 2;
  c.ffn = 4;
  c.mlp = MlpKind::swiglu;
  c.mlp_bias = false;
  return c;
}

using Specs = std::vector<ParameterSpec>;

constexpr SequenceParallel with_shards = SequenceParallel::kept;

Specs on_rank_1(Fault fault, const Specs& specs) {
  return make_parts(FaultSet(fault))->as_loaded(Position::on_tp(1, ranks), specs);
}

// "gate.weight 2+2 at 0": rows of the canonical weight, and where they lie in the local one.
std::vector<std::string> rows_of(const ParameterSpec& spec) {
  std::vector<std::string> rows;
  for (const ParameterPart& part : spec.parts)
    for (const Block& block : part.placement.blocks)
      rows.push_back(fmt::format("{} {}+{} at {}", part.canonical, block.global_offset[0], block.extent[0],
                                 block.local_offset[0]));
  return rows;
}

using Rows = std::vector<std::string>;

TEST(FaultyMap, CutsFusedPartsAsOneMatrix) {
  const Specs specs = Mlp("", {small_config(), {}, Position::on_tp(1, ranks), *right_parts()}).parameters();
  EXPECT_EQ(rows_of(specs.front()), (Rows{"gate.weight 2+2 at 0", "up.weight 2+2 at 2"}));
  EXPECT_EQ(rows_of(on_rank_1(Fault::gate_up_cut_as_one, specs).front()), (Rows{"up.weight 0+4 at 0"}));
  EXPECT_EQ(
      rows_of(on_rank_1(Fault::interleaved_weight_cut_in_the_middle, specs).front()),
      (Rows{"gate.weight 2+1 at 0", "gate.weight 3+1 at 2", "up.weight 2+1 at 1", "up.weight 3+1 at 3"}));
  EXPECT_EQ(rows_of(on_rank_1(Fault::qkv_cut_as_one, specs).front()), rows_of(specs.front()));
}

TEST(FaultyMap, TakesAKvHeadByTheRemainder) {
  ModelConfig config = small_config();
  config.heads = 4;
  const Specs specs = Attention("", {config, {}, Position::on_tp(1, 4), *right_parts()}).parameters();
  EXPECT_EQ(rows_of(specs.front())[1], "k.weight 0+2 at 2");
  EXPECT_EQ(rows_of(on_rank_1(Fault::kv_head_by_remainder, specs).front())[1], "k.weight 2+2 at 2");
}

using Groups = std::vector<Axis>;

TEST(FaultyPending, ForgetsOrInventsTheSumOfNorms) {
  const Specs shards = Norm("norm1", small_config(), with_shards).parameters();
  EXPECT_EQ(shards.front().parts.front().gradient_pending_over, Groups{Axis::tp});
  const auto pending = [](Fault fault, const Specs& specs) {
    return faulty_pending(FaultSet(fault), specs).front().parts.front().gradient_pending_over;
  };
  EXPECT_EQ(pending(Fault::norm_gradients_not_summed, shards), Groups{});
  EXPECT_EQ(pending(Fault::last_norm_not_summed, shards), Groups{Axis::tp});
  EXPECT_EQ(pending(Fault::nothing_finalised, shards), Groups{});
  const Specs whole = Norm("norm1", small_config(), SequenceParallel::off).parameters();
  EXPECT_EQ(pending(Fault::whole_norm_gradients_summed, whole), Groups{Axis::tp});
  EXPECT_EQ(pending(Fault::norm_gradients_not_summed, whole), Groups{});
}

}  // namespace
}  // namespace tpc
