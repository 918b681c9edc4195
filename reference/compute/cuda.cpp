// SPDX-License-Identifier: Apache-2.0
// The seams of a GPU backend: memory, products by cuBLAS, one element-wise family, one reduction. Whatever is
// not here yet says so when it is called. Kernels are in cuda.cu.
#include <cublas_v2.h>

#include <algorithm>
#include <limits>

#include "reference/compute/allocator.hpp"
#include "reference/compute/checks.hpp"
#include "reference/compute/cuda_kernels.hpp"

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

[[noreturn]] void not_built(std::string_view call) {
  throw EnvironmentError(fmt::format("{} cannot run on CUDA", call), "it is not built for CUDA yet",
                         "use the host");
}

MemorySource cuda_memory() {
  return {[](std::size_t bytes, const std::string& label) {
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

class CudaCompute final : public Compute {
 public:
  CudaCompute() : stream_(make_stream()), cublas_(make_cublas(stream_.get())) {}

  std::string_view device() const override { return "cuda"; }
  Tensor allocate(DType dtype, Shape shape, std::string_view label) override {
    return allocator_.allocate(dtype, std::move(shape), label);
  }
  std::size_t live_bytes() const override { return allocator_.live_bytes(); }
  void forget_all_but(const std::vector<Tensor>& keep) override {
    synchronize();
    allocator_.fill_except(storages_of(keep));
  }
  void synchronize() override { check_cuda(cudaStreamSynchronize(stream_.get()), "finish"); }

  void gemm(const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb,
            bool accumulate) override {
    const checks::Gemm shape = checks::gemm(c, a, ta, b, tb);
    if (c.count() == 0) return;
    if (shape.k > 0)
      multiply(shape, c, a, ta, b, tb, accumulate);
    else if (!accumulate)
      check_cuda(cudaMemsetAsync(c.raw(), 0, c.bytes(), stream_.get()), "set memory");
  }

  void add(const Tensor& y, const Tensor& a, const Tensor& b) override {
    map("add", {y, a, b}, [&](auto launch, auto zero) {
      using T = decltype(zero);
      launch.add(on_device<T>(y), on_device<T>(a), on_device<T>(b));
    });
  }
  void scale(const Tensor& y, const Tensor& x, double factor) override {
    map("scale", {y, x}, [&](auto launch, auto zero) {
      using T = decltype(zero);
      launch.scale(on_device<T>(y), on_device<T>(x), factor);
    });
  }
  void gelu(const Tensor& y, const Tensor& x, GeluForm form) override {
    map("gelu", {y, x}, [&](auto launch, auto zero) {
      using T = decltype(zero);
      if (form == GeluForm::erf)
        launch.gelu_erf(on_device<T>(y), on_device<T>(x));
      else
        launch.gelu_tanh(on_device<T>(y), on_device<T>(x));
    });
  }
  void gelu_backward(const Tensor& dx, const Tensor& dy, const Tensor& x, GeluForm form) override {
    map("gelu_backward", {dx, dy, x}, [&](auto launch, auto zero) {
      using T = decltype(zero);
      if (form == GeluForm::erf)
        launch.gelu_erf_backward(on_device<T>(dx), on_device<T>(dy), on_device<T>(x));
      else
        launch.gelu_tanh_backward(on_device<T>(dx), on_device<T>(dy), on_device<T>(x));
    });
  }
  void swiglu(const Tensor& y, const Tensor& gate, const Tensor& up) override {
    map("swiglu", {y, gate, up}, [&](auto launch, auto zero) {
      using T = decltype(zero);
      launch.swiglu(on_device<T>(y), on_device<T>(gate), on_device<T>(up));
    });
  }
  void sum_rows(const Tensor& vector, const Tensor& x) override {
    const checks::Rows rows = checks::sum_rows(vector, x);
    visit_float(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      cuda::sum_rows(stream_.get(), on_device<T>(vector), on_device<T>(x), rows.count, rows.width);
    });
    check_cuda(cudaGetLastError(), "launch sum_rows");
  }

  void fill(const Tensor&, double) override { not_built("fill"); }
  void copy(const Tensor&, const Tensor&) override { not_built("copy"); }
  void copy_block(const Tensor&, const Shape&, const Tensor&, const Shape&, const Shape&) override {
    not_built("copy_block");
  }
  void permute(const Tensor&, const Tensor&, const std::vector<int>&) override { not_built("permute"); }
  void swiglu_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) override {
    not_built("swiglu_backward");
  }
  void rotary(const Tensor&, const Tensor&, const ModelConfig&, Direction) override { not_built("rotary"); }
  void dropout(const Tensor&, const Tensor&, const Tensor&, double) override { not_built("dropout"); }
  void add_rows(const Tensor&, const Tensor&, const Tensor&) override { not_built("add_rows"); }
  void softmax(const Tensor&, const Tensor&, double, bool) override { not_built("softmax"); }
  void softmax_backward(const Tensor&, const Tensor&, const Tensor&, double) override {
    not_built("softmax_backward");
  }
  void layer_norm(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                  double) override {
    not_built("layer_norm");
  }
  void layer_norm_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                           const Tensor&, const Tensor&, const Tensor&) override {
    not_built("layer_norm_backward");
  }
  void rms_norm(const Tensor&, const Tensor&, const Tensor&, const Tensor&, double) override {
    not_built("rms_norm");
  }
  void rms_norm_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                         const Tensor&) override {
    not_built("rms_norm_backward");
  }
  void embedding(const Tensor&, const Tensor&, const Tensor&, const VocabSlice&) override {
    not_built("embedding");
  }
  void embedding_backward(const Tensor&, const Tensor&, const Tensor&, const VocabSlice&) override {
    not_built("embedding_backward");
  }
  void cross_entropy_max(const Tensor&, const Tensor&, const VocabSlice&) override {
    not_built("cross_entropy_max");
  }
  void cross_entropy_sums(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                          const Tensor&, const VocabSlice&) override {
    not_built("cross_entropy_sums");
  }
  void cross_entropy_loss(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                          const Tensor&, const LossDefinition&, std::int64_t) override {
    not_built("cross_entropy_loss");
  }
  void cross_entropy_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                              const Tensor&, const LossDefinition&, const VocabSlice&) override {
    not_built("cross_entropy_backward");
  }
  void loss_weights(const Tensor&, const Tensor&, const LossDefinition&) override {
    not_built("loss_weights");
  }
  void dot(const Tensor&, const Tensor&, const Tensor&) override { not_built("dot"); }

 private:
  // cuBLAS is column-major, where a row-major matrix is its transpose: c^T = op(b)^T·op(a)^T.
  void multiply(const checks::Gemm& shape, const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b,
                Transpose tb, bool accumulate) {
    const auto op = [](Transpose t) { return t == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const CublasTypes types = cublas_types(c.dtype());
    const double one = 1;
    const double kept = accumulate ? 1 : 0;
    const float one_f32 = 1;
    const float kept_f32 = accumulate ? 1 : 0;
    const bool f64 = c.dtype() == DType::f64;
    check_cublas(
        cublasGemmStridedBatchedEx(
            cublas_.get(), op(tb), op(ta), blas_extent(shape.n), blas_extent(shape.m), blas_extent(shape.k),
            f64 ? static_cast<const void*>(&one) : &one_f32, b.raw(), types.storage, blas_extent(b.size(-1)),
            shape.shared_b ? 0 : shape.k * shape.n, a.raw(), types.storage, blas_extent(a.size(-1)),
            shape.m * shape.k, f64 ? static_cast<const void*>(&kept) : &kept_f32, c.raw(), types.storage,
            blas_extent(c.size(-1)), shape.m * shape.n, blas_extent(shape.batch), types.compute,
            CUBLAS_GEMM_DEFAULT),
        "multiply");
  }

  // Calls launch_with(the launches for the operands' dtype, a zero of it).
  template <class F>
  void map(const char* call, checks::Operands operands, F launch_with) {
    const std::int64_t count = checks::elementwise(call, operands);
    visit_float(operands.begin()->dtype(), [&](auto zero) {
      launch_with(cuda::Elementwise<Device<decltype(zero)>>{stream_.get(), count}, zero);
    });
    check_cuda(cudaGetLastError(), call);
  }

  Allocator allocator_{cuda_memory()};
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
  return std::make_unique<CudaCompute>();
}

}  // namespace tpc
