// SPDX-License-Identifier: Apache-2.0
// What is wrong with a tensor, in numbers: read off, not guessed.
#pragma once

#include <string>

#include "harness/explain/diagnosis/evidence.hpp"
#include "reference/mesh/device_mesh.hpp"

namespace tpc {

struct Facts {
  std::int64_t wrong = 0;  // elements, each counted once however many ranks hold it
  Box box;                 // around them, in the global tensor
  std::vector<int> ranks;  // that hold any of them
  int worst_rank = -1;
  std::int64_t worst = 0;  // row-major index
  double right = 0;        // there
  double got = 0;
  double largest = 0;  // error; infinite where it is no number
};
Facts facts_of(const TensorEvidence& tensor);

// "y: 12 of 96 elements are wrong, on rank 1 (tp 1 of 2), within [0..5, 0..1, 4..7]; the largest error, at
// [5, 0, 6], is 3.1e+14 eps: 0.25 instead of 0.5"
std::string to_text(const Facts& facts, const TensorEvidence& tensor, const MeshSpec& mesh);

}  // namespace tpc
