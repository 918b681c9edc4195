// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/faults/ordinary_check.hpp"

#include <algorithm>
#include <cmath>

#include "harness/judge/inputs/problem_inputs.hpp"
#include "harness/run/implementations.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {

namespace {

using SP = SequenceParallel;

constexpr int devices = 2;
constexpr std::int64_t padded_vocabulary = 104;

ModelConfig gpt2_like() {
  ModelConfig c;
  c.layers = 2;
  c.hidden = 32;
  c.heads = c.kv_heads = 4;
  c.head_dim = 8;
  c.ffn = 64;
  c.vocab = 101;
  c.positions = 32;
  return c;
}

ModelConfig llama_like() {
  ModelConfig c = gpt2_like();
  c.norm = NormKind::rms_norm;
  c.mlp = MlpKind::swiglu;
  c.position = PositionKind::rotary;
  c.positions = 0;
  c.qkv_bias = c.out_bias = c.mlp_bias = c.tied_head = false;
  return c;
}

struct Setting {
  const char* name;
  ModelConfig config;
  SP mode = SP::off;
  bool fused = true;
  DType dtype = DType::f32;
};

template <class F>
ModelConfig changed(ModelConfig config, F&& change) {
  change(config);
  return config;
}

std::vector<Setting> all_settings() {
  const ModelConfig gpt2 = gpt2_like();
  const ModelConfig llama = llama_like();
  const ModelConfig one_kv_head = changed(gpt2, [](ModelConfig& c) { c.kv_heads = 1; });
  const ModelConfig smoothed = changed(gpt2, [](ModelConfig& c) { c.loss.label_smoothing = 0.1; });
  const ModelConfig dropping = changed(gpt2, [](ModelConfig& c) { c.dropout = {0.1, 0.1, 0.1}; });
  return {{"gpt2", gpt2},
          {"gpt2_kept", gpt2, SP::kept},
          {"gpt2_regathered", gpt2, SP::regathered},
          {"gpt2_separate_weights", gpt2, SP::off, false},
          {"gpt2_smoothed", smoothed},
          {"gpt2_one_kv_head", one_kv_head},
          {"gpt2_one_kv_head_kept", one_kv_head, SP::kept},
          {"gpt2_dropout", dropping},
          {"gpt2_dropout_kept", dropping, SP::kept},
          {"llama", llama},
          {"llama_kept", llama, SP::kept},
          {"gpt2_bf16", gpt2, SP::off, true, DType::bf16}};
}

Case case_of(const Setting& s, std::uint64_t seed) {
  Case c;
  c.suite = "ordinary";
  c.name = s.name;
  c.tier = Tier::f32;
  Problem& problem = c.request.problem;
  problem.asked = Operation::train;
  problem.model = s.config;
  problem.batch = 2;
  problem.sequence = 16;
  problem.dtype = s.dtype;
  problem.seed = seed;
  problem.train.optimizer = TrainProblem::Optimizer::adamw;
  problem.train.lr = 1e-3;
  problem.train.reports = {second_look + 1};
  problem.train.token_losses = true;
  IdChoice ids;
  ids.padded_vocab = padded_vocabulary;
  problem.inputs = inputs_for(problem, InputRecipe::gaussian, ids);
  c.request.sharding.padded_vocab = padded_vocabulary;
  c.request.sharding.sequence_parallel = s.mode;
  c.request.sharding.fused = s.fused;
  c.request.mesh = {{devices}, {"tp"}};
  c.statement = "four steps of Adam on two ranks have the losses of one device, as closely as is customary";
  return c;
}

const Tensor* named(const std::vector<LocalTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const LocalTensor& local) { return local.name == name; });
  return found == tensors.end() ? nullptr : &found->data;
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  visit_float(tensor.dtype(), [&](auto zero) {
    const auto* const from = tensor.data<decltype(zero)>();
    for (std::int64_t i = 0; i < tensor.count(); ++i) values.push_back(static_cast<double>(from[i]));
  });
  return values;
}

// NaN is close to nothing.
bool close(double got, double wanted, const Tolerance& tolerance) {
  return std::fabs(got - wanted) <= tolerance.absolute + tolerance.relative * std::fabs(wanted);
}

bool all_close(const Tensor* got, const Tensor* wanted, const Tolerance& tolerance) {
  if (got == nullptr || wanted == nullptr || got->count() != wanted->count()) return false;
  const std::vector<double> a = values_of(*got);
  const std::vector<double> b = values_of(*wanted);
  return std::equal(a.begin(), a.end(), b.begin(),
                    [&](double x, double y) { return close(x, y, tolerance); });
}

}  // namespace

OrdinaryCheck::OrdinaryCheck(std::uint64_t seed) {
  for (const Setting& setting : all_settings()) settings_.push_back(case_of(setting, seed));
}

const Case* OrdinaryCheck::setting_for(const FaultRow& row) const {
  const auto found = std::find_if(settings_.begin(), settings_.end(),
                                  [&](const Case& c) { return can_occur(row, c.request); });
  return found == settings_.end() ? nullptr : &*found;
}

const std::vector<LocalTensor>& OrdinaryCheck::alone(const Case& c) {
  const auto [place, is_new] = alone_.try_emplace(c.name);
  if (!is_new) return place->second;
  Request request = c.request;
  request.mesh = {{1}, {"tp"}};
  request.sharding.sequence_parallel = SP::off;
  return place->second = make_reference_implementation()->run(request, make_single_communicator()).tensors;
}

Comparison OrdinaryCheck::judge(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks) {
  const std::vector<LocalTensor>& wanted = alone(c);
  const Tensor close_here = host_tensor(DType::i64, {4}, "close");
  auto* const flags = close_here.data<std::int64_t>();
  const Tensor* const losses = named(got, "loss");
  const Tensor* const wanted_losses = named(wanted, "loss");
  for (const int look : {0, 1}) {
    const std::int64_t step = look == 0 ? first_look : second_look;
    const bool there = losses != nullptr && losses->count() > step;
    if (there) {
      const Tensor loss = losses->rows(step, 1);
      const Tensor wanted_loss = wanted_losses->rows(step, 1);
      flags[look] = all_close(&loss, &wanted_loss, loss_tolerance) ? 1 : 0;
    }
    const std::string outputs = step_name(step, "token_loss");
    flags[2 + look] = all_close(named(got, outputs), named(wanted, outputs), output_tolerance) ? 1 : 0;
  }
  ranks.all_reduce(close_here, close_here, ReduceOp::min);
  for (const int look : {0, 1}) {
    last_.loss[look] = flags[look] == 1;
    last_.outputs[look] = flags[2 + look] == 1;
  }
  Comparison comparison;
  if (std::all_of(flags, flags + 4, [](std::int64_t flag) { return flag == 1; })) return comparison;
  comparison.verdict = Verdict::fail;
  comparison.message = fmt::format("close after {} and {} steps: loss {}, {}; outputs {}, {}", first_look,
                                   second_look, flags[0], flags[1], flags[2], flags[3]);
  return comparison;
}

}  // namespace tpc
