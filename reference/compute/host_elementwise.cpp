// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/checks.hpp"
#include "reference/compute/elementwise.hpp"
#include "reference/compute/host.hpp"
#include "reference/compute/host_loops.hpp"

namespace tpc {

namespace {

// y = function(x...) per element; y may be one of x.
template <class Function, class... X>
void map_elements(const Tensor& y, Function function, const X&... x) {
  visit_float(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto loop = [n = y.count(), function](T* to, const auto*... from) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(function(widen(from[i])...));
    };
    loop(values<T>(y), values<T>(x)...);
  });
}

}  // namespace

void HostKernels::add(const Tensor& y, const Tensor& a, const Tensor& b) {
  map_elements(
      y, [](auto u, auto v) { return u + v; }, a, b);
}

void HostKernels::scale(const Tensor& y, const Tensor& x, double factor) {
  map_elements(
      y, [factor](auto v) { return v * static_cast<decltype(v)>(factor); }, x);
}

void HostKernels::gelu(const Tensor& y, const Tensor& x, GeluForm form) {
  if (form == GeluForm::erf)
    map_elements(
        y, [](auto v) { return elementwise::gelu_erf(v); }, x);
  else
    map_elements(
        y, [](auto v) { return elementwise::gelu_tanh(v); }, x);
}

void HostKernels::gelu_backward(const Tensor& dx, const Tensor& dy, const Tensor& x, GeluForm form) {
  if (form == GeluForm::erf)
    map_elements(
        dx, [](auto d, auto v) { return d * elementwise::gelu_erf_slope(v); }, dy, x);
  else
    map_elements(
        dx, [](auto d, auto v) { return d * elementwise::gelu_tanh_slope(v); }, dy, x);
}

void HostKernels::swiglu(const Tensor& y, const Tensor& gate, const Tensor& up) {
  map_elements(
      y, [](auto g, auto u) { return elementwise::silu(g, elementwise::logistic(g)) * u; }, gate, up);
}

void HostKernels::swiglu_backward(const Tensor& dgate, const Tensor& dup, const Tensor& dy,
                                  const Tensor& gate, const Tensor& up) {
  const std::int64_t n = dy.count();
  visit_float(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *d = values<T>(dy), *g = values<T>(gate), *u = values<T>(up);
    T *to_gate = values<T>(dgate), *to_up = values<T>(dup);
    for (std::int64_t i = 0; i < n; ++i) {  // all loads before the stores: outputs may be inputs
      const auto di = widen(d[i]);
      const auto gi = widen(g[i]);
      const auto ui = widen(u[i]);
      const auto s = elementwise::logistic(gi);
      to_gate[i] = static_cast<T>(di * ui * elementwise::silu_slope(gi, s));
      to_up[i] = static_cast<T>(di * elementwise::silu(gi, s));
    }
  });
}

void HostKernels::dropout(const Tensor& y, const Tensor& x, const Tensor& mask, double factor) {
  visit_float(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using W = Wide<T>;
    const auto loop = [n = y.count(), f = static_cast<W>(factor)](T* to, const T* from,
                                                                  const std::uint8_t* keep) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(keep[i] != 0 ? widen(from[i]) * f : W(0));
    };
    loop(values<T>(y), values<T>(x), values<std::uint8_t>(mask));
  });
}

}  // namespace tpc
