// SPDX-License-Identifier: Apache-2.0
#include "harness/values/request.hpp"

#include <fmt/format.h>

#include <iterator>

namespace tpc {

namespace {

// Numbers in their shortest exact form, strings with their length: no two problems read alike.
class KeyWriter {
 public:
  template <class T>
  KeyWriter& operator<<(const T& value) {
    if constexpr (std::is_enum_v<T>)
      fmt::format_to(std::back_inserter(text_), "{} ", static_cast<int>(value));
    else if constexpr (std::is_convertible_v<T, std::string_view>)
      fmt::format_to(std::back_inserter(text_), "{}:{} ", std::string_view(value).size(),
                     std::string_view(value));
    else
      fmt::format_to(std::back_inserter(text_), "{} ", value);
    return *this;
  }
  template <class T>
  KeyWriter& operator<<(const std::vector<T>& list) {
    *this << list.size();
    for (const T& item : list) *this << item;
    return *this;
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

void write(KeyWriter& key, const ModelConfig& c) {
  key << c.layers << c.hidden << c.heads << c.kv_heads << c.head_dim << c.ffn << c.vocab << c.positions
      << c.norm << c.norm_eps << c.mlp << c.gelu << c.position << c.rotary << c.rotary_theta
      << c.rotary_scaling.has_value();
  const RotaryScaling scaling = c.rotary_scaling.value_or(RotaryScaling{});
  key << scaling.factor << scaling.low_frequency_factor << scaling.high_frequency_factor
      << scaling.original_positions;
  key << c.causal << c.attention_scale.has_value() << c.attention_scale.value_or(0) << c.qkv_bias
      << c.out_bias << c.mlp_bias << c.tied_head;
  key << c.loss.label_smoothing << c.loss.smoothing_over << c.loss.z_loss << c.loss.mean_over
      << c.loss.ignore_index;
  key << c.dropout.embedding << c.dropout.attention << c.dropout.hidden;
}

void write(KeyWriter& key, const Randomness& r, const InitProblem& i, const TrainProblem& t) {
  key << r.profile << r.training << r.seed_by_data_parallel_rank << i.inverse_root_fan_in << i.std;
  key << t.optimizer << t.lr << t.momentum << t.beta1 << t.beta2 << t.eps << t.weight_decay << t.max_norm
      << t.norm << t.reports << t.token_losses;
}

}  // namespace

std::string key(const Problem& problem) {
  KeyWriter key;
  key << problem.kind << problem.operation << problem.batch << problem.sequence << problem.dtype
      << problem.seed;
  write(key, problem.model);
  const CollectiveProblem& c = problem.collective;
  key << c.kind << c.op << c.count << c.root << c.in_place << c.repeats << c.members;
  const MeshProblem& m = problem.mesh;
  key << m.view << m.mesh.shape << m.mesh.axes << m.axes << m.into.shape << m.into.axes;
  write(key, problem.random, problem.init, problem.train);
  key << problem.inputs.size();
  for (const InputSpec& input : problem.inputs) {
    const Generator& g = input.generator;
    key << input.name << input.shape << g.kind << g.a << g.b << g.c << g.exponent << g.text;
  }
  return std::move(key).text();
}

}  // namespace tpc
