// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "reference/core/contract.hpp"

namespace tpc::bench {

namespace {

using Matrix = std::vector<std::vector<double>>;

// Gaussian elimination with row pivoting; nothing where the system is singular.
std::optional<std::vector<double>> solved(Matrix a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    if (std::abs(a[pivot][k]) < 1e-13) return std::nullopt;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

// rows·c = 1 for the chosen columns, by the normal equations; the columns are brought to length 1 first,
// since steps and bytes are many decades apart.
std::optional<std::vector<double>> fitted(const Matrix& rows, const std::vector<std::size_t>& columns) {
  const std::size_t n = columns.size();
  std::vector<double> length(n, 0);
  for (std::size_t j = 0; j < n; ++j) {
    for (const auto& row : rows) length[j] += row[columns[j]] * row[columns[j]];
    length[j] = std::sqrt(length[j]);
    if (length[j] == 0) return std::nullopt;
  }
  Matrix normal(n, std::vector<double>(n, 0));
  std::vector<double> right(n, 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < n; ++i) {
      right[i] += row[columns[i]] / length[i];
      for (std::size_t j = 0; j < n; ++j)
        normal[i][j] += row[columns[i]] * row[columns[j]] / (length[i] * length[j]);
    }
  auto c = solved(std::move(normal), std::move(right));
  if (c)
    for (std::size_t j = 0; j < n; ++j) (*c)[j] /= length[j];
  return c;
}

double squared_error(const Matrix& rows, const std::vector<double>& c) {
  double sum = 0;
  for (const auto& row : rows) {
    double error = -1;
    for (std::size_t j = 0; j < c.size(); ++j) error += row[j] * c[j];
    sum += error * error;
  }
  return sum;
}

}  // namespace

std::vector<double> fit_relative(const Matrix& terms, const std::vector<double>& times) {
  TPC_EXPECT(!terms.empty() && terms.size() == times.size(), "{} rows, {} times", terms.size(), times.size());
  const std::size_t n = terms.front().size();
  Matrix rows = terms;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TPC_EXPECT(rows[i].size() == n && times[i] > 0, "row {} of a fit: {} terms, time {}", i, rows[i].size(),
               times[i]);
    for (double& term : rows[i]) term /= times[i];
  }
  std::vector<double> best(n, 0);
  double best_error = std::numeric_limits<double>::infinity();
  for (std::size_t subset = 1; subset < (std::size_t{1} << n); ++subset) {
    std::vector<std::size_t> columns;
    for (std::size_t j = 0; j < n; ++j)
      if ((subset >> j) & 1U) columns.push_back(j);
    const auto c = fitted(rows, columns);
    if (!c || std::any_of(c->begin(), c->end(), [](double x) { return x < 0; })) continue;
    std::vector<double> all(n, 0);
    for (std::size_t j = 0; j < columns.size(); ++j) all[columns[j]] = (*c)[j];
    const double error = squared_error(rows, all);
    if (error < best_error) {
      best = std::move(all);
      best_error = error;
    }
  }
  return best;
}

RelativeErrors relative_errors(const std::vector<double>& predicted, const std::vector<double>& measured) {
  TPC_EXPECT(predicted.size() == measured.size() && !measured.empty(), "{} predictions for {} measurements",
             predicted.size(), measured.size());
  RelativeErrors errors;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double error = std::abs(predicted[i] / measured[i] - 1);
    errors.mean += error / static_cast<double>(measured.size());
    errors.max = std::max(errors.max, error);
  }
  return errors;
}

}  // namespace tpc::bench
