// SPDX-License-Identifier: Apache-2.0
// The host's kernels, spread over host_*.cpp by subject. One thread, plain loops, no state.
#pragma once

#include "reference/compute/kernels.hpp"

namespace tpc {

class HostKernels final : public Kernels {
 public:
  std::string_view backend() const override { return "host"; }
  MemorySource memory() const override { return host_memory(); }

  void gemm(const Product&, const Tensor& c, const Tensor& a, const Tensor& b, bool accumulate) override;
  void fill(const Tensor& y, double value) override;
  void copy(const Tensor& y, const Tensor& x) override;
  void copy_block(const Tensor& y, const Shape& y_offset, const Tensor& x, const Shape& x_offset,
                  const Shape& extent) override;
  void permute(const Tensor& y, const Tensor& x, const std::vector<int>& order) override;
  void add(const Tensor& y, const Tensor& a, const Tensor& b) override;
  void scale(const Tensor& y, const Tensor& x, double factor) override;
  void gelu(const Tensor& y, const Tensor& x, GeluForm form) override;
  void gelu_backward(const Tensor& dx, const Tensor& dy, const Tensor& x, GeluForm form) override;
  void swiglu(const Tensor& y, const Tensor& gate, const Tensor& up) override;
  void swiglu_backward(const Tensor& dgate, const Tensor& dup, const Tensor& dy, const Tensor& gate,
                       const Tensor& up) override;
  void rotary(const Tensor& y, const Tensor& x, const ModelConfig& config, Direction direction) override;
  void dropout(const Tensor& y, const Tensor& x, const Tensor& mask, double factor) override;
  void add_rows(const Tensor& y, const Tensor& x, const Tensor& vector) override;
  void sum_rows(const Tensor& vector, const Tensor& x) override;
  void softmax(const Tensor& p, const Tensor& scores, double factor, bool causal) override;
  void softmax_backward(const Tensor& dscores, const Tensor& dp, const Tensor& p, double factor) override;
  void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x,
                  const Tensor& gain, const Tensor& bias, double eps) override;
  void layer_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dbias, const Tensor& dy,
                           const Tensor& x, const Tensor& mean, const Tensor& rstd,
                           const Tensor& gain) override;
  void rms_norm(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& gain,
                double eps) override;
  void rms_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dy, const Tensor& x,
                         const Tensor& rstd, const Tensor& gain) override;
  void embedding(const Tensor& y, const Tensor& ids, const Tensor& weight, const VocabSlice& slice) override;
  void embedding_backward(const Tensor& dweight, const Tensor& dy, const Tensor& ids,
                          const VocabSlice& slice) override;
  void cross_entropy_max(const Tensor& max, const Tensor& logits, const VocabSlice& slice) override;
  void cross_entropy_sums(const Tensor& sum_exp, const Tensor& target_logit, const Tensor& sum_logit,
                          const Tensor& logits, const Tensor& max, const Tensor& targets,
                          const VocabSlice& slice) override;
  void cross_entropy_loss(const Tensor& loss, const Tensor& max, const Tensor& sum_exp,
                          const Tensor& target_logit, const Tensor& sum_logit, const Tensor& targets,
                          const LossDefinition& definition, std::int64_t vocab) override;
  void cross_entropy_backward(const Tensor& dlogits, const Tensor& logits, const Tensor& max,
                              const Tensor& sum_exp, const Tensor& targets, const Tensor& seeds,
                              const LossDefinition& definition, const VocabSlice& slice) override;
  void loss_weights(const Tensor& weights, const Tensor& targets, const LossDefinition& definition) override;
  void dot(const Tensor& scalar, const Tensor& a, const Tensor& b) override;
};

}  // namespace tpc
