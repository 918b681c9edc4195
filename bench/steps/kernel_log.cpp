// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/kernel_log.hpp"

#include <chrono>
#include <ctime>

namespace tpc::bench {

namespace {

using Clock = std::chrono::steady_clock;

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

KernelUse& use_of(KernelLog& log, const KernelCall& kernel) {
  if (kernel.kernel == "allocate") return log.allocations;
  if (kernel.product != nullptr) return log.products[*kernel.product];
  return log.others[std::string(kernel.kernel)];
}

void timed(KernelLog& log, double drag, const KernelCall& kernel, const std::function<void()>& call) {
  KernelUse& use = use_of(log, kernel);
  if (kernel.kernel == "allocate") drag = 0;
  const auto start = Clock::now();
  const double cpu_start = drag > 0 ? cpu_seconds() : 0;
  call();
  if (drag > 0) {  // of what it computed, not of what others took from its core
    const double until = cpu_seconds() + drag * (cpu_seconds() - cpu_start);
    while (cpu_seconds() < until) continue;
  }
  const std::chrono::duration<double> took = Clock::now() - start;
  ++use.calls;
  use.bytes += kernel.bytes;
  use.seconds += took.count();
}

}  // namespace

std::string to_string(const Product& s) {
  const std::string batch = s.batch == 1 ? "" : fmt::format("{}x", s.batch);
  return fmt::format("{}{}x{}x{} {}{}", batch, s.m, s.n, s.k, s.ta == Transpose::yes ? 't' : 'n',
                     s.tb == Transpose::yes ? 't' : 'n');
}

double KernelLog::product_s() const {
  double sum = 0;
  for (const auto& [shape, use] : products) sum += use.seconds;
  return sum;
}

double KernelLog::other_s() const {
  double sum = 0;
  for (const auto& [kernel, use] : others) sum += use.seconds;
  return sum;
}

LogScope::LogScope(Compute& compute, KernelLog& log, double drag)
    : compute_(compute),
      before_(compute.observe([&log, drag](const KernelCall& kernel, const std::function<void()>& call) {
        timed(log, drag, kernel, call);
      })) {}

}  // namespace tpc::bench
