// SPDX-License-Identifier: Apache-2.0
// Checks and counts, but neither stores nor computes.
#include "reference/compute/allocator.hpp"
#include "reference/compute/checks.hpp"
#include "reference/compute/compute.hpp"

namespace tpc {

namespace {

class ShapeOnlyCompute final : public Compute {
 public:
  std::string_view device() const override { return "shape-only"; }
  Tensor allocate(DType dtype, Shape shape, std::string_view label) override {
    return allocator_.allocate(dtype, std::move(shape), label);
  }
  std::size_t live_bytes() const override { return allocator_.live_bytes(); }
  void forget_all_but(const std::vector<Tensor>& /*keep*/) override {}  // nothing was ever written
  void synchronize() override {}

  void gemm(const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb,
            bool /*accumulate*/) override {
    checks::gemm(c, a, ta, b, tb);
  }

  void fill(const Tensor& /*y*/, double /*value*/) override {}
  void copy(const Tensor& y, const Tensor& x) override { checks::copy(y, x); }
  void copy_block(const Tensor& y, const Shape& y_offset, const Tensor& x, const Shape& x_offset,
                  const Shape& extent) override {
    checks::copy_block(y, y_offset, x, x_offset, extent);
  }
  void permute(const Tensor& y, const Tensor& x, const std::vector<int>& order) override {
    checks::permute(y, x, order);
  }

  void add(const Tensor& y, const Tensor& a, const Tensor& b) override {
    checks::elementwise("add", {y, a, b});
  }
  void scale(const Tensor& y, const Tensor& x, double /*factor*/) override {
    checks::elementwise("scale", {y, x});
  }
  void gelu(const Tensor& y, const Tensor& x, GeluForm /*form*/) override {
    checks::elementwise("gelu", {y, x});
  }
  void gelu_backward(const Tensor& dx, const Tensor& dy, const Tensor& x, GeluForm /*form*/) override {
    checks::elementwise("gelu_backward", {dx, dy, x});
  }
  void swiglu(const Tensor& y, const Tensor& gate, const Tensor& up) override {
    checks::elementwise("swiglu", {y, gate, up});
  }
  void swiglu_backward(const Tensor& dgate, const Tensor& dup, const Tensor& dy, const Tensor& gate,
                       const Tensor& up) override {
    checks::elementwise("swiglu_backward", {dgate, dup, dy, gate, up});
  }
  void rotary(const Tensor& y, const Tensor& x, const ModelConfig& config, Direction /*direction*/) override {
    checks::rotary(y, x, config);
  }

  void dropout(const Tensor& y, const Tensor& x, const Tensor& mask, double /*factor*/) override {
    checks::dropout(y, x, mask);
  }

  void add_rows(const Tensor& y, const Tensor& x, const Tensor& vector) override {
    checks::add_rows(y, x, vector);
  }
  void sum_rows(const Tensor& vector, const Tensor& x) override { checks::sum_rows(vector, x); }

  void softmax(const Tensor& p, const Tensor& scores, double /*factor*/, bool causal) override {
    checks::softmax(p, scores, causal);
  }
  void softmax_backward(const Tensor& dscores, const Tensor& dp, const Tensor& p,
                        double /*factor*/) override {
    checks::softmax_backward(dscores, dp, p);
  }

  void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x,
                  const Tensor& gain, const Tensor& bias, double /*eps*/) override {
    checks::layer_norm(y, mean, rstd, x, gain, bias);
  }
  void layer_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dbias, const Tensor& dy,
                           const Tensor& x, const Tensor& mean, const Tensor& rstd,
                           const Tensor& gain) override {
    checks::layer_norm_backward(dx, dgain, dbias, dy, x, mean, rstd, gain);
  }
  void rms_norm(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& gain,
                double /*eps*/) override {
    checks::rms_norm(y, rstd, x, gain);
  }
  void rms_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dy, const Tensor& x,
                         const Tensor& rstd, const Tensor& gain) override {
    checks::rms_norm_backward(dx, dgain, dy, x, rstd, gain);
  }

  void embedding(const Tensor& y, const Tensor& ids, const Tensor& weight, const VocabSlice& slice) override {
    checks::embedding("embedding", y, ids, weight, slice);
  }
  void embedding_backward(const Tensor& dweight, const Tensor& dy, const Tensor& ids,
                          const VocabSlice& slice) override {
    checks::embedding("embedding_backward", dy, ids, dweight, slice);
  }

  void cross_entropy_max(const Tensor& max, const Tensor& logits, const VocabSlice& slice) override {
    checks::cross_entropy_max(max, logits, slice);
  }
  void cross_entropy_sums(const Tensor& sum_exp, const Tensor& target_logit, const Tensor& sum_logit,
                          const Tensor& logits, const Tensor& max, const Tensor& targets,
                          const VocabSlice& slice) override {
    checks::cross_entropy_sums({sum_exp, target_logit, sum_logit, max}, logits, targets, slice);
  }
  void cross_entropy_loss(const Tensor& loss, const Tensor& max, const Tensor& sum_exp,
                          const Tensor& target_logit, const Tensor& sum_logit, const Tensor& targets,
                          const LossDefinition& /*definition*/, std::int64_t /*vocab*/) override {
    checks::cross_entropy_loss({loss, max, sum_exp, target_logit, sum_logit}, targets);
  }
  void cross_entropy_backward(const Tensor& dlogits, const Tensor& logits, const Tensor& max,
                              const Tensor& sum_exp, const Tensor& targets, const Tensor& seeds,
                              const LossDefinition& /*definition*/, const VocabSlice& slice) override {
    checks::cross_entropy_backward(dlogits, {max, sum_exp, seeds}, logits, targets, slice);
  }
  void loss_weights(const Tensor& weights, const Tensor& targets,
                    const LossDefinition& /*definition*/) override {
    checks::loss_weights(weights, targets);
  }
  void dot(const Tensor& scalar, const Tensor& a, const Tensor& b) override { checks::dot(scalar, a, b); }

 private:
  Allocator allocator_{no_memory()};
};

}  // namespace

std::unique_ptr<Compute> make_shape_only_compute() { return std::make_unique<ShapeOnlyCompute>(); }

}  // namespace tpc
