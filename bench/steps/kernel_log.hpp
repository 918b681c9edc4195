// SPDX-License-Identifier: Apache-2.0
// What a rank computed: how often, over how many bytes, and for how long where a clock was at hand.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "reference/compute/compute.hpp"

namespace tpc::bench {

// c [m,n] (+)= op(a)·op(b) with k terms each, `batch` times.
struct ProductShape {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool a_transposed = false;
  bool b_transposed = false;
  bool b_shared = false;  // by the batch
  DType dtype = DType::f32;

  auto key() const { return std::tuple(m, n, k, batch, a_transposed, b_transposed, b_shared, dtype); }
  bool operator==(const ProductShape&) const = default;
  friend bool operator<(const ProductShape& a, const ProductShape& b) { return a.key() < b.key(); }
  double flops() const { return 2.0 * static_cast<double>(batch * m) * static_cast<double>(n * k); }
};
std::string to_string(const ProductShape& shape);  // "12x256x64x256 nt"

struct KernelUse {
  std::int64_t calls = 0;
  double bytes = 0;  // of all operands
  double seconds = 0;
};

struct KernelLog {
  std::map<ProductShape, KernelUse> products;
  std::map<std::string, KernelUse> others;  // by kernel
  KernelUse allocations;

  double product_s() const;
  double other_s() const;
};

// Forwards to `inner`, which must outlive it as the log must, and writes down every call. `drag`: a planted
// fault, each kernel takes so many times longer than it does.
std::unique_ptr<Compute> make_logged_compute(Compute& inner, KernelLog& log, double drag = 0);

}  // namespace tpc::bench
