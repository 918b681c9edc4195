// SPDX-License-Identifier: Apache-2.0
// One case of an operation as a line of text: what --random draws, --case reads, and a failure is shrunk to.
//   op=mlp,tp=2,seq=4,hidden=6,ffn=2,mlp_bias=1
// What is not named has its simplest value, so that a smaller case is a shorter line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/values/case.hpp"

namespace tpc {

struct Configuration {
  Configuration();  // the simplest column linear on one rank

  Problem problem;  // without its inputs, which follow from the rest
  Sharding sharding;
  Tier tier = Tier::f64;
  int tp = 1;
  double ignored = 0;  // share of the targets that do not count
  bool operator==(const Configuration&) const = default;
};

// Operations whose sizes are free: all but dropout and init, whose statistics need large ones.
const std::vector<Operation>& configurable_operations();

// The canonical line: options that differ from the simplest, in a fixed order.
std::string to_text(const Configuration& configuration);
// Its inverse, for any order. Throws UsageError: an unknown or repeated option, a value that is none, an
// option that does not matter to the operation, and whatever configuration_defect finds.
Configuration configuration_of(std::string_view text);

// All options that matter, as "key=value", in the order of the canonical line.
std::vector<std::string> options_that_matter(const Configuration& configuration);

// Why no case can be made of it, in one line; empty where one can.
std::string configuration_defect(const Configuration& configuration);
// Puts what cannot matter to the answer back to its simplest value.
void drop_what_does_not_matter(Configuration& configuration);

// Of suite "random". The seed is the problem's.
Case case_of(const Configuration& configuration, const std::string& name);
// What options can say of a case, be it all or not.
Configuration described(const Case& c);
// Nothing where a line cannot say all that makes up the case.
std::optional<Configuration> configuration_of(const Case& c);

}  // namespace tpc
