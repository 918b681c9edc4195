// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "reference/optimizer/state_tensors.hpp"

namespace tpc {

namespace {

class AdamW final : public Optimizer {
 public:
  AdamW(const AdamWOptions& options, DType states) : options_(options), dtype_(states), moments_(states) {
    const auto is_share = [](double beta) { return beta >= 0 && beta < 1; };
    if (!(options.lr > 0) || !is_share(options.beta1) || !is_share(options.beta2) ||
        !(options.weight_decay >= 0))
      throw UsageError(
          fmt::format("AdamW with lr {}, beta {} and {}, weight decay {}: lr must be positive, the betas in "
                      "[0, 1), the decay not negative",
                      options.lr, options.beta1, options.beta2, options.weight_decay));
    if (!(options.eps >= 1e-8))
      throw UsageError(fmt::format("AdamW with eps {}: it must be at least 1e-8", options.eps));
  }

  void step(Compute& compute, const Parameters& params, const Gradients& gradients) override {
    ++steps_;
    for (const auto& [name, parameter] : params) {
      const Update update = checked_update(compute, name, parameter, gradients, dtype_);
      const Tensor m = moments_.of(compute, "m", name, parameter);
      const Tensor v = moments_.of(compute, "v", name, parameter);
      visit_update(parameter.dtype(), dtype_, [&](auto p, auto s, auto a) {
        move<decltype(p), decltype(s), decltype(a)>(update, m, v);
      });
    }
  }

  OptimizerState state() const override { return {steps_, moments_.copy()}; }
  void restore(const OptimizerState& state) override {
    moments_.restore(state.tensors);
    steps_ = state.steps;
  }

 private:
  template <class P, class S, class A>
  void move(const Update& update, const Tensor& first, const Tensor& second) const {
    P* const parameter = update.parameter.data<P>();
    const A* const gradient = update.gradient.data<A>();
    S* const m = first.data<S>();
    S* const v = second.data<S>();
    const auto t = static_cast<double>(steps_);
    const A correction1 = static_cast<A>(1 - std::pow(options_.beta1, t));
    const A correction2 = static_cast<A>(1 - std::pow(options_.beta2, t));
    const A keep = static_cast<A>(1 - options_.lr * options_.weight_decay);
    const A beta1 = static_cast<A>(options_.beta1);
    const A beta2 = static_cast<A>(options_.beta2);
    for (std::int64_t i = 0; i < update.parameter.count(); ++i) {
      const A g = gradient[i];
      m[i] = static_cast<S>(beta1 * static_cast<A>(m[i]) + (1 - beta1) * g);
      v[i] = static_cast<S>(beta2 * static_cast<A>(v[i]) + (1 - beta2) * g * g);
      const A mean = static_cast<A>(m[i]) / correction1;
      const A root = std::sqrt(static_cast<A>(v[i]) / correction2) + static_cast<A>(options_.eps);
      const A moved = keep * static_cast<A>(parameter[i]) - static_cast<A>(options_.lr) * (mean / root);
      parameter[i] = rounded_to<P>(moved);
    }
  }

  AdamWOptions options_;
  DType dtype_;
  StateTensors moments_;
  std::int64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(const AdamWOptions& options, DType states) {
  return std::make_unique<AdamW>(options, states);
}

}  // namespace tpc
