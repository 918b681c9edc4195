// SPDX-License-Identifier: Apache-2.0
// A tensor as it should be and as the ranks hold it, in one place: what facts and fingerprints are read from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/explain/vectors.hpp"
#include "harness/judge/compare/compare.hpp"
#include "harness/values/boxes.hpp"

namespace tpc {

// What a rank holds of a global tensor: the elements of a box, row-major.
struct Piece {
  int rank = 0;
  Box box;
  std::vector<double> values;
};

struct TensorEvidence {
  std::string name;
  Shape shape;
  std::vector<double> right;  // the whole tensor
  std::vector<Piece> pieces;  // by rank
  double threshold = 0;       // an element further away than this is wrong
  double epsilon = 0;         // unit of the errors that are told
  int ranks = 1;
  // What a sum may have been divided by besides T: "tokens", "tokens with a target", the axes of a mesh.
  std::vector<std::pair<std::string, double>> counts = {};
};

// The elements of a box of the right tensor, row-major.
std::vector<double> right_part(const TensorEvidence& tensor, const Box& box);
bool is_whole(const TensorEvidence& tensor, const Piece& piece);

// Collective: what all ranks hold of a tensor, by rank. Nothing where it is more than `most` elements.
std::vector<Piece> gather_pieces(const std::vector<LocalTensor>& mine, const std::string& tensor,
                                 Communicator& ranks, std::int64_t most);
// The whole tensor from its pieces; copies that differ: the lowest rank's.
std::vector<double> assembled(const Shape& shape, const std::vector<Piece>& pieces);

// What the f64 of two right answers may differ by in one element, and so on for the other tiers.
double element_threshold(const Case& c, const Expected& expected);

}  // namespace tpc
