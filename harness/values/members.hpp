// SPDX-License-Identifier: Apache-2.0
// The members of each part of a request, by the names that an outside process reads
// (harness/adapters/README.md): what is told, and what makes two problems differ, is listed here and nowhere
// else. `visit_members(value, visit)` calls visit(name, member) for each.
#pragma once

#include "harness/values/request.hpp"

namespace tpc {

template <class Visit>
void visit_members(const RotaryScaling& r, const Visit& visit) {
  visit("factor", r.factor);
  visit("low_frequency_factor", r.low_frequency_factor);
  visit("high_frequency_factor", r.high_frequency_factor);
  visit("original_positions", r.original_positions);
}

template <class Visit>
void visit_members(const LossDefinition& l, const Visit& visit) {
  visit("label_smoothing", l.label_smoothing);
  visit("smoothing_over", l.smoothing_over);
  visit("z_loss", l.z_loss);
  visit("mean_over", l.mean_over);
  visit("ignore_index", l.ignore_index);
}

template <class Visit>
void visit_members(const DropoutRates& d, const Visit& visit) {
  visit("embedding", d.embedding);
  visit("attention", d.attention);
  visit("hidden", d.hidden);
}

template <class Visit>
void visit_members(const ModelConfig& m, const Visit& visit) {
  visit("layers", m.layers);
  visit("hidden", m.hidden);
  visit("heads", m.heads);
  visit("kv_heads", m.kv_heads);
  visit("head_dim", m.head_dim);
  visit("ffn", m.ffn);
  visit("vocab", m.vocab);
  visit("positions", m.positions);
  visit("norm", m.norm);
  visit("norm_eps", m.norm_eps);
  visit("mlp", m.mlp);
  visit("gelu", m.gelu);
  visit("position", m.position);
  visit("rotary", m.rotary);
  visit("rotary_theta", m.rotary_theta);
  visit("rotary_scaling", m.rotary_scaling);
  visit("causal", m.causal);
  visit("attention_scale", m.attention_scale);
  visit("qkv_bias", m.qkv_bias);
  visit("out_bias", m.out_bias);
  visit("mlp_bias", m.mlp_bias);
  visit("tied_head", m.tied_head);
  visit("loss", m.loss);
  visit("dropout", m.dropout);
}

template <class Visit>
void visit_members(const Sharding& s, const Visit& visit) {
  visit("sequence_parallel", s.sequence_parallel);
  visit("fused", s.fused);
  visit("own_entries", s.own_entries);
  visit("mlp_order", s.mlp_order);
  visit("gather_output", s.gather_output);
  visit("input_is_split", s.input_is_split);
  visit("recompute", s.recompute);
  visit("padded_vocab", s.padded_vocab);
  visit("overlap_chunks", s.overlap_chunks);
}

template <class Visit>
void visit_members(const MeshSpec& m, const Visit& visit) {
  visit("shape", m.shape);
  visit("axes", m.axes);
}

template <class Visit>
void visit_members(const CollectiveProblem& c, const Visit& visit) {
  visit("kind", c.kind);
  visit("op", c.op);
  visit("count", c.count);
  visit("root", c.root);
  visit("in_place", c.in_place);
  visit("repeats", c.repeats);
  visit("members", c.members);
}

template <class Visit>
void visit_members(const MeshProblem& m, const Visit& visit) {
  visit("view", m.view);
  visit("mesh", m.mesh);
  visit("axes", m.axes);
  visit("into", m.into);
}

template <class Visit>
void visit_members(const Randomness& r, const Visit& visit) {
  visit("profile", r.profile);
  visit("training", r.training);
  visit("seed_by_data_parallel_rank", r.seed_by_data_parallel_rank);
}

template <class Visit>
void visit_members(const InitProblem& i, const Visit& visit) {
  visit("inverse_root_fan_in", i.inverse_root_fan_in);
  visit("std", i.std);
}

template <class Visit>
void visit_members(const TrainProblem& t, const Visit& visit) {
  visit("optimizer", t.optimizer);
  visit("lr", t.lr);
  visit("momentum", t.momentum);
  visit("beta1", t.beta1);
  visit("beta2", t.beta2);
  visit("eps", t.eps);
  visit("weight_decay", t.weight_decay);
  visit("max_norm", t.max_norm);
  visit("norm", t.norm);
  visit("reports", t.reports);
  visit("token_losses", t.token_losses);
}

template <class Visit>
void visit_members(const Generator& g, const Visit& visit) {
  visit("kind", g.kind);
  visit("a", g.a);
  visit("b", g.b);
  visit("c", g.c);
  visit("exponent", g.exponent);
  visit("text", g.text);
}

template <class Visit>
void visit_members(const InputSpec& i, const Visit& visit) {
  visit("name", i.name);
  visit("shape", i.shape);
  visit("generator", i.generator);
}

template <class Visit>
void visit_members(const Problem& p, const Visit& visit) {
  visit("asked", p.asked);
  visit("model", p.model);
  visit("batch", p.batch);
  visit("sequence", p.sequence);
  visit("random", p.random);
  visit("init", p.init);
  visit("train", p.train);
  visit("dtype", p.dtype);
  visit("seed", p.seed);
  visit("inputs", p.inputs);
}

template <class T>
concept Composed = requires(const T& value) {
  visit_members(value, [](const char*, const auto&) {});
};

}  // namespace tpc
