// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reference/core/contract.hpp"

namespace tpc::baseline {

void Scale::add(const Values& magnitudes) {
  for (const double m : magnitudes) {
    squares_ += m * m;
    max_ = std::max(max_, m);
  }
}

double Scale::norm() const { return std::sqrt(squares_); }

Scale scale_of_rows(std::int64_t rows, std::int64_t cols, const FillRows& fill) {
  constexpr std::int64_t elements_at_once = std::int64_t{1} << 21;
  const std::int64_t rows_at_once =
      std::max<std::int64_t>(1, elements_at_once / std::max<std::int64_t>(1, cols));
  Scale scale;
  Values part;
  for (std::int64_t first = 0; first < rows; first += rows_at_once) {
    const std::int64_t count = std::min(rows_at_once, rows - first);
    part.assign(count * cols, 0.0);
    fill(first, count, part);
    scale.add(part);
  }
  return scale;
}

Values absolute(const Values& values) {
  Values result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = std::fabs(values[i]);
  return result;
}

void accumulate(Values& sum, const Values& term) {
  TPC_EXPECT(sum.size() == term.size(), "{} values added to {}", term.size(), sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
}

namespace {

// Zero terms, which any number divides, put no bound on an element's unit.
double unit_at(const Terms& terms, std::size_t i) {
  if (!terms.units.empty()) return terms.units[i];
  return terms.magnitudes[i] == 0 ? std::numeric_limits<double>::infinity() : terms.unit;
}

}  // namespace

Terms sum_of(Terms a, const Terms& b) {
  Values units;
  if (a.unit > 0 && b.unit > 0 && a.magnitudes.size() == b.magnitudes.size())
    for (std::size_t i = 0; i < a.magnitudes.size(); ++i)
      units.push_back(std::min(unit_at(a, i), unit_at(b, i)));
  accumulate(a.value, b.value);
  if (!a.magnitudes.empty()) accumulate(a.magnitudes, b.magnitudes);
  a.unit = std::min(a.unit, b.unit);
  a.units = std::move(units);
  return a;
}

double largest_quanta(const Terms& terms) {
  double quanta = 0;
  for (std::size_t i = 0; i < terms.magnitudes.size(); ++i)
    if (terms.magnitudes[i] != 0) quanta = std::max(quanta, terms.magnitudes[i] / unit_at(terms, i));
  return quanta;
}

double lowest_bit(double value) {
  if (value == 0) return std::numeric_limits<double>::infinity();
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // 53 bits in [1/2, 1)
  const auto digits = static_cast<std::int64_t>(std::ldexp(mantissa, 53));
  return std::ldexp(static_cast<double>(digits & -digits), exponent - 53);
}

double lowest_bit(const Values& values) {
  double bit = std::numeric_limits<double>::infinity();
  for (const double value : values) bit = std::min(bit, lowest_bit(value));
  return bit;
}

}  // namespace tpc::baseline
