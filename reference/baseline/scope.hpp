// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/baseline/baseline.hpp"
#include "reference/baseline/values.hpp"

namespace tpc::baseline {

// The place inside a model at which something is computed: finds the parameters of that place by their short
// names, and files what comes out under their full ones.
class Scope {
 public:
  struct Tokens {
    std::int64_t sequence = 0;
    std::int64_t batch = 0;
  };
  Scope(const ModelConfig& config, const Inputs& inputs, Tokens tokens, Account account, Solution& solution)
      : config_(&config), inputs_(&inputs), tokens_(tokens), account_(account), solution_(&solution) {}

  Scope inner(const std::string& name) const;

  const ModelConfig& config() const { return *config_; }
  std::int64_t sequence() const { return tokens_.sequence; }
  std::int64_t batch() const { return tokens_.batch; }
  std::int64_t tokens() const { return tokens_.sequence * tokens_.batch; }

  bool has(const std::string& name) const;
  const Values& input(const std::string& name, const Shape& shape) const;  // also a parameter

  void answer(const std::string& name, Shape shape, Values value, const Scale& scale) const;
  void answer(const std::string& name, Shape shape, Terms terms) const;
  void gradient(const std::string& parameter, Shape shape, Values value, const Scale& scale) const;

  // The account of contractions. Magnitudes are needed where somebody asks, and everywhere for the account.
  bool accounts() const { return account_ == Account::contractions_too; }
  bool needs(Magnitudes asked) const { return asked == Magnitudes::wanted || accounts(); }
  double unit(const Values& values) const { return accounts() ? lowest_bit(values) : 0; }
  void contraction(const std::string& name, double largest_magnitude, double unit) const;
  void contraction(const std::string& name, const Terms& terms) const;
  // What is no sum but must be held without rounding: the widest significand counts. One of more than 40 bits
  // is no work of small integers but has been rounded already, so its quanta are infinite.
  void stored(const std::string& name, const Values& values) const;

 private:
  const ModelConfig* config_;
  const Inputs* inputs_;
  Tokens tokens_;
  Account account_;
  Solution* solution_;
  std::string prefix_;
};

// f(a, b), a sum of products of elements of a with elements of b.
template <class F>
Values contracted(const Scope& scope, const std::string& name, F f, const Values& a, const Values& b) {
  if (scope.accounts())
    scope.contraction(name, Scale(f(absolute(a), absolute(b))).max(), scope.unit(a) * scope.unit(b));
  return f(a, b);
}

}  // namespace tpc::baseline
