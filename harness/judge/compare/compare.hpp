// SPDX-License-Identifier: Apache-2.0
// Turns what the ranks hold into a verdict. The demands of each tier are in one place, tiers.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/values/case.hpp"
#include "harness/values/implementation.hpp"
#include "reference/core/words.hpp"

namespace tpc {

// One global tensor of the baseline, and what its tolerances are made of.
struct Expected {
  Shape shape;
  const double* values = nullptr;  // read-only, row-major; owned by the store
  double norm = 0;                 // Euclidean, of the values
  double scale_norm = 0;           // see baseline::Answer
  double scale_max = 0;
  double perturbed = 0;  // e_p: relative change of the baseline when its inputs move by one rounding
  double single = -1;    // e_1: relative error of the implementation on a mesh of size 1; -1: not known
};
using ExpectedTensors = std::map<std::string, Expected>;

enum class Verdict {
  pass,
  fail,
  unsupported,
  error
};  // the worst over ranks wins: error > fail > unsupported > pass
constexpr auto words(Verdict) { return spelling("pass", "fail", "unsupported", "error"); }

struct Comparison {
  Verdict verdict = Verdict::pass;
  double worst_ratio =
      0;  // error in units of what the tier allows; above 1 fails. 0 or infinity in the exact tier
  std::string worst_tensor;
  std::string message;     // of a failure: rank, mesh coordinates, tensor, global index, expected, got, bound
  std::string note = {};   // what was measured besides
  std::int64_t tests = 0;  // of statistics among it, each of which may raise a false alarm
};

// Collective over the mesh; every rank gets the same answer. Checks that the placements of all ranks together
// cover each expected tensor, that elements held more than once agree bit for bit, that padding holds its
// declared value, that no value is still a pending sum, that no expected tensor is missing, and each element
// against the baseline. Masks of dropout come in u8 and must be equal to what is expected.
Comparison compare(const Case& c, const std::vector<LocalTensor>& got, const ExpectedTensors& expected,
                   Communicator& ranks);

// Relative errors ‖got - expected‖ / max(‖expected‖, ‖scale‖) by tensor, for e_1. One rank holds everything.
std::map<std::string, double> relative_errors(const std::vector<LocalTensor>& got,
                                              const ExpectedTensors& expected);

}  // namespace tpc
