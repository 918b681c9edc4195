// SPDX-License-Identifier: Apache-2.0
// Claim: what the ranks begin with is one full tensor of the defined distribution, cut: its spread does not
// grow with the degree, shards differ, copies are equal, and no two parameters share their numbers.
#include <algorithm>

#include "suites/layer_cases.hpp"
#include "suites/suites.hpp"

namespace tpc {

namespace {

struct InitCase {
  const char* tag;
  ModelConfig config;
  std::string profile;
  MeshSpec mesh;
  bool by_fan = false;
  DType dtype = DType::f64;
};

// Small enough to be sent to all, large enough that a shard of an eighth is no accident.
ModelConfig small_gpt2() {
  ModelConfig config = gpt2_style();
  config.hidden = 48;
  config.head_dim = 2;
  config.ffn = 192;
  return config;
}

ModelConfig small_llama() {
  ModelConfig config = llama_style();
  config.hidden = 48;
  config.head_dim = 4;
  config.kv_heads = 2;
  config.ffn = 96;
  return config;
}

std::vector<InitCase> init_cases() {
  std::vector<InitCase> all;
  const MeshSpec three_axes{{2, 2, 2}, {"pp", "dp", "tp"}};
  for (const char* profile : {"invariant", "megatron", "dtensor"}) {
    for (const int tp : {1, 2, 3, 4, 6, 8})
      for (const bool by_fan : {false, true})
        all.push_back({"gpt2", small_gpt2(), profile, {{tp}, {"tp"}}, by_fan});
    for (const int tp : {2, 4, 8}) all.push_back({"llama_kv2", small_llama(), profile, {{tp}, {"tp"}}});
    all.push_back({"gpt2", small_gpt2(), profile, three_axes});
  }
  all.push_back({"gpt2", small_gpt2(), "invariant", {{4}, {"tp"}}, true, DType::f32});
  return all;
}

Case init_case(const InitCase& i, std::uint64_t seed) {
  const bool known = i.profile == "invariant";
  Case c;
  c.suite = "init";
  c.tier = known ? Tier::exact : Tier::statistics;
  std::string mesh;
  for (std::size_t axis = 0; axis < i.mesh.axes.size(); ++axis)
    mesh += fmt::format("_{}{}", i.mesh.axes[axis], i.mesh.shape[axis]);
  c.name = fmt::format("{}/{}{}_{}{}", i.tag, i.profile, mesh, name(i.dtype), i.by_fan ? "_fan" : "");
  c.profile = i.profile;
  Problem& problem = c.request.problem;
  problem.asked = Operation::init;
  problem.model = i.config;
  problem.dtype = i.dtype;
  problem.seed = seed;
  problem.random.profile = i.profile;
  problem.init.inverse_root_fan_in = i.by_fan;
  c.request.sharding.padded_vocab = 120;
  c.request.mesh = i.mesh;
  c.statement =
      known ? "initial parameters, gathered from their shards, are bit for bit those of one device"
            : "initial parameters have the std of the whole tensor's definition; shards, layers and repeated "
              "initialisations are independent, copies are equal";
  return c;
}

}  // namespace

Suite init_suite(const SuiteOptions& options) {
  Suite suite{"init", {}, {}};
  const std::uint64_t seed = options.seed == 0 ? 1234 : options.seed;  // megatron's must be positive
  const auto contains = [](const auto& list, const auto& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  for (const InitCase& i : init_cases()) {
    Case c = init_case(i, seed);
    if ((!options.tiers_given || contains(options.tiers, c.tier)) &&
        contains(options.tp, i.mesh.shape.back()))
      suite.cases.push_back(std::move(c));
  }
  return suite;
}

}  // namespace tpc
