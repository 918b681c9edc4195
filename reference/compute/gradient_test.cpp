// SPDX-License-Identifier: Apache-2.0
// Every backward kernel in f64 against central differences of its forward kernel, and every kernel in f32 and
// bf16 against itself in f64 on the same rounded inputs.
#include <gtest/gtest.h>

#include <string>

#include "reference/compute/compute.hpp"
#include "reference/compute/test_support.hpp"

namespace tpc {
namespace {

using test::in_f64;
using test::relative_error;
using test::unwrapped;
using test::Values;
using test::wrapped;

using Tensors = std::vector<Tensor>;

// A kernel with its backward, as functions of float tensors.
struct Differentiable {
  std::string name;
  std::vector<Shape> inputs;
  std::function<Tensor(Compute&, const Tensors& inputs)> forward;
  std::function<Tensors(Compute&, const Tensors& inputs, const Tensor& dy)> backward;  // one per input
};

Tensor like(Compute& compute, const Tensor& x) { return compute.allocate(x.dtype(), x.shape(), "like"); }

Tensor stats_of(Compute& compute, const Tensor& x, std::int64_t rows) {
  return compute.allocate(statistics_dtype(x.dtype()), {rows}, "statistics");
}

Differentiable gelu_case(GeluForm form) {
  return {form == GeluForm::erf ? "gelu_erf" : "gelu_tanh",
          {{3, 11}},
          [form](Compute& compute, const Tensors& in) {
            const Tensor y = like(compute, in[0]);
            compute.gelu(y, in[0], form);
            return y;
          },
          [form](Compute& compute, const Tensors& in, const Tensor& dy) {
            const Tensor dx = like(compute, in[0]);
            compute.gelu_backward(dx, dy, in[0], form);
            return Tensors{dx};
          }};
}

Differentiable swiglu_case() {
  return {"swiglu",
          {{3, 11}, {3, 11}},
          [](Compute& compute, const Tensors& in) {
            const Tensor y = like(compute, in[0]);
            compute.swiglu(y, in[0], in[1]);
            return y;
          },
          [](Compute& compute, const Tensors& in, const Tensor& dy) {
            const Tensor dgate = like(compute, in[0]);
            const Tensor dup = like(compute, in[1]);
            compute.swiglu_backward(dgate, dup, dy, in[0], in[1]);
            return Tensors{dgate, dup};
          }};
}

Differentiable rotary_case(RotaryForm form) {
  ModelConfig config;
  config.head_dim = 6;
  config.rotary = form;
  config.rotary_theta = 100;
  config.rotary_scaling = RotaryScaling{8, 1, 4, 40};
  return {form == RotaryForm::halves ? "rotary_halves" : "rotary_interleaved",
          {{4, 2, 1, 6}},
          [config](Compute& compute, const Tensors& in) {
            const Tensor y = like(compute, in[0]);
            compute.rotary(y, in[0], config, Direction::forward);
            return y;
          },
          [config](Compute& compute, const Tensors&, const Tensor& dy) {
            const Tensor dx = like(compute, dy);
            compute.rotary(dx, dy, config, Direction::backward);
            return Tensors{dx};
          }};
}

Differentiable softmax_case(bool causal) {
  constexpr double factor = 0.7;
  return {causal ? "softmax_causal" : "softmax",
          {{2, 10, 5}},
          [causal](Compute& compute, const Tensors& in) {
            const Tensor p = like(compute, in[0]);
            compute.softmax(p, in[0], factor, causal);
            return p;
          },
          [causal](Compute& compute, const Tensors& in, const Tensor& dy) {
            const Tensor p = like(compute, in[0]);
            const Tensor dx = like(compute, in[0]);
            compute.softmax(p, in[0], factor, causal);
            compute.softmax_backward(dx, dy, p, factor);
            return Tensors{dx};
          }};
}

Differentiable layer_norm_case() {
  const auto forward = [](Compute& compute, const Tensors& in, const Tensors& stats) {
    const Tensor y = like(compute, in[0]);
    compute.layer_norm(y, stats[0], stats[1], in[0], in[1], in[2], 0.1);
    return y;
  };
  const auto stats_for = [](Compute& compute, const Tensors& in) {
    return Tensors{stats_of(compute, in[0], 4), stats_of(compute, in[0], 4)};
  };
  return {"layer_norm",
          {{4, 1, 9}, {9}, {9}},
          [=](Compute& compute, const Tensors& in) { return forward(compute, in, stats_for(compute, in)); },
          [=](Compute& compute, const Tensors& in, const Tensor& dy) {
            const Tensors stats = stats_for(compute, in);
            forward(compute, in, stats);
            const Tensors d = {like(compute, in[0]), like(compute, in[1]), like(compute, in[2])};
            compute.layer_norm_backward(d[0], d[1], d[2], dy, in[0], stats[0], stats[1], in[1]);
            return d;
          }};
}

Differentiable rms_norm_case() {
  const auto forward = [](Compute& compute, const Tensors& in, const Tensor& rstd) {
    const Tensor y = like(compute, in[0]);
    compute.rms_norm(y, rstd, in[0], in[1], 0.1);
    return y;
  };
  return {
      "rms_norm",
      {{4, 9}, {9}},
      [=](Compute& compute, const Tensors& in) { return forward(compute, in, stats_of(compute, in[0], 4)); },
      [=](Compute& compute, const Tensors& in, const Tensor& dy) {
        const Tensor rstd = stats_of(compute, in[0], 4);
        forward(compute, in, rstd);
        const Tensors d = {like(compute, in[0]), like(compute, in[1])};
        compute.rms_norm_backward(d[0], d[1], dy, in[0], rstd, in[1]);
        return d;
      }};
}

Differentiable rows_case() {
  return {"add_rows",
          {{3, 2, 5}, {5}},
          [](Compute& compute, const Tensors& in) {
            const Tensor y = like(compute, in[0]);
            compute.add_rows(y, in[0], in[1]);
            return y;
          },
          [](Compute& compute, const Tensors& in, const Tensor& dy) {
            const Tensor dvector = like(compute, in[1]);
            compute.sum_rows(dvector, dy);
            return Tensors{dy, dvector};
          }};
}

Differentiable embedding_case() {
  const Tensor ids = wrapped(DType::i64, {7}, {4, 9, 5, 4, 3, 6, 4});
  const VocabSlice slice{4, 4, 7};
  return {"embedding",
          {{4, 3}},
          [=](Compute& compute, const Tensors& in) {
            const Tensor y = compute.allocate(in[0].dtype(), {7, 3}, "y");
            compute.embedding(y, ids, in[0], slice);
            return y;
          },
          [=](Compute& compute, const Tensors& in, const Tensor& dy) {
            const Tensor dweight = like(compute, in[0]);
            compute.embedding_backward(dweight, dy, ids, slice);
            return Tensors{dweight};
          }};
}

// The whole of a vocabulary of 7, padded to 9. The loss is a statistic, so dy is one too.
Differentiable cross_entropy_case(const std::string& name, const LossDefinition& definition) {
  const Tensor targets = wrapped(DType::i64, {3}, {2, -100, 6});
  const VocabSlice slice{0, 9, 7};
  const auto terms_of = [=](Compute& compute, const Tensor& logits) {
    Tensors terms;
    for (int i = 0; i < 4; ++i) terms.push_back(stats_of(compute, logits, 3));
    compute.cross_entropy_max(terms[0], logits, slice);
    compute.cross_entropy_sums(terms[1], terms[2], terms[3], logits, terms[0], targets, slice);
    return terms;
  };
  return {name,
          {{3, 9}},
          [=](Compute& compute, const Tensors& in) {
            const Tensors t = terms_of(compute, in[0]);
            const Tensor loss = stats_of(compute, in[0], 3);
            compute.cross_entropy_loss(loss, t[0], t[1], t[2], t[3], targets, definition, 7);
            return loss;
          },
          [=](Compute& compute, const Tensors& in, const Tensor& dy) {
            const Tensors t = terms_of(compute, in[0]);
            const Tensor dx = like(compute, in[0]);
            compute.cross_entropy_backward(dx, in[0], t[0], t[1], targets, dy, definition, slice);
            return Tensors{dx};
          }};
}

std::vector<Differentiable> all_cases() {
  LossDefinition over_all;
  over_all.label_smoothing = 0.1;
  LossDefinition over_others = over_all;
  over_others.smoothing_over = SmoothingOver::other_classes;
  LossDefinition with_z = over_others;
  with_z.z_loss = 0.01;
  return {gelu_case(GeluForm::erf),
          gelu_case(GeluForm::tanh),
          swiglu_case(),
          rotary_case(RotaryForm::halves),
          rotary_case(RotaryForm::interleaved),
          softmax_case(false),
          softmax_case(true),
          layer_norm_case(),
          rms_norm_case(),
          rows_case(),
          embedding_case(),
          cross_entropy_case("cross_entropy", {}),
          cross_entropy_case("cross_entropy_smoothed", over_all),
          cross_entropy_case("cross_entropy_smoothed_over_others", over_others),
          cross_entropy_case("cross_entropy_z_loss", with_z)};
}

class Kernels : public testing::TestWithParam<Differentiable> {
 protected:
  Tensors inputs(DType dtype) const {
    Tensors in;
    for (std::size_t i = 0; i < GetParam().inputs.size(); ++i)
      in.push_back(test::random_tensor(dtype, GetParam().inputs[i], "input " + std::to_string(i)));
    return in;
  }

  std::unique_ptr<Compute> compute = make_host_compute();
};
INSTANTIATE_TEST_SUITE_P(, Kernels, testing::ValuesIn(all_cases()),
                         [](const auto& kernel) { return kernel.param.name; });

TEST_P(Kernels, BackwardIsTheGradient) {
  const Differentiable& kernel = GetParam();
  const Tensors in = inputs(DType::f64);
  const Tensor y = kernel.forward(*compute, in);
  const Tensor dy = test::random_tensor(DType::f64, y.shape(), "dy");

  const Tensors gradients = kernel.backward(*compute, in, dy);

  ASSERT_EQ(gradients.size(), in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto objective = [&](const Values& values) {
      Tensors moved = in;
      moved[i] = wrapped(DType::f64, in[i].shape(), values);
      return test::dot(unwrapped(kernel.forward(*compute, moved)), unwrapped(dy));
    };
    const Values expected = test::numerical_gradient(objective, unwrapped(in[i]));
    EXPECT_LE(relative_error(unwrapped(gradients[i]), expected), 1e-8) << "input " << i;
  }
}

TEST_P(Kernels, NarrowDtypesAgreeWithF64) {
  const Differentiable& kernel = GetParam();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const double bound = dtype == DType::bf16 ? 4 * unit_roundoff(dtype) : 16 * unit_roundoff(dtype);
    const Tensors in = inputs(dtype);
    Tensors in64;
    for (const Tensor& x : in) in64.push_back(in_f64(x));
    const Tensor y = kernel.forward(*compute, in);
    EXPECT_LE(relative_error(unwrapped(y), unwrapped(kernel.forward(*compute, in64))), bound) << name(dtype);

    const Tensor dy = test::random_tensor(y.dtype(), y.shape(), "dy");
    const Tensors gradients = kernel.backward(*compute, in, dy);
    const Tensors expected = kernel.backward(*compute, in64, in_f64(dy));
    for (std::size_t i = 0; i < in.size(); ++i)
      EXPECT_LE(relative_error(unwrapped(gradients[i]), unwrapped(expected[i])), bound)
          << name(dtype) << " input " << i;
  }
}

}  // namespace
}  // namespace tpc
