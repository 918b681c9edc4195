// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/compute.hpp"

#include "reference/compute/checks.hpp"
#include "reference/compute/kernels.hpp"

namespace tpc {

namespace {

// A place to copy from or to: the backend's own, or the host.
void expect_within_reach(Place place, std::string_view kernel, const Tensor& x) {
  TPC_EXPECT(x.count() == 0 || x.place() == place || x.place() == Place::host,
             "{} at {} got a tensor {} at {}", kernel, name(place), to_string(x.shape()), name(x.place()));
}

void expect_at(Place place, std::string_view kernel, std::initializer_list<const Tensor*> operands) {
  for (const Tensor* x : operands)
    TPC_EXPECT(x->count() == 0 || x->place() == place, "{} at {} got a tensor {} at {}", kernel, name(place),
               to_string(x->shape()), name(x->place()));
}

}  // namespace

Compute::Compute(std::unique_ptr<Kernels> kernels)
    : kernels_(std::move(kernels)), place_(kernels_->memory().place), allocator_(kernels_->memory()) {}
Compute::~Compute() = default;

// Where nothing is stored nothing is computed.
template <class Call>
void Compute::launch(const KernelCall& kernel, const Call& call) {
  const auto computed = [&] {
    if (place_ != Place::nowhere) call();
  };
  if (observer_)
    observer_(kernel, computed);
  else
    computed();
}

template <class Call>
void Compute::run(std::string_view kernel, Operands operands, const Call& call) {
  expect_at(place_, kernel, operands);
  double bytes = 0;
  for (const Tensor* x : operands) bytes += static_cast<double>(x->bytes());
  launch({kernel, bytes}, call);
}

Tensor Compute::allocate(DType dtype, Shape shape, std::string_view label) {
  const auto bytes = static_cast<double>(element_count(shape)) * static_cast<double>(size_of(dtype));
  Tensor made;
  const auto make = [&] { made = allocator_.allocate(dtype, std::move(shape), label); };
  if (observer_)
    observer_({"allocate", bytes}, make);
  else
    make();
  return made;
}

std::size_t Compute::live_bytes() const { return allocator_.live_bytes(); }

void Compute::forget_all_but(const std::vector<Tensor>& keep) {
  synchronize();
  allocator_.fill_except(storages_of(keep));
}

void Compute::synchronize() { kernels_->synchronize(); }

void Compute::gemm(const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb,
                   bool accumulate) {
  const Product product = checks::gemm(c, a, ta, b, tb);
  expect_at(place_, "gemm", {&c, &a, &b});
  launch({"gemm", static_cast<double>(c.bytes() + a.bytes() + b.bytes()), &product},
         [&] { kernels_->gemm(product, c, a, b, accumulate); });
}

void Compute::fill(const Tensor& y, double value) {
  run("fill", {&y}, [&] { kernels_->fill(y, value); });
}

void Compute::copy(const Tensor& y, const Tensor& x) {
  checks::copy(y, x);
  for (const Tensor* each : {&y, &x}) expect_within_reach(place_, "copy", *each);
  launch({"copy", static_cast<double>(y.bytes() + x.bytes())}, [&] { kernels_->copy(y, x); });
}

void Compute::copy_block(const Tensor& y, const Shape& y_offset, const Tensor& x, const Shape& x_offset,
                         const Shape& extent) {
  checks::copy_block(y, y_offset, x, x_offset, extent);
  for (const Tensor* each : {&y, &x}) expect_within_reach(place_, "copy_block", *each);
  const std::int64_t bytes = 2 * element_count(extent) * static_cast<std::int64_t>(size_of(y.dtype()));
  launch({"copy_block", static_cast<double>(bytes)},
         [&] { kernels_->copy_block(y, y_offset, x, x_offset, extent); });
}

void Compute::permute(const Tensor& y, const Tensor& x, const std::vector<int>& order) {
  checks::permute(y, x, order);
  run("permute", {&y, &x}, [&] { kernels_->permute(y, x, order); });
}

void Compute::add(const Tensor& y, const Tensor& a, const Tensor& b) {
  checks::elementwise("add", {y, a, b});
  run("add", {&y, &a, &b}, [&] { kernels_->add(y, a, b); });
}

void Compute::scale(const Tensor& y, const Tensor& x, double factor) {
  checks::elementwise("scale", {y, x});
  run("scale", {&y, &x}, [&] { kernels_->scale(y, x, factor); });
}

void Compute::gelu(const Tensor& y, const Tensor& x, GeluForm form) {
  checks::elementwise("gelu", {y, x});
  run("gelu", {&y, &x}, [&] { kernels_->gelu(y, x, form); });
}

void Compute::gelu_backward(const Tensor& dx, const Tensor& dy, const Tensor& x, GeluForm form) {
  checks::elementwise("gelu_backward", {dx, dy, x});
  run("gelu_backward", {&dx, &dy, &x}, [&] { kernels_->gelu_backward(dx, dy, x, form); });
}

void Compute::swiglu(const Tensor& y, const Tensor& gate, const Tensor& up) {
  checks::elementwise("swiglu", {y, gate, up});
  run("swiglu", {&y, &gate, &up}, [&] { kernels_->swiglu(y, gate, up); });
}

void Compute::swiglu_backward(const Tensor& dgate, const Tensor& dup, const Tensor& dy, const Tensor& gate,
                              const Tensor& up) {
  checks::elementwise("swiglu_backward", {dgate, dup, dy, gate, up});
  run("swiglu_backward", {&dgate, &dup, &dy, &gate, &up},
      [&] { kernels_->swiglu_backward(dgate, dup, dy, gate, up); });
}

void Compute::rotary(const Tensor& y, const Tensor& x, const ModelConfig& config, Direction direction) {
  checks::rotary(y, x, config);
  run("rotary", {&y, &x}, [&] { kernels_->rotary(y, x, config, direction); });
}

void Compute::dropout(const Tensor& y, const Tensor& x, const Tensor& mask, double factor) {
  checks::dropout(y, x, mask);
  run("dropout", {&y, &x, &mask}, [&] { kernels_->dropout(y, x, mask, factor); });
}

void Compute::add_rows(const Tensor& y, const Tensor& x, const Tensor& vector) {
  checks::add_rows(y, x, vector);
  run("add_rows", {&y, &x, &vector}, [&] { kernels_->add_rows(y, x, vector); });
}

void Compute::sum_rows(const Tensor& vector, const Tensor& x) {
  checks::sum_rows(vector, x);
  run("sum_rows", {&vector, &x}, [&] { kernels_->sum_rows(vector, x); });
}

void Compute::softmax(const Tensor& p, const Tensor& scores, double factor, bool causal) {
  checks::softmax(p, scores, causal);
  run("softmax", {&p, &scores}, [&] { kernels_->softmax(p, scores, factor, causal); });
}

void Compute::softmax_backward(const Tensor& dscores, const Tensor& dp, const Tensor& p, double factor) {
  checks::elementwise("softmax_backward", {dscores, dp, p});
  run("softmax_backward", {&dscores, &dp, &p}, [&] { kernels_->softmax_backward(dscores, dp, p, factor); });
}

void Compute::layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x,
                         const Tensor& gain, const Tensor& bias, double eps) {
  checks::norm("layer_norm", x, {{y}, {gain, bias}, {mean, rstd}});
  run("layer_norm", {&y, &x}, [&] { kernels_->layer_norm(y, mean, rstd, x, gain, bias, eps); });
}

void Compute::layer_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dbias,
                                  const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                                  const Tensor& gain) {
  checks::norm("layer_norm_backward", x, {{dx, dy}, {dgain, dbias, gain}, {mean, rstd}});
  run("layer_norm_backward", {&dx, &dy, &x},
      [&] { kernels_->layer_norm_backward(dx, dgain, dbias, dy, x, mean, rstd, gain); });
}

void Compute::rms_norm(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& gain, double eps) {
  checks::norm("rms_norm", x, {{y}, {gain}, {rstd}});
  run("rms_norm", {&y, &x}, [&] { kernels_->rms_norm(y, rstd, x, gain, eps); });
}

void Compute::rms_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dy, const Tensor& x,
                                const Tensor& rstd, const Tensor& gain) {
  checks::norm("rms_norm_backward", x, {{dx, dy}, {dgain, gain}, {rstd}});
  run("rms_norm_backward", {&dx, &dy, &x},
      [&] { kernels_->rms_norm_backward(dx, dgain, dy, x, rstd, gain); });
}

void Compute::embedding(const Tensor& y, const Tensor& ids, const Tensor& weight, const VocabSlice& slice) {
  checks::embedding("embedding", y, ids, weight, slice);
  run("embedding", {&y, &y}, [&] { kernels_->embedding(y, ids, weight, slice); });
}

void Compute::embedding_backward(const Tensor& dweight, const Tensor& dy, const Tensor& ids,
                                 const VocabSlice& slice) {
  checks::embedding("embedding_backward", dy, ids, dweight, slice);
  run("embedding_backward", {&dweight, &dy}, [&] { kernels_->embedding_backward(dweight, dy, ids, slice); });
}

void Compute::cross_entropy_max(const Tensor& max, const Tensor& logits, const VocabSlice& slice) {
  checks::cross_entropy("cross_entropy_max", {max}, logits, slice);
  run("cross_entropy_max", {&max, &logits}, [&] { kernels_->cross_entropy_max(max, logits, slice); });
}

void Compute::cross_entropy_sums(const Tensor& sum_exp, const Tensor& target_logit, const Tensor& sum_logit,
                                 const Tensor& logits, const Tensor& max, const Tensor& targets,
                                 const VocabSlice& slice) {
  checks::cross_entropy("cross_entropy_sums", {sum_exp, target_logit, sum_logit, max}, logits, slice,
                        targets);
  run("cross_entropy_sums", {&logits},
      [&] { kernels_->cross_entropy_sums(sum_exp, target_logit, sum_logit, logits, max, targets, slice); });
}

void Compute::cross_entropy_loss(const Tensor& loss, const Tensor& max, const Tensor& sum_exp,
                                 const Tensor& target_logit, const Tensor& sum_logit, const Tensor& targets,
                                 const LossDefinition& definition, std::int64_t vocab) {
  checks::cross_entropy_loss({loss, max, sum_exp, target_logit, sum_logit}, targets);
  run("cross_entropy_loss", {&loss, &max, &sum_exp}, [&] {
    kernels_->cross_entropy_loss(loss, max, sum_exp, target_logit, sum_logit, targets, definition, vocab);
  });
}

void Compute::cross_entropy_backward(const Tensor& dlogits, const Tensor& logits, const Tensor& max,
                                     const Tensor& sum_exp, const Tensor& targets, const Tensor& seeds,
                                     const LossDefinition& definition, const VocabSlice& slice) {
  checks::cross_entropy("cross_entropy_backward", {max, sum_exp, seeds}, logits, slice, targets);
  checks::elementwise("cross_entropy_backward", {dlogits, logits});
  run("cross_entropy_backward", {&dlogits, &logits}, [&] {
    kernels_->cross_entropy_backward(dlogits, logits, max, sum_exp, targets, seeds, definition, slice);
  });
}

void Compute::loss_weights(const Tensor& weights, const Tensor& targets, const LossDefinition& definition) {
  checks::loss_weights(weights, targets);
  run("loss_weights", {&weights, &targets}, [&] { kernels_->loss_weights(weights, targets, definition); });
}

void Compute::dot(const Tensor& scalar, const Tensor& a, const Tensor& b) {
  checks::dot(scalar, a, b);
  run("dot", {&scalar, &a, &b}, [&] { kernels_->dot(scalar, a, b); });
}

}  // namespace tpc
