// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/kernels.hpp"

namespace tpc {

void Kernels::missing(std::string_view kernel) const {
  throw EnvironmentError(fmt::format("{} cannot run on {}", kernel, backend()),
                         "this backend has no such kernel yet", "use the host");
}

void Kernels::gemm(const Product&, const Tensor&, const Tensor&, const Tensor&, bool) { missing("gemm"); }
void Kernels::fill(const Tensor&, double) { missing("fill"); }
void Kernels::copy(const Tensor&, const Tensor&) { missing("copy"); }
void Kernels::copy_block(const Tensor&, const Shape&, const Tensor&, const Shape&, const Shape&) {
  missing("copy_block");
}
void Kernels::permute(const Tensor&, const Tensor&, const std::vector<int>&) { missing("permute"); }
void Kernels::add(const Tensor&, const Tensor&, const Tensor&) { missing("add"); }
void Kernels::scale(const Tensor&, const Tensor&, double) { missing("scale"); }
void Kernels::gelu(const Tensor&, const Tensor&, GeluForm) { missing("gelu"); }
void Kernels::gelu_backward(const Tensor&, const Tensor&, const Tensor&, GeluForm) {
  missing("gelu_backward");
}
void Kernels::swiglu(const Tensor&, const Tensor&, const Tensor&) { missing("swiglu"); }
void Kernels::swiglu_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) {
  missing("swiglu_backward");
}
void Kernels::rotary(const Tensor&, const Tensor&, const ModelConfig&, Direction) { missing("rotary"); }
void Kernels::dropout(const Tensor&, const Tensor&, const Tensor&, double) { missing("dropout"); }
void Kernels::add_rows(const Tensor&, const Tensor&, const Tensor&) { missing("add_rows"); }
void Kernels::sum_rows(const Tensor&, const Tensor&) { missing("sum_rows"); }
void Kernels::softmax(const Tensor&, const Tensor&, double, bool) { missing("softmax"); }
void Kernels::softmax_backward(const Tensor&, const Tensor&, const Tensor&, double) {
  missing("softmax_backward");
}
void Kernels::layer_norm(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                         const Tensor&, double) {
  missing("layer_norm");
}
void Kernels::layer_norm_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                  const Tensor&, const Tensor&, const Tensor&) {
  missing("layer_norm_backward");
}
void Kernels::rms_norm(const Tensor&, const Tensor&, const Tensor&, const Tensor&, double) {
  missing("rms_norm");
}
void Kernels::rms_norm_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                const Tensor&) {
  missing("rms_norm_backward");
}
void Kernels::embedding(const Tensor&, const Tensor&, const Tensor&, const VocabSlice&) {
  missing("embedding");
}
void Kernels::embedding_backward(const Tensor&, const Tensor&, const Tensor&, const VocabSlice&) {
  missing("embedding_backward");
}
void Kernels::cross_entropy_max(const Tensor&, const Tensor&, const VocabSlice&) {
  missing("cross_entropy_max");
}
void Kernels::cross_entropy_sums(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                 const Tensor&, const VocabSlice&) {
  missing("cross_entropy_sums");
}
void Kernels::cross_entropy_loss(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                 const Tensor&, const LossDefinition&, std::int64_t) {
  missing("cross_entropy_loss");
}
void Kernels::cross_entropy_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                     const Tensor&, const Tensor&, const LossDefinition&, const VocabSlice&) {
  missing("cross_entropy_backward");
}
void Kernels::loss_weights(const Tensor&, const Tensor&, const LossDefinition&) { missing("loss_weights"); }
void Kernels::dot(const Tensor&, const Tensor&, const Tensor&) { missing("dot"); }

}  // namespace tpc
