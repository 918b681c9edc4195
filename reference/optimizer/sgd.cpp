// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/state_tensors.hpp"

namespace tpc {

namespace {

class Sgd final : public Optimizer {
 public:
  Sgd(const SgdOptions& options, DType states) : options_(options), dtype_(states), momentum_(states) {
    if (!(options.lr > 0) || !(options.momentum >= 0 && options.momentum < 1))
      throw UsageError(fmt::format("SGD with lr {} and momentum {}: lr must be positive, momentum in [0, 1)",
                                   options.lr, options.momentum));
  }

  void step(Compute& compute, const Parameters& params, const Gradients& gradients) override {
    ++steps_;
    for (const auto& [name, parameter] : params) {
      const Update update = checked_update(compute, name, parameter, gradients, dtype_);
      const Tensor b = options_.momentum > 0 ? momentum_.of(compute, "momentum", name, parameter) : Tensor();
      visit_update(parameter.dtype(), dtype_,
                   [&](auto p, auto s, auto a) { move<decltype(p), decltype(s), decltype(a)>(update, b); });
    }
  }

  OptimizerState state() const override { return {steps_, momentum_.copy()}; }
  void restore(const OptimizerState& state) override {
    momentum_.restore(state.tensors);
    steps_ = state.steps;
  }

 private:
  template <class P, class S, class A>
  void move(const Update& update, const Tensor& b) const {
    P* const parameter = update.parameter.data<P>();
    const A* const gradient = update.gradient.data<A>();
    S* const momentum = b ? b.data<S>() : nullptr;
    const A lr = static_cast<A>(options_.lr);
    for (std::int64_t i = 0; i < update.parameter.count(); ++i) {
      A direction = gradient[i];
      if (momentum != nullptr) {
        momentum[i] =
            static_cast<S>(static_cast<A>(options_.momentum) * static_cast<A>(momentum[i]) + direction);
        direction = static_cast<A>(momentum[i]);
      }
      parameter[i] = rounded_to<P>(static_cast<A>(parameter[i]) - lr * direction);
    }
  }

  SgdOptions options_;
  DType dtype_;
  StateTensors momentum_;
  std::int64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(const SgdOptions& options, DType states) {
  return std::make_unique<Sgd>(options, states);
}

}  // namespace tpc
