// SPDX-License-Identifier: Apache-2.0
// f64 by BLIS; f32 by oneDNN; bf16 widened to f32,
// multiplied there and rounded once.
#include <cblas.h>
#include <dnnl.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "reference/compute/blis_kernels.hpp"
#include "reference/compute/checks.hpp"
#include "reference/compute/host.hpp"
#include "reference/compute/host_loops.hpp"

namespace tpc {

namespace {

[[maybe_unused]] const bool blis_kernels_chosen = choose_blis_kernels();  // before main, hence before threads

// Row-major.
struct HostProduct : Product {
  bool accumulate;

  std::int64_t a_count() const { return m * k; }
  std::int64_t b_count() const { return k * n; }
  std::int64_t c_count() const { return m * n; }
  std::int64_t b_stride() const { return shared_b ? 0 : b_count(); }
  // A row's length in memory; BLAS wants at least 1.
  std::int64_t lda() const { return std::max<std::int64_t>(ta == Transpose::yes ? m : k, 1); }
  std::int64_t ldb() const { return std::max<std::int64_t>(tb == Transpose::yes ? k : n, 1); }
  std::int64_t ldc() const { return std::max<std::int64_t>(n, 1); }
};

f77_int blas_int(std::int64_t value) {
  TPC_EXPECT(value <= std::numeric_limits<f77_int>::max(), "gemm: an extent of {} is too large for BLAS",
             value);
  return static_cast<f77_int>(value);
}

void multiply(const HostProduct& p, double* c, const double* a, const double* b) {
  const auto op = [](Transpose t) { return t == Transpose::yes ? CblasTrans : CblasNoTrans; };
  cblas_dgemm(CblasRowMajor, op(p.ta), op(p.tb), blas_int(p.m), blas_int(p.n), blas_int(p.k), 1, a,
              blas_int(p.lda()), b, blas_int(p.ldb()), p.accumulate ? 1 : 0, c, blas_int(p.ldc()));
}

void multiply(const HostProduct& p, float* c, const float* a, const float* b) {
  const auto op = [](Transpose t) { return t == Transpose::yes ? 'T' : 'N'; };
  const dnnl_status_t status = dnnl_sgemm(op(p.ta), op(p.tb), p.m, p.n, p.k, 1, a, p.lda(), b, p.ldb(),
                                          p.accumulate ? 1.0F : 0.0F, c, p.ldc());
  if (status != dnnl_success)
    throw EnvironmentError(fmt::format("oneDNN failed to multiply {} x {} x {}", p.m, p.n, p.k),
                           fmt::format("status {}", static_cast<int>(status)), "report it with the shapes");
}

template <class T>
void multiply_batch(const HostProduct& p, T* c, const T* a, const T* b) {
  if (p.c_count() == 0) return;
  if (p.k == 0) {
    if (!p.accumulate) std::fill_n(c, p.batch * p.c_count(), T{});
    return;
  }
  for (std::int64_t i = 0; i < p.batch; ++i)
    multiply(p, c + i * p.c_count(), a + i * p.a_count(), b + i * p.b_stride());
}

std::unique_ptr<float[]> widened(const bf16* x, std::int64_t count) {
  auto wide = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count));
  std::transform(x, x + count, wide.get(), widen<bf16>);
  return wide;
}

void multiply_batch(const HostProduct& p, bf16* c, const bf16* a, const bf16* b) {
  const std::int64_t batch = p.batch;
  const std::int64_t c_count = batch * p.c_count();
  const auto wide_a = widened(a, batch * p.a_count());
  const auto wide_b = widened(b, p.shared_b ? p.b_count() : batch * p.b_count());
  const auto wide_c = p.accumulate
                          ? widened(c, c_count)
                          : std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(c_count));
  multiply_batch<float>(p, wide_c.get(), wide_a.get(), wide_b.get());
  std::transform(wide_c.get(), wide_c.get() + c_count, c, [](float value) { return bf16(value); });
}

}  // namespace

void HostKernels::gemm(const Product& shape, const Tensor& c, const Tensor& a, const Tensor& b,
                       bool accumulate) {
  HostProduct product{shape, accumulate};
  if (product.shared_b && product.ta == Transpose::no) {  // the batch is then only more rows
    product.m *= product.batch;
    product.batch = 1;
  }
  visit_float(c.dtype(), [&](auto zero) {
    using T = decltype(zero);
    multiply_batch(product, values<T>(c), values<T>(a), values<T>(b));
  });
}

}  // namespace tpc
