// SPDX-License-Identifier: Apache-2.0
// The seams of a GPU backend: memory, products by cuBLAS, one element-wise family, one reduction. Kernels are
// in cuda.cu.
#include <cublas_v2.h>

#include <algorithm>
#include <limits>

#include "reference/compute/checks.hpp"
#include "reference/compute/cuda_kernels.hpp"
#include "reference/compute/kernels.hpp"

namespace tpc {

namespace {

constexpr auto advice = "check the driver, the device and its memory";

void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw EnvironmentError(fmt::format("CUDA failed to {}", what), cudaGetErrorString(status), advice);
}

void check_cublas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw EnvironmentError(fmt::format("cuBLAS failed to {}", what), cublasGetStatusString(status), advice);
}

MemorySource cuda_memory() {
  return {Place::device,
          [](std::size_t bytes, const std::string& label) {
            void* data = nullptr;
            if (const cudaError_t status = cudaMalloc(&data, bytes); status != cudaSuccess)
              throw EnvironmentError(fmt::format("no device memory for {} bytes of '{}'", bytes, label),
                                     cudaGetErrorString(status), "use a smaller model or fewer layers");
            return static_cast<std::byte*>(data);
          },
          [](std::byte* data) { cudaFree(data); },
          [](std::byte* data, int value, std::size_t bytes) {
            check_cuda(cudaMemset(data, value, bytes), "set memory");
          }};
}

// A Tensor's element type as CUDA spells it: the same bits.
template <class T>
using Device = std::conditional_t<std::same_as<T, bf16>, __nv_bfloat16, T>;

template <class T>
Device<T>* on_device(const Tensor& x) {
  return reinterpret_cast<Device<T>*>(x.data<T>());
}

// Products as cuBLAS wants them: f64, and otherwise f32 without TF32.
struct CublasTypes {
  cudaDataType_t storage;
  cublasComputeType_t compute;
};

CublasTypes cublas_types(DType dtype) {
  if (dtype == DType::f64) return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
  return {dtype == DType::f32 ? CUDA_R_32F : CUDA_R_16BF, CUBLAS_COMPUTE_32F_PEDANTIC};
}

int blas_extent(std::int64_t value) {
  TPC_EXPECT(value <= std::numeric_limits<int>::max(), "gemm: an extent of {} is too large for cuBLAS",
             value);
  return static_cast<int>(std::max<std::int64_t>(value, 1));
}

struct StreamEnd {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, StreamEnd>;

// Ordered with the default stream, on which memory is set.
Stream make_stream() {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreate(&stream), "make a stream");
  return Stream(stream);
}

struct CublasEnd {
  void operator()(cublasHandle_t handle) const { cublasDestroy(handle); }
};
using Cublas = std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, CublasEnd>;

Cublas make_cublas(cudaStream_t stream) {
  cublasHandle_t handle = nullptr;
  check_cublas(cublasCreate(&handle), "start");
  Cublas cublas(handle);
  check_cublas(cublasSetStream(handle, stream), "take a stream");
  return cublas;
}

class CudaKernels final : public Kernels {
 public:
  CudaKernels() : stream_(make_stream()), cublas_(make_cublas(stream_.get())) {}

  std::string_view backend() const override { return "cuda"; }
  MemorySource memory() const override { return cuda_memory(); }
  void synchronize() override { check_cuda(cudaStreamSynchronize(stream_.get()), "finish"); }

  void gemm(const Product& product, const Tensor& c, const Tensor& a, const Tensor& b,
            bool accumulate) override {
    if (c.count() == 0) return;
    if (product.k > 0)
      multiply(product, c, a, b, accumulate);
    else if (!accumulate)
      check_cuda(cudaMemsetAsync(c.raw(), 0, c.bytes(), stream_.get()), "set memory");
  }

  void add(const Tensor& y, const Tensor& a, const Tensor& b) override {
    map("add", y, [&](auto launch, auto zero) {
      using T = decltype(zero);
      launch.add(on_device<T>(y), on_device<T>(a), on_device<T>(b));
    });
  }
  void scale(const Tensor& y, const Tensor& x, double factor) override {
    map("scale", y, [&](auto launch, auto zero) {
      using T = decltype(zero);
      launch.scale(on_device<T>(y), on_device<T>(x), factor);
    });
  }
  void gelu(const Tensor& y, const Tensor& x, GeluForm form) override {
    map("gelu", y, [&](auto launch, auto zero) {
      using T = decltype(zero);
      if (form == GeluForm::erf)
        launch.gelu_erf(on_device<T>(y), on_device<T>(x));
      else
        launch.gelu_tanh(on_device<T>(y), on_device<T>(x));
    });
  }
  void gelu_backward(const Tensor& dx, const Tensor& dy, const Tensor& x, GeluForm form) override {
    map("gelu_backward", dx, [&](auto launch, auto zero) {
      using T = decltype(zero);
      if (form == GeluForm::erf)
        launch.gelu_erf_backward(on_device<T>(dx), on_device<T>(dy), on_device<T>(x));
      else
        launch.gelu_tanh_backward(on_device<T>(dx), on_device<T>(dy), on_device<T>(x));
    });
  }
  void swiglu(const Tensor& y, const Tensor& gate, const Tensor& up) override {
    map("swiglu", y, [&](auto launch, auto zero) {
      using T = decltype(zero);
      launch.swiglu(on_device<T>(y), on_device<T>(gate), on_device<T>(up));
    });
  }
  void sum_rows(const Tensor& vector, const Tensor& x) override {
    const checks::Rows rows = checks::rows_of(x);
    visit_float(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      cuda::sum_rows(stream_.get(), on_device<T>(vector), on_device<T>(x), rows.count, rows.width);
    });
    check_cuda(cudaGetLastError(), "launch sum_rows");
  }

 private:
  // cuBLAS is column-major, where a row-major matrix is its transpose: c^T = op(b)^T·op(a)^T.
  void multiply(const Product& product, const Tensor& c, const Tensor& a, const Tensor& b, bool accumulate) {
    const auto op = [](Transpose t) { return t == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const CublasTypes types = cublas_types(c.dtype());
    const double one = 1;
    const double kept = accumulate ? 1 : 0;
    const float one_f32 = 1;
    const float kept_f32 = accumulate ? 1 : 0;
    const bool f64 = c.dtype() == DType::f64;
    check_cublas(
        cublasGemmStridedBatchedEx(
            cublas_.get(), op(product.tb), op(product.ta), blas_extent(product.n), blas_extent(product.m),
            blas_extent(product.k), f64 ? static_cast<const void*>(&one) : &one_f32, b.raw(), types.storage,
            blas_extent(b.size(-1)), product.shared_b ? 0 : product.k * product.n, a.raw(), types.storage,
            blas_extent(a.size(-1)), product.m * product.k, f64 ? static_cast<const void*>(&kept) : &kept_f32,
            c.raw(), types.storage, blas_extent(c.size(-1)), product.m * product.n,
            blas_extent(product.batch), types.compute, CUBLAS_GEMM_DEFAULT),
        "multiply");
  }

  // Calls launch_with(the launches for the operands' dtype, a zero of it).
  template <class F>
  void map(const char* kernel, const Tensor& y, F launch_with) {
    visit_float(y.dtype(), [&](auto zero) {
      launch_with(cuda::Elementwise<Device<decltype(zero)>>{stream_.get(), y.count()}, zero);
    });
    check_cuda(cudaGetLastError(), kernel);
  }

  Stream stream_;
  Cublas cublas_;
};

}  // namespace

std::unique_ptr<Compute> make_cuda_compute(int device) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  const std::string problem = fmt::format("CUDA device {} cannot be used", device);
  if (status != cudaSuccess || count == 0)
    throw EnvironmentError(problem, fmt::format("no CUDA device ({})", cudaGetErrorString(status)), advice);
  if (device < 0 || device >= count)
    throw EnvironmentError(problem, fmt::format("there are {}", count), "choose a smaller number");
  check_cuda(cudaSetDevice(device), "select the device");
  return std::make_unique<Compute>(std::make_unique<CudaKernels>());
}

}  // namespace tpc
