// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/product.hpp"

#include <cblas.h>

#include <limits>

#include "reference/core/contract.hpp"

namespace tpc::baseline {

namespace {
std::int64_t visible_rows(const MatrixView& view) { return view.transposed ? view.cols : view.rows; }
std::int64_t visible_cols(const MatrixView& view) { return view.transposed ? view.rows : view.cols; }

f77_int blas_int(std::int64_t extent) {
  TPC_EXPECT(extent <= std::numeric_limits<f77_int>::max(), "extent {} exceeds the integers of BLAS", extent);
  return static_cast<f77_int>(extent);
}
}  // namespace

void add_product(const MatrixView& a, const MatrixView& b, const MatrixTarget& target) {
  const std::int64_t rows = visible_rows(a);
  const std::int64_t cols = visible_cols(b);
  const std::int64_t inner = visible_cols(a);
  TPC_EXPECT(inner == visible_rows(b), "a product over {} and {} terms", inner, visible_rows(b));
  if (rows == 0 || cols == 0 || inner == 0) return;
  cblas_dgemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans,
              b.transposed ? CblasTrans : CblasNoTrans, blas_int(rows), blas_int(cols), blas_int(inner), 1.0,
              a.data, blas_int(a.stride), b.data, blas_int(b.stride), 1.0, target.data,
              blas_int(target.stride));
}

Values product(const MatrixView& a, const MatrixView& b) {
  Values result(visible_rows(a) * visible_cols(b));
  add_product(a, b, {result.data(), visible_cols(b)});
  return result;
}

}  // namespace tpc::baseline
