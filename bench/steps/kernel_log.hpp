// SPDX-License-Identifier: Apache-2.0
// What a rank computed: how often, over how many bytes, and for how long where a clock was at hand.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "reference/compute/compute.hpp"

namespace tpc::bench {

std::string to_string(const Product& product);  // "12x256x64x256 nt"

struct KernelUse {
  std::int64_t calls = 0;
  double bytes = 0;  // of all operands
  double seconds = 0;
};

struct KernelLog {
  std::map<Product, KernelUse> products;
  std::map<std::string, KernelUse> others;  // by kernel
  KernelUse allocations;

  double product_s() const;
  double other_s() const;
};

// Writes down every call of `compute` for as long as it lives. `drag`: a planted fault, each kernel takes so
// many times longer than it does.
class LogScope {
 public:
  LogScope(Compute& compute, KernelLog& log, double drag = 0);
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;
  ~LogScope() { compute_.observe(std::move(before_)); }

 private:
  Compute& compute_;
  KernelObserver before_;
};

}  // namespace tpc::bench
