// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/linear.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reference/baseline/product.hpp"

namespace tpc::baseline {

namespace {

void add_to_rows(Values& rows, const Values& row) {
  if (row.empty()) return;
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += row[i % row.size()];
}

// Rows of a [rows, width] array of which the width is known.
std::int64_t rows_of(const Values& values, std::int64_t width) {
  return width == 0 ? 0 : static_cast<std::int64_t>(values.size()) / width;
}

}  // namespace

Terms Linear::forward(const Values& x, Magnitudes asked) const {
  const auto [in, out] = size_;
  const std::int64_t tokens = scope_.tokens();
  const Values& weight = scope_.input("weight", {out, in});
  const Values* bias = has_bias_ ? &scope_.input("bias", {out}) : nullptr;

  Terms y;
  y.value = product(matrix(x, tokens, in), transpose(matrix(weight, out, in)));
  if (bias != nullptr) add_to_rows(y.value, *bias);
  if (scope_.needs(asked)) {
    y.magnitudes = product(matrix(absolute(x), tokens, in), transpose(matrix(absolute(weight), out, in)));
    if (bias != nullptr) add_to_rows(y.magnitudes, absolute(*bias));
  }
  y.unit = scope_.unit(x) * scope_.unit(weight);
  if (bias != nullptr) y.unit = std::min(y.unit, scope_.unit(*bias));
  scope_.contraction("y", y);
  return y;
}

Terms Linear::backward_input(const Values& dy, Magnitudes asked) const {
  const auto [in, out] = size_;
  const std::int64_t tokens = scope_.tokens();
  const Values& weight = scope_.input("weight", {out, in});

  Terms dx;
  dx.value = product(matrix(dy, tokens, out), matrix(weight, out, in));
  if (scope_.needs(asked))
    dx.magnitudes = product(matrix(absolute(dy), tokens, out), matrix(absolute(weight), out, in));
  dx.unit = scope_.unit(dy) * scope_.unit(weight);
  scope_.contraction("dx", dx);
  return dx;
}

void Linear::backward_parameters(const Values& x, const Values& dy, const Values& magnitudes) const {
  const auto [in, out] = size_;
  if (scope_.accounts()) {
    const Scale terms = scale_of_rows(out, in, weight_gradient_magnitudes(dy, x, size_));
    scope_.contraction("grad.weight", terms.max(), scope_.unit(dy) * scope_.unit(x));
  }
  const Scale scale = scale_of_rows(out, in, weight_gradient_magnitudes(magnitudes, x, size_));
  scope_.gradient("weight", {out, in}, weight_gradient(dy, x, size_), scale);
  if (has_bias_) bias_gradient(dy, magnitudes);
}

void Linear::bias_gradient(const Values& dy, const Values& magnitudes) const {
  Values sum(size_.out);
  Values terms(size_.out);
  Values before_cancellation(size_.out);
  for (std::size_t i = 0; i < dy.size(); ++i) {
    sum[i % sum.size()] += dy[i];
    terms[i % sum.size()] += std::fabs(dy[i]);
    before_cancellation[i % sum.size()] += std::fabs(magnitudes[i]);
  }
  scope_.contraction("grad.bias", Scale(terms).max(), scope_.unit(dy));
  scope_.gradient("bias", {size_.out}, std::move(sum), Scale(before_cancellation));
}

Values weight_gradient(const Values& dy, const Values& x, Linear::Size size) {
  const std::int64_t tokens = rows_of(dy, size.out);
  return product(transpose(matrix(dy, tokens, size.out)), matrix(x, tokens, size.in));
}

FillRows weight_gradient_magnitudes(const Values& dy, const Values& x, Linear::Size size) {
  return [dy = absolute(dy), x = absolute(x), size](std::int64_t first, std::int64_t count, Values& part) {
    const std::int64_t tokens = rows_of(dy, size.out);
    const MatrixView columns = {dy.data() + first, tokens, count, size.out};
    add_product(transpose(columns), matrix(x, tokens, size.in), {part.data(), size.in});
  };
}

}  // namespace tpc::baseline
