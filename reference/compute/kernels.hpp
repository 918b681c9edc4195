// SPDX-License-Identifier: Apache-2.0
// What a backend is. Calls come from Compute, where each is described, with operands that are checked: of
// fitting shapes and dtypes, and at the backend's place; copies may have one of them on the host. A backend
// overrides what it has; the rest says that it is missing.
#pragma once

#include "reference/compute/compute.hpp"

namespace tpc {

class Kernels {
 public:
  virtual ~Kernels() = default;
  virtual std::string_view backend() const = 0;
  virtual MemorySource memory() const = 0;
  virtual void synchronize() {}

  virtual void gemm(const Product&, const Tensor& c, const Tensor& a, const Tensor& b, bool accumulate);
  virtual void fill(const Tensor& y, double value);
  virtual void copy(const Tensor& y, const Tensor& x);
  virtual void copy_block(const Tensor& y, const Shape& y_offset, const Tensor& x, const Shape& x_offset,
                          const Shape& extent);
  virtual void permute(const Tensor& y, const Tensor& x, const std::vector<int>& order);
  virtual void add(const Tensor& y, const Tensor& a, const Tensor& b);
  virtual void scale(const Tensor& y, const Tensor& x, double factor);
  virtual void gelu(const Tensor& y, const Tensor& x, GeluForm form);
  virtual void gelu_backward(const Tensor& dx, const Tensor& dy, const Tensor& x, GeluForm form);
  virtual void swiglu(const Tensor& y, const Tensor& gate, const Tensor& up);
  virtual void swiglu_backward(const Tensor& dgate, const Tensor& dup, const Tensor& dy, const Tensor& gate,
                               const Tensor& up);
  virtual void rotary(const Tensor& y, const Tensor& x, const ModelConfig& config, Direction direction);
  virtual void dropout(const Tensor& y, const Tensor& x, const Tensor& mask, double factor);
  virtual void add_rows(const Tensor& y, const Tensor& x, const Tensor& vector);
  virtual void sum_rows(const Tensor& vector, const Tensor& x);
  virtual void softmax(const Tensor& p, const Tensor& scores, double factor, bool causal);
  virtual void softmax_backward(const Tensor& dscores, const Tensor& dp, const Tensor& p, double factor);
  virtual void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x,
                          const Tensor& gain, const Tensor& bias, double eps);
  virtual void layer_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dbias,
                                   const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                                   const Tensor& gain);
  virtual void rms_norm(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& gain, double eps);
  virtual void rms_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dy, const Tensor& x,
                                 const Tensor& rstd, const Tensor& gain);
  virtual void embedding(const Tensor& y, const Tensor& ids, const Tensor& weight, const VocabSlice& slice);
  virtual void embedding_backward(const Tensor& dweight, const Tensor& dy, const Tensor& ids,
                                  const VocabSlice& slice);
  virtual void cross_entropy_max(const Tensor& max, const Tensor& logits, const VocabSlice& slice);
  virtual void cross_entropy_sums(const Tensor& sum_exp, const Tensor& target_logit, const Tensor& sum_logit,
                                  const Tensor& logits, const Tensor& max, const Tensor& targets,
                                  const VocabSlice& slice);
  virtual void cross_entropy_loss(const Tensor& loss, const Tensor& max, const Tensor& sum_exp,
                                  const Tensor& target_logit, const Tensor& sum_logit, const Tensor& targets,
                                  const LossDefinition& definition, std::int64_t vocab);
  virtual void cross_entropy_backward(const Tensor& dlogits, const Tensor& logits, const Tensor& max,
                                      const Tensor& sum_exp, const Tensor& targets, const Tensor& seeds,
                                      const LossDefinition& definition, const VocabSlice& slice);
  virtual void loss_weights(const Tensor& weights, const Tensor& targets, const LossDefinition& definition);
  virtual void dot(const Tensor& scalar, const Tensor& a, const Tensor& b);

 private:
  [[noreturn]] void missing(std::string_view kernel) const;
};

}  // namespace tpc
