// SPDX-License-Identifier: Apache-2.0
// Claim: what cannot be split is refused when it is built, before any collective, by a message that names
// both numbers.
#include "suites/layer_cases.hpp"
#include "suites/suites.hpp"

namespace tpc {

namespace {

struct Invalid {
  const char* name;
  Operation operation;
  ModelConfig config;
  Sharding sharding;
  std::int64_t sequence;
  int tp;
  std::vector<std::string> words;
  MeshSpec mesh;  // empty: tp ranks on axis tp
};

template <class F>
Invalid invalid(const char* name, Operation operation, int tp, std::vector<std::string> words, F&& change) {
  Invalid i{name, operation, gpt2_style(), {}, 24, tp, std::move(words), {}};
  i.sharding.padded_vocab = 120;
  change(i);
  return i;
}

std::vector<Invalid> linear_configurations() {
  const auto ffn = [](std::int64_t size) { return [size](Invalid& i) { i.config.ffn = size; }; };
  const auto swiglu = [](std::int64_t size) {
    return [size](Invalid& i) {
      i.config = llama_style();
      i.config.ffn = size;
    };
  };
  return {
      invalid("column_linear/features_10_tp4", Operation::column_linear, 4, {"10", "4"}, ffn(10)),
      invalid("column_linear/features_7_tp2", Operation::column_linear, 2, {"7", "2"}, ffn(7)),
      invalid("row_linear/features_10_tp3", Operation::row_linear, 3, {"10", "3"}, ffn(10)),
      invalid("row_linear/features_1_tp2", Operation::row_linear, 2, {"1", "2"}, ffn(1)),
      invalid("mlp/ffn_100_tp8", Operation::mlp, 8, {"100", "8"}, ffn(100)),
      invalid("mlp/ffn_100_tp3", Operation::mlp, 3, {"100", "3"}, ffn(100)),
      // 2F splits over the ranks, F does not: a fused gate and up would come apart.
      invalid("mlp_swiglu/fused_ffn_12_tp8", Operation::mlp, 8, {"12", "8", "24"}, swiglu(12)),
      invalid("mlp_swiglu/fused_ffn_3_tp2", Operation::mlp, 2, {"3", "2", "6"}, swiglu(3)),
      invalid("mlp_swiglu/ffn_10_tp4", Operation::mlp, 4, {"10", "4"}, swiglu(10)),
  };
}

std::vector<Invalid> attention_configurations() {
  const auto heads = [](std::int64_t count, std::int64_t kv, std::int64_t dim) {
    return [=](Invalid& i) {
      i.config.heads = count;
      i.config.kv_heads = kv;
      i.config.head_dim = dim;
    };
  };
  const auto attention = Operation::attention;
  return {
      invalid("attention/heads_12_tp8", attention, 8, {"12", "8"}, heads(12, 12, 8)),
      invalid("attention/heads_6_tp4", attention, 4, {"6", "4"}, heads(6, 6, 16)),
      invalid("attention/heads_6_kv_heads_2_tp4", attention, 4, {"6", "4"}, heads(6, 2, 16)),
      invalid("attention/kv_heads_4_tp6", attention, 6, {"4", "6"}, heads(24, 4, 4)),
      invalid("attention/kv_heads_3_tp2", attention, 2, {"3", "2"}, heads(24, 3, 4)),
      invalid("attention/kv_heads_6_tp8", attention, 8, {"6", "8"}, heads(24, 6, 4)),
      invalid("attention/hidden_50_tp4", attention, 4, {"50", "4"}, [](Invalid& i) { i.config.hidden = 50; }),
      invalid("transformer_layer/heads_12_tp8", Operation::transformer_layer, 8, {"12", "8"},
              heads(12, 12, 8)),
      invalid("transformer_layer/ffn_190_tp3", Operation::transformer_layer, 3, {"190", "3"},
              [](Invalid& i) { i.config.ffn = 190; }),
  };
}

std::vector<Invalid> token_configurations() {
  const auto vocab = [](std::int64_t size, std::int64_t padded) {
    return [=](Invalid& i) {
      i.config.vocab = size;
      i.sharding.padded_vocab = padded;
    };
  };
  const auto sequence = [](std::int64_t length, SequenceParallel mode) {
    return [=](Invalid& i) {
      i.sequence = length;
      i.sharding.sequence_parallel = mode;
    };
  };
  const auto kept = SequenceParallel::kept;
  return {
      invalid("vocab_embedding/vocab_50257_tp2", Operation::vocab_embedding, 2, {"50257", "2"},
              vocab(50257, 0)),
      invalid("vocab_cross_entropy/vocab_100_tp3", Operation::vocab_cross_entropy, 3, {"100", "3"},
              vocab(100, 0)),
      invalid("vocab_embedding/padded_102_tp4", Operation::vocab_embedding, 4, {"102", "4"}, vocab(100, 102)),
      invalid("vocab_embedding/padded_96_below_100", Operation::vocab_embedding, 2, {"96", "100"},
              vocab(100, 96)),
      invalid("model/vocab_101_tp2", Operation::model, 2, {"101", "2"}, vocab(101, 0)),
      invalid("model/sequence_23_tp2_kept", Operation::model, 2, {"23", "2"}, sequence(23, kept)),
      invalid("transformer_layer/sequence_25_tp8_kept", Operation::transformer_layer, 8, {"25", "8"},
              sequence(25, kept)),
      invalid("mlp/sequence_10_tp4_regathered", Operation::mlp, 4, {"10", "4"},
              sequence(10, SequenceParallel::regathered)),
      invalid("layer_norm/sequence_5_tp3_kept", Operation::layer_norm, 3, {"5", "3"}, sequence(5, kept)),
      invalid("model/sequence_33_positions_32", Operation::model, 1, {"33", "32"},
              sequence(33, SequenceParallel::off)),
      invalid("mlp/overlap_2_without_sequence_parallel", Operation::mlp, 2,
              {"2 chunks", "sequence parallelism"}, [](Invalid& i) { i.sharding.overlap_chunks = 2; }),
      invalid("mlp/overlap_0_tp2_kept", Operation::mlp, 2, {"0 chunks", "1 or more"},
              [kept](Invalid& i) {
                i.sharding.sequence_parallel = kept;
                i.sharding.overlap_chunks = 0;
              }),
      invalid("mlp/no_tp_axis", Operation::mlp, 2, {"tp", "model"},
              [](Invalid& i) {
                i.mesh = {{2}, {"model"}};
              }),
  };
}

Case make_case(const Invalid& i, const SuiteOptions& options) {
  Variant v;
  v.operation = i.operation;
  v.config = i.config;
  v.sharding = i.sharding;
  v.sequence = i.sequence;
  Case c;
  c.suite = "invalid";
  c.name = i.name;
  c.request.problem = problem_of(v, Tier::f64, DType::f64, options.seed);
  c.request.sharding = i.sharding;
  c.request.mesh = i.mesh.axes.empty() ? MeshSpec{{i.tp}, {"tp"}} : i.mesh;
  c.expectation = Expectation::refusal;
  c.reason_words = i.words;
  c.statement =
      "the configuration is refused at construction, before any collective, with both numbers in the reason";
  return c;
}

}  // namespace

Suite invalid_suite(const SuiteOptions& options) {
  Suite suite{"invalid", {}, {}};
  for (const auto& list : {linear_configurations(), attention_configurations(), token_configurations()})
    for (const Invalid& i : list) suite.cases.push_back(make_case(i, options));
  return suite;
}

}  // namespace tpc
