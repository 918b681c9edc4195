// SPDX-License-Identifier: Apache-2.0
// Claim: what a block keeps for backward is, to the byte, what the closed forms say. Measured at the
// allocator after forward; all else is overwritten before backward, so what is not counted cannot be used.
#include "suites/layer_cases.hpp"
#include "suites/memory/formulas.hpp"
#include "suites/suites.hpp"
#include "suites/volume/profiles.hpp"

namespace tpc {

namespace {

std::vector<Variant> blocks() {
  std::vector<Variant> all;
  const auto add = [&](const char* tag, const ModelConfig& config, std::vector<int> tp,
                       Recompute recompute = Recompute::none) {
    Variant v;
    v.operation = Operation::transformer_layer;
    v.tag = tag;
    v.config = config;
    v.tp = std::move(tp);
    v.sharding.recompute = recompute;
    v.suffix = recompute == Recompute::none ? "" : recompute == Recompute::selective ? "selective" : "full";
    v.tiers = {Tier::bf16};
    v.modes = {SequenceParallel::off, SequenceParallel::kept, SequenceParallel::regathered};
    all.push_back(std::move(v));
  };
  ModelConfig paper = gpt2_style();  // F = 4h, as the closed forms have it
  paper.ffn = 4 * paper.hidden;
  ModelConfig shared = llama_style();
  shared.kv_heads = 2;
  const std::vector<int> every = {1, 2, 3, 4, 6, 8};
  add("block_gpt2", paper, every);
  ModelConfig dropping = paper;
  dropping.dropout = {0.1, 0.1, 0.1};
  add("block_gpt2_dropout", dropping, {1, 2, 8});
  add("block_gpt2_dropout", dropping, {4}, Recompute::selective);
  add("block_gpt2_dropout", dropping, {4}, Recompute::full);
  add("block_llama", llama_style(), every);
  add("block_kv_copies", shared, {1, 2, 4, 6, 8});
  return all;
}

}  // namespace

Suite memory_suite(const SuiteOptions& options) {
  Suite suite{"memory", {}, {}};
  const std::vector<SequenceParallel> modes = {SequenceParallel::off, SequenceParallel::kept,
                                               SequenceParallel::regathered};
  suite.cases = layer_cases(suite.name, blocks(), modes, options);
  for (Case& c : suite.cases) {
    c.profile = profile_name(c.request.sharding);
    c.account = Account{c.profile, volume_profile(c.request), total(kept_activations(c.request)),
                        kept_statistics(c.request)};
    c.statement = fmt::format(
        "a block on {} ranks ({}) keeps {} B of activations and {} B of statistics for backward",
        c.request.mesh.ranks(), c.profile, *c.account->activation_bytes, *c.account->statistics_bytes);
  }
  return suite;
}

}  // namespace tpc
