// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/configuration/shrink.hpp"

#include <algorithm>
#include <set>

#include "harness/explain/configuration/fields.hpp"

namespace tpc {

namespace {

// What an operation is made of, the smallest parts last.
std::vector<Operation> parts_of(Operation operation) {
  using enum Operation;
  switch (operation) {
    case train:
      return {model};
    case model:
      return {vocab_cross_entropy, vocab_embedding, transformer_layer, attention, mlp, layer_norm};
    case transformer_layer:
      return {attention, mlp, layer_norm, rms_norm};
    case attention:
    case mlp:
      return {column_linear, row_linear};
    default:
      return {};
  }
}

// Whole numbers below n that are worth a try, the smallest first: multiples of tp keep it divisible.
std::vector<std::int64_t> smaller_numbers(std::int64_t n, std::int64_t simplest, int tp) {
  std::vector<std::int64_t> numbers;
  const std::int64_t half = n / 2;
  for (const std::int64_t m : {simplest, std::int64_t{1}, std::int64_t{2}, std::int64_t{tp},
                               std::int64_t{2} * tp, half / tp * tp, half, n - tp, n - 1})
    if (m < n && m >= std::min<std::int64_t>(simplest, 1) &&
        std::find(numbers.begin(), numbers.end(), m) == numbers.end())
      numbers.push_back(m);
  return numbers;
}

std::vector<std::string> simpler_values(const Field& field, const Configuration& c) {
  static const Configuration simplest;
  const std::string value = field.get(c);
  const std::string best = field.get(simplest);
  if (value == best || !field.matters(c)) return {};
  std::vector<std::string> values;
  if (field.key == "op") {
    for (const Operation part : parts_of(c.problem.operation())) values.emplace_back(name(part));
  } else if (field.key == "tp") {
    for (int tp = 1; tp < c.tp; ++tp) values.push_back(std::to_string(tp));
  } else if (field.key == "tier") {
    values = {best};
  } else if (field.kind == Field::Kind::whole) {
    for (const std::int64_t m : smaller_numbers(std::stoll(value), std::stoll(best), c.tp))
      values.push_back(std::to_string(m));
    if (values.empty()) values = {best};
  } else {
    values = {best};
    if (value == "regathered") values.emplace_back("kept");
    if (value == "full") values.emplace_back("selective");
  }
  return values;
}

// Fewer ranks with the same share for each of them.
void scale_to(Configuration& c, int tp) {
  ModelConfig& model = c.problem.model;
  for (std::int64_t* size : {&model.hidden, &model.heads, &model.kv_heads, &model.ffn, &c.problem.sequence,
                             &c.sharding.padded_vocab})
    if (*size % c.tp == 0) *size = *size / c.tp * tp;
  c.sharding.padded_vocab = std::max(c.sharding.padded_vocab, (model.vocab + tp - 1) / tp * tp);
  model.positions = std::max(model.positions, c.problem.sequence);
  c.tp = tp;
}

}  // namespace

std::vector<Configuration> smaller_configurations(const Configuration& configuration) {
  std::vector<Configuration> smaller;
  for (const Field& field : configuration_fields())
    for (const std::string& value : simpler_values(field, configuration)) {
      Configuration next = configuration;
      field.set(next, value);
      if (field.key == "tp" && !configuration_defect(next).empty()) {
        next = configuration;
        scale_to(next, std::stoi(value));
      }
      drop_what_does_not_matter(next);
      if (configuration_defect(next).empty()) smaller.push_back(std::move(next));
    }
  return smaller;
}

Shrunk shrink(const Configuration& failing, const std::function<bool(const Configuration&)>& fails,
              int most_attempts) {
  Shrunk shrunk{failing};
  drop_what_does_not_matter(shrunk.smallest);
  std::set<std::string> tried = {to_text(shrunk.smallest)};
  const auto step = [&] {
    for (const Configuration& next : smaller_configurations(shrunk.smallest)) {
      if (!tried.insert(to_text(next)).second) continue;
      if (shrunk.attempts == most_attempts) return false;
      ++shrunk.attempts;
      if (!fails(next)) continue;
      shrunk.smallest = next;
      return true;
    }
    shrunk.finished = true;
    return false;
  };
  while (step()) {
  }
  return shrunk;
}

}  // namespace tpc
