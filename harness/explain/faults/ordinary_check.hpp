// SPDX-License-Identifier: Apache-2.0
// What is customary where there is no such suite: the model takes some steps of Adam on one device and on
// two, and the losses have to be close. The kill matrix says which faults that lets pass.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/compare/compare.hpp"
#include "harness/run/fault_conditions.hpp"

namespace tpc {

struct Tolerance {
  double relative;
  double absolute;
};
inline constexpr Tolerance loss_tolerance{1e-2, 0};
inline constexpr Tolerance output_tolerance{1.3e-6, 1e-5};  // torch.testing's for f32
inline constexpr std::int64_t first_look = 1;               // steps of Adam
inline constexpr std::int64_t second_look = 3;

struct Closeness {
  bool loss[2] = {};     // after one step and after three
  bool outputs[2] = {};  // the loss of each token
};

class OrdinaryCheck {
 public:
  explicit OrdinaryCheck(std::uint64_t seed);

  const std::vector<Case>& settings() const { return settings_; }
  // The first in which the fault can occur; null where it cannot occur in training.
  const Case* setting_for(const FaultRow& row) const;
  bool is_one_of_mine(const Case& c) const { return c.suite == "ordinary"; }
  // Collective over the ranks that the setting ran on. Passes where everything is close.
  Comparison judge(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks);
  // Of the last judgement, on the ranks that took part, rank 0 among them.
  const Closeness& last() const { return last_; }

 private:
  const std::vector<LocalTensor>& alone(const Case& c);  // what one device makes of it

  std::vector<Case> settings_;
  std::map<std::string, std::vector<LocalTensor>> alone_;
  Closeness last_;
};

}  // namespace tpc
