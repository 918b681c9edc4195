// SPDX-License-Identifier: Apache-2.0
// Matrix products: CBLAS of BLIS behind one function, held against plain loops in product_test.cpp.
#pragma once

#include <cstdint>

#include "reference/baseline/values.hpp"

namespace tpc::baseline {

// A row-major matrix inside a larger array: rows are `stride` elements apart.
struct MatrixView {
  const double* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;
  bool transposed = false;  // seen as [cols, rows]
};

inline MatrixView matrix(const Values& values, std::int64_t rows, std::int64_t cols) {
  return {values.data(), rows, cols, cols, false};
}
inline MatrixView transpose(MatrixView view) {
  view.transposed = !view.transposed;
  return view;
}

// Where a product goes: rows `stride` apart.
struct MatrixTarget {
  double* data = nullptr;
  std::int64_t stride = 0;
};

// target += a·b
void add_product(const MatrixView& a, const MatrixView& b, const MatrixTarget& target);

// a·b as a new dense matrix
Values product(const MatrixView& a, const MatrixView& b);

}  // namespace tpc::baseline
