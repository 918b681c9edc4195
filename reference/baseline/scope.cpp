// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/scope.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tpc::baseline {

Scope Scope::inner(const std::string& name) const {
  Scope scope = *this;
  scope.prefix_ += name + ".";
  return scope;
}

bool Scope::has(const std::string& name) const { return inputs_->contains(prefix_ + name); }

const Values& Scope::input(const std::string& name, const Shape& shape) const {
  const auto found = inputs_->find(prefix_ + name);
  TPC_EXPECT(found != inputs_->end(), "the baseline lacks the input '{}{}' of shape {}", prefix_, name,
             to_string(shape));
  const Dense& dense = found->second;
  TPC_EXPECT(dense.shape == shape, "the baseline's input '{}{}' has the shape {}, not {}", prefix_, name,
             to_string(dense.shape), to_string(shape));
  TPC_EXPECT(static_cast<std::int64_t>(dense.values.size()) == element_count(shape),
             "the baseline's input '{}{}' of shape {} has {} values", prefix_, name, to_string(shape),
             dense.values.size());
  return dense.values;
}

void Scope::answer(const std::string& name, Shape shape, Values value, const Scale& scale) const {
  TPC_EXPECT(static_cast<std::int64_t>(value.size()) == element_count(shape),
             "'{}' of shape {} has {} values", name, to_string(shape), value.size());
  solution_->answers[name] = {{std::move(shape), std::move(value)}, scale.norm(), scale.max()};
}

void Scope::answer(const std::string& name, Shape shape, Terms terms) const {
  TPC_EXPECT(terms.magnitudes.size() == terms.value.size(), "'{}' comes without the magnitudes of its terms",
             name);
  const Scale scale(terms.magnitudes);
  answer(name, std::move(shape), std::move(terms.value), scale);
}

void Scope::gradient(const std::string& parameter, Shape shape, Values value, const Scale& scale) const {
  answer("grad." + prefix_ + parameter, std::move(shape), std::move(value), scale);
}

void Scope::contraction(const std::string& name, double largest_magnitude, double unit) const {
  if (!accounts()) return;
  const double quanta = largest_magnitude == 0 ? 0 : largest_magnitude / unit;
  solution_->contractions.push_back({prefix_ + name, quanta});
}

void Scope::contraction(const std::string& name, const Terms& terms) const {
  if (accounts()) contraction(name, largest_quanta(terms), 1);
}

void Scope::stored(const std::string& name, const Values& values) const {
  if (!accounts()) return;
  constexpr double rounded_from = 0x1p40;
  double quanta = 0;
  for (const double value : values)
    if (value != 0) quanta = std::max(quanta, std::fabs(value) / lowest_bit(value));
  if (quanta >= rounded_from) quanta = std::numeric_limits<double>::infinity();
  solution_->contractions.push_back({prefix_ + name, quanta});
}

}  // namespace tpc::baseline
