// SPDX-License-Identifier: Apache-2.0
// Everything a layer computes on its own rank, on one screen. Checks operands and tells observers, and leaves
// the computing to the kernels of a backend (kernels.hpp).
//
// Shapes: R rows, C columns; a tensor of more dims is read as rows of its last dim. All operands of a call
// have one floating dtype unless said otherwise; `stats` are per-row f32 (f64 for f64 tensors). Arithmetic on
// bf16 is carried out in f32 and rounded once at the store. Outputs come first, are allocated by the caller,
// and may alias an input of the same shape where the comment says "in place". A shape or dtype that does not
// fit is a ContractError. Calls are issued in order on one stream; the host has finished when a call returns.
#pragma once

#include <compare>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/compute/allocator.hpp"
#include "reference/core/definitions.hpp"
#include "reference/core/tensor.hpp"

namespace tpc {

enum class Transpose { no, yes };
enum class Direction { forward, backward };

// dtype of per-row statistics and of the cross entropy's terms: f64 for f64, else f32.
constexpr DType statistics_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

// A rank's slice [first, first + width) of a dim of `full` entries, of which only the first `valid` exist;
// the rest is padding that takes part in nothing.
struct VocabSlice {
  std::int64_t first = 0;
  std::int64_t width = 0;
  std::int64_t valid = 0;  // of the whole vocabulary, unpadded
};

// c [batch, m, n] (+)= op(a)·op(b) with k terms each.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  Transpose ta = Transpose::no;
  Transpose tb = Transpose::no;
  bool shared_b = false;  // by the batch
  DType dtype = DType::f32;
  auto operator<=>(const Product&) const = default;
  double flops() const { return 2.0 * static_cast<double>(batch * m) * static_cast<double>(n * k); }
};

// What an observer is told of a call.
struct KernelCall {
  std::string_view kernel;           // "allocate" for memory
  double bytes;                      // of its large operands
  const Product* product = nullptr;  // of gemm
};
// Has to make the call.
using KernelObserver = std::function<void(const KernelCall&, const std::function<void()>& call)>;

class Kernels;  // kernels.hpp: what a backend is

class Compute {
 public:
  explicit Compute(std::unique_ptr<Kernels> kernels);
  Compute(const Compute&) = delete;
  Compute& operator=(const Compute&) = delete;
  ~Compute();

  Place place() const { return place_; }  // of what is allocated here and computed on
  // Contents are unspecified until written. The label names the tensor in the memory account.
  Tensor allocate(DType dtype, Shape shape, std::string_view label);
  std::size_t live_bytes() const;  // of everything allocated here and not yet released
  // Overwrites everything allocated here that none of these tensors lives in, as if it had never been
  // written.
  void forget_all_but(const std::vector<Tensor>& keep);
  void synchronize();
  // Goes around every call from now on; nothing ends it. Returns the one before.
  KernelObserver observe(KernelObserver observer) { return std::exchange(observer_, std::move(observer)); }

  // c = op(a)·op(b), or c += where accumulate. a [..,M,K], b [..,K,N] after op; equal leading dims are a
  // batch; a b without leading dims is shared by the batch.
  void gemm(const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb,
            bool accumulate = false);

  // Movement. Offsets and extents have one entry per dim.
  void fill(const Tensor& y, double value);
  void copy(const Tensor& y, const Tensor& x);  // same count; converts the dtype
  void copy_block(const Tensor& y, const Shape& y_offset, const Tensor& x, const Shape& x_offset,
                  const Shape& extent);
  void permute(const Tensor& y, const Tensor& x,
               const std::vector<int>& order);  // y dim i = x dim order[i]

  // Element-wise, in place allowed.
  void add(const Tensor& y, const Tensor& a, const Tensor& b);
  void scale(const Tensor& y, const Tensor& x, double factor);
  void gelu(const Tensor& y, const Tensor& x, GeluForm form);
  void gelu_backward(const Tensor& dx, const Tensor& dy, const Tensor& x, GeluForm form);
  void swiglu(const Tensor& y, const Tensor& gate, const Tensor& up);  // silu(gate)·up
  void swiglu_backward(const Tensor& dgate, const Tensor& dup, const Tensor& dy, const Tensor& gate,
                       const Tensor& up);
  // x [S,B,heads,D]; position of row s is s. backward applies the transposed rotation. In place allowed.
  void rotary(const Tensor& y, const Tensor& x, const ModelConfig& config, Direction direction);

  // x·mask·factor; mask u8, 0 or 1, of x's shape. What is masked is 0 even where x is not finite. In place
  // allowed.
  void dropout(const Tensor& y, const Tensor& x, const Tensor& mask, double factor);

  // Rows against a vector [C].
  void add_rows(const Tensor& y, const Tensor& x, const Tensor& vector);  // in place allowed
  void sum_rows(const Tensor& vector, const Tensor& x);                   // over all rows

  // Softmax over the last dim of scores [.., L, S]; row l of L = G·S stands for query position l mod S, and
  // where causal sees keys up to that position. p = softmax(factor·scores); backward includes the factor. In
  // place allowed.
  void softmax(const Tensor& p, const Tensor& scores, double factor, bool causal);
  void softmax_backward(const Tensor& dscores, const Tensor& dp, const Tensor& p, double factor);

  // Norms over the last dim; mean and rstd are stats [R].
  void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x,
                  const Tensor& gain, const Tensor& bias, double eps);
  void layer_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dbias, const Tensor& dy,
                           const Tensor& x, const Tensor& mean, const Tensor& rstd, const Tensor& gain);
  void rms_norm(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& gain, double eps);
  void rms_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dy, const Tensor& x,
                         const Tensor& rstd, const Tensor& gain);

  // ids [R] i64. Rows of ids outside the slice are zero; their gradients go nowhere. weight [width, C].
  void embedding(const Tensor& y, const Tensor& ids, const Tensor& weight, const VocabSlice& slice);
  void embedding_backward(const Tensor& dweight, const Tensor& dy, const Tensor& ids,
                          const VocabSlice& slice);

  // Cross entropy on a vocabulary slice, in three steps between which the caller reduces over the ranks.
  // logits [R, width]; terms are stats [R]. 1: the largest valid logit. 2: sum of exp(logit - max), the
  // target's logit where it lies in the slice (else 0), and the sum of all valid logits. 3: loss per row, see
  // reference/DEFINITIONS.md; 0 where the target is ignored. backward: dlogits [R, width] for the upstream
  // gradient `seeds` [R] (stats) of each row's loss; 0 in padding.
  void cross_entropy_max(const Tensor& max, const Tensor& logits, const VocabSlice& slice);
  void cross_entropy_sums(const Tensor& sum_exp, const Tensor& target_logit, const Tensor& sum_logit,
                          const Tensor& logits, const Tensor& max, const Tensor& targets,
                          const VocabSlice& slice);
  void cross_entropy_loss(const Tensor& loss, const Tensor& max, const Tensor& sum_exp,
                          const Tensor& target_logit, const Tensor& sum_logit, const Tensor& targets,
                          const LossDefinition& definition, std::int64_t vocab);
  void cross_entropy_backward(const Tensor& dlogits, const Tensor& logits, const Tensor& max,
                              const Tensor& sum_exp, const Tensor& targets, const Tensor& seeds,
                              const LossDefinition& definition, const VocabSlice& slice);
  // The mean's weight of each row: 1/count, count of valid targets or of all rows; 0 for ignored rows, and
  // everywhere where nothing is valid. weights are stats [R].
  void loss_weights(const Tensor& weights, const Tensor& targets, const LossDefinition& definition);
  void dot(const Tensor& scalar, const Tensor& a, const Tensor& b);  // scalar [1]

 private:
  using Operands = std::initializer_list<const Tensor*>;
  template <class Call>
  void run(std::string_view kernel, Operands operands, const Call& call);
  template <class Call>
  void launch(const KernelCall& kernel, const Call& call);

  std::unique_ptr<Kernels> kernels_;
  Place place_;
  Allocator allocator_;
  KernelObserver observer_;
};

std::unique_ptr<Compute> make_host_compute();
// Takes no memory (the data of its tensors is null) and computes nothing, but counts bytes and checks every
// call as the others do: for sizes that no machine holds.
std::unique_ptr<Compute> make_shape_only_compute();
// Throws EnvironmentError where the build has no CUDA or the machine no device.
std::unique_ptr<Compute> make_cuda_compute(int device);

}  // namespace tpc
