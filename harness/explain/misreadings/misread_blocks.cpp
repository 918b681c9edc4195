// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/misreadings/misread_blocks.hpp"

#include "harness/judge/baselines/baseline_inputs.hpp"
#include "harness/judge/inputs/inputs.hpp"

namespace tpc {

namespace {

using baseline::Dense;
using baseline::Inputs;

Dense sum_of(Dense one, const Dense& other) {
  for (std::size_t i = 0; i < one.values.size(); ++i) one.values[i] += other.values[i];
  return one;
}

class WiredBlock {
 public:
  WiredBlock(const ModelConfig& config, const Inputs& inputs) : config_(config), inputs_(inputs) {}

  Answers solve(Wiring attention, Wiring mlp) {
    const Dense middle = forward({"norm1", "attention", Operation::attention}, attention, inputs_.at("x"));
    const Dense y = forward({"norm2", "mlp", Operation::mlp}, mlp, middle);
    const Dense dmiddle = backward({"norm2", "mlp", Operation::mlp}, mlp, middle, inputs_.at("dy"));
    const Dense dx =
        backward({"norm1", "attention", Operation::attention}, attention, inputs_.at("x"), dmiddle);
    answers_["y"].value = y;
    answers_["dx"].value = dx;
    return answers_;
  }

 private:
  struct Part {
    std::string norm;
    std::string layer;
    Operation operation;
  };

  Dense forward(const Part& part, Wiring wiring, const Dense& x) const {
    if (wiring == Wiring::norm_behind) return norm(part, sum_of(x, run(part, x)));
    const Dense n = norm(part, x);
    const Dense out = run(part, n);
    if (wiring == Wiring::nothing_around) return out;
    return sum_of(wiring == Wiring::right ? x : n, out);
  }

  Dense backward(const Part& part, Wiring wiring, const Dense& x, const Dense& dy) {
    if (wiring == Wiring::norm_behind) {
      const Dense dsum = back(part.norm, norm_operation(), sum_of(x, run(part, x)), dy);
      return sum_of(dsum, back(part.layer, part.operation, x, dsum));
    }
    Dense dn = back(part.layer, part.operation, norm(part, x), dy);
    if (wiring == Wiring::around_norm_output) dn = sum_of(dn, dy);
    const Dense dx = back(part.norm, norm_operation(), x, dn);
    return wiring == Wiring::right ? sum_of(dx, dy) : dx;
  }

  Operation norm_operation() const {
    return config_.norm == NormKind::layer_norm ? Operation::layer_norm : Operation::rms_norm;
  }
  Dense norm(const Part& part, const Dense& x) const {
    return answer(part.norm, norm_operation(), x, nullptr).at("y").value;
  }
  Dense run(const Part& part, const Dense& x) const {
    return answer(part.layer, part.operation, x, nullptr).at("y").value;
  }

  Answers answer(const std::string& layer, Operation operation, const Dense& x, const Dense* dy) const {
    Inputs own{{"x", x}};
    if (dy != nullptr) own["dy"] = *dy;
    for (const auto& [name, input] : inputs_)
      if (name.starts_with(layer + ".")) own[name.substr(layer.size() + 1)] = input;
    return baseline::solve(operation, config_, own).answers;
  }

  Dense back(const std::string& layer, Operation operation, const Dense& x, const Dense& dy) {
    Dense dx;
    for (auto& [name, own] : answer(layer, operation, x, &dy))
      if (name == "dx")
        dx = own.value;
      else if (name.starts_with("grad."))
        answers_["grad." + layer + "." + name.substr(5)] = std::move(own);
    return dx;
  }

  const ModelConfig& config_;
  const Inputs& inputs_;
  Answers answers_;
};

Misreading wired(const std::string& title, Wiring attention, Wiring mlp) {
  Misreading misreading;
  misreading.id = "residual";
  misreading.title = title;
  misreading.instead = [attention, mlp](const Problem& problem) {
    return solve_wired(problem.model, baseline_inputs(problem), attention, mlp);
  };
  return misreading;
}

}  // namespace

Answers solve_wired(const ModelConfig& config, const Inputs& inputs, Wiring attention, Wiring mlp) {
  return WiredBlock(config, inputs).solve(attention, mlp);
}

std::vector<Misreading> misread_blocks(const Problem& problem) {
  std::vector<Misreading> all;
  if (!problem.asks(Operation::transformer_layer) || problem.model.dropout != DropoutRates{} ||
      !has_input(problem, "dy"))
    return all;
  constexpr Wiring right = Wiring::right;
  for (const auto& [wiring, what] : std::vector<std::pair<Wiring, std::string>>{
           {Wiring::around_norm_output, "a residual that is the norm's output, not its input, around"},
           {Wiring::nothing_around, "no residual around"},
           {Wiring::norm_behind, "a norm behind the residual's sum, not before"}}) {
    all.push_back(wired(what + " the attention", wiring, right));
    all.push_back(wired(what + " the MLP", right, wiring));
    all.push_back(wired(what + " both the attention and the MLP", wiring, wiring));
  }
  return all;
}

}  // namespace tpc
