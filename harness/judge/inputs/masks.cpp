// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/masks.hpp"

#include <cmath>

#include "reference/core/philox.hpp"

namespace tpc {

namespace {

std::string in_layer(const std::string& layer, const std::string& name) {
  return layer.empty() ? name : layer + "." + name;
}

class SiteList {
 public:
  explicit SiteList(const Problem& problem) : problem_(problem), rates_(problem.model.dropout) {}

  void embedding(const std::string& layer) { tokens(layer, "embedding", rates_.embedding); }
  void attention(const std::string& layer) {
    const Shape pairs = {problem_.batch, problem_.model.heads, problem_.sequence, problem_.sequence};
    add(layer, "attention_probabilities", pairs, rates_.attention, true);
  }
  void block(const std::string& block) {
    attention(in_layer(block, "attention"));
    tokens(in_layer(block, "attention"), "attention_output", rates_.hidden);
    tokens(in_layer(block, "mlp"), "mlp_output", rates_.hidden);
  }
  void model() {
    embedding("embedding");
    for (std::int64_t i = 0; i < problem_.model.layers; ++i) block("blocks." + std::to_string(i));
  }

  std::vector<MaskSpec> take() { return std::move(masks_); }

 private:
  void tokens(const std::string& layer, const char* site, double rate) {
    add(layer, site, {problem_.sequence, problem_.batch, problem_.model.hidden}, rate, false);
  }
  void add(const std::string& layer, const std::string& site, const Shape& shape, double rate,
           bool by_heads) {
    if (rate > 0) masks_.push_back({in_layer(layer, "mask." + site), layer, site, shape, rate, by_heads});
  }

  const Problem& problem_;
  const DropoutRates& rates_;
  std::vector<MaskSpec> masks_;
};

}  // namespace

std::vector<MaskSpec> masks_of(const Problem& problem) {
  if (!problem.is_operation() || !problem.random.training) return {};
  SiteList sites(problem);
  switch (problem.operation()) {
    case Operation::vocab_embedding:
      sites.embedding("");
      break;
    case Operation::attention:
      sites.attention("");
      break;
    case Operation::transformer_layer:
      sites.block("");
      break;
    case Operation::model:
    case Operation::dropout:
    case Operation::train:
      sites.model();
      break;
    default:
      break;
  }
  return sites.take();
}

std::uint64_t invariant_key(std::uint64_t seed, const std::string& name) {
  const PhiloxWords words = philox(seed, hash_name(name));
  return static_cast<std::uint64_t>(words[1]) << 32U | words[0];
}

std::vector<double> invariant_mask(std::uint64_t seed, const MaskSpec& mask, std::int64_t step) {
  const std::uint64_t key = invariant_key(seed, "mask/" + mask.layer + "/" + mask.site);
  const std::uint64_t stream = static_cast<std::uint64_t>(step) << 32U;
  const double dropped = std::round(mask.rate * 0x1p32);
  std::vector<double> elements(static_cast<std::size_t>(element_count(mask.shape)));
  for (std::size_t i = 0; i < elements.size(); ++i)
    elements[i] = philox(key, i, stream)[0] >= dropped ? 1 : 0;
  return elements;
}

bool is_mask(const std::string& tensor) {
  return tensor.starts_with("mask.") || tensor.find(".mask.") != std::string::npos;
}

bool depends_on_drawn_masks(const Problem& problem) {
  return problem.random.profile != "invariant" && !masks_of(problem).empty();
}

}  // namespace tpc
