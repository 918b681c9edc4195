// SPDX-License-Identifier: Apache-2.0
// What cuda.cu offers to cuda.cpp: launches on a stream, for T = double, float, __nv_bfloat16. As little as
// possible, since this is all that the device compiler sees of the project.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace tpc::cuda {

template <class T>
struct Elementwise {
  cudaStream_t stream;
  std::int64_t count;

  void add(T* y, const T* a, const T* b) const;
  void scale(T* y, const T* x, double factor) const;
  void gelu_erf(T* y, const T* x) const;
  void gelu_tanh(T* y, const T* x) const;
  void gelu_erf_backward(T* dx, const T* dy, const T* x) const;
  void gelu_tanh_backward(T* dx, const T* dy, const T* x) const;
  void swiglu(T* y, const T* gate, const T* up) const;
};

// sums[c] = the sum of x[r][c] over r, from the first row to the last, rounded once.
template <class T>
void sum_rows(cudaStream_t stream, T* sums, const T* x, std::int64_t rows, std::int64_t columns);

}  // namespace tpc::cuda
