// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "reference/compute/cuda_kernels.hpp"
#include "reference/compute/elementwise.hpp"

namespace tpc::cuda {

namespace {

constexpr int threads_per_block = 256;
constexpr std::int64_t largest_grid = 4096;  // a thread then takes several elements

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
__device__ Wide<T> widen(T value) {
  return static_cast<Wide<T>>(value);
}

template <class T>
__device__ T narrow(Wide<T> value) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16_rn(value);
  else
    return value;
}

int grid_for(std::int64_t work) {
  const std::int64_t blocks = (work + threads_per_block - 1) / threads_per_block;
  return static_cast<int>(blocks < largest_grid ? blocks : largest_grid);
}

struct Add {
  template <class W>
  __device__ W operator()(W a, W b) const {
    return a + b;
  }
};

struct Scale {
  double factor;
  template <class W>
  __device__ W operator()(W x) const {
    return x * static_cast<W>(factor);
  }
};

struct GeluErf {
  template <class W>
  __device__ W operator()(W x) const {
    return elementwise::gelu_erf(x);
  }
};

struct GeluTanh {
  template <class W>
  __device__ W operator()(W x) const {
    return elementwise::gelu_tanh(x);
  }
};

struct GeluErfBackward {
  template <class W>
  __device__ W operator()(W dy, W x) const {
    return dy * elementwise::gelu_erf_slope(x);
  }
};

struct GeluTanhBackward {
  template <class W>
  __device__ W operator()(W dy, W x) const {
    return dy * elementwise::gelu_tanh_slope(x);
  }
};

struct Swiglu {
  template <class W>
  __device__ W operator()(W gate, W up) const {
    return elementwise::silu(gate, elementwise::logistic(gate)) * up;
  }
};

template <class T, class Function, class... X>
__global__ void map_kernel(std::int64_t count, T* y, Function function, const X*... x) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    y[i] = narrow<T>(function(widen(x[i])...));
}

template <class T, class Function, class... X>
void map(const Elementwise<T>& launch, T* y, Function function, const X*... x) {
  if (launch.count == 0) return;
  map_kernel<<<grid_for(launch.count), threads_per_block, 0, launch.stream>>>(launch.count, y, function,
                                                                              x...);
}

// A thread per column adds in the same order as the host does.
template <class T>
__global__ void sum_rows_kernel(T* sums, const T* x, std::int64_t rows, std::int64_t columns) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  Wide<T> sum = 0;
  for (std::int64_t row = 0; row < rows; ++row) sum += widen(x[row * columns + column]);
  sums[column] = narrow<T>(sum);
}

}  // namespace

template <class T>
void Elementwise<T>::add(T* y, const T* a, const T* b) const {
  map(*this, y, Add{}, a, b);
}

template <class T>
void Elementwise<T>::scale(T* y, const T* x, double factor) const {
  map(*this, y, Scale{factor}, x);
}

template <class T>
void Elementwise<T>::gelu_erf(T* y, const T* x) const {
  map(*this, y, GeluErf{}, x);
}

template <class T>
void Elementwise<T>::gelu_tanh(T* y, const T* x) const {
  map(*this, y, GeluTanh{}, x);
}

template <class T>
void Elementwise<T>::gelu_erf_backward(T* dx, const T* dy, const T* x) const {
  map(*this, dx, GeluErfBackward{}, dy, x);
}

template <class T>
void Elementwise<T>::gelu_tanh_backward(T* dx, const T* dy, const T* x) const {
  map(*this, dx, GeluTanhBackward{}, dy, x);
}

template <class T>
void Elementwise<T>::swiglu(T* y, const T* gate, const T* up) const {
  map(*this, y, Swiglu{}, gate, up);
}

template <class T>
void sum_rows(cudaStream_t stream, T* sums, const T* x, std::int64_t rows, std::int64_t columns) {
  if (columns == 0) return;
  const auto blocks = static_cast<unsigned>((columns + threads_per_block - 1) / threads_per_block);
  sum_rows_kernel<<<blocks, threads_per_block, 0, stream>>>(sums, x, rows, columns);
}

template struct Elementwise<double>;
template struct Elementwise<float>;
template struct Elementwise<__nv_bfloat16>;
template void sum_rows(cudaStream_t, double*, const double*, std::int64_t, std::int64_t);
template void sum_rows(cudaStream_t, float*, const float*, std::int64_t, std::int64_t);
template void sum_rows(cudaStream_t, __nv_bfloat16*, const __nv_bfloat16*, std::int64_t, std::int64_t);

}  // namespace tpc::cuda
