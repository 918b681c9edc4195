// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/own_cut.hpp"

#include <gtest/gtest.h>

#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

// What two ranks make of a vocabulary of 10 in a tensor of this name and shape, whose dim is cut in parts of
// `width`.
std::int64_t padded_by(const std::string& name, const Shape& shape, std::size_t dim, std::int64_t width) {
  Request request;
  request.problem.model.vocab = 10;
  request.sharding.padded_vocab = 16;
  std::int64_t padded = 0;
  on_local_ranks(2, [&](const CommunicatorPtr& ranks) {
    Placement placement = replicate(shape);
    Block& block = placement.blocks.front();
    block.global_offset[dim] = ranks->rank() * width;
    block.extent[dim] = std::min(width, shape[dim] - ranks->rank() * width);
    const Request own =
        with_own_cut(request, {{name, host_tensor(DType::f64, block.extent), placement}}, *ranks);
    if (ranks->rank() == 1) padded = own.sharding.padded_vocab;
  });
  return padded;
}

TEST(OwnCut, IsThatOfTheLogitsOrOfATable) {
  EXPECT_EQ(padded_by("dlogits", {3, 1, 10}, 2, 5), 10);
  EXPECT_EQ(padded_by("dlogits", {3, 1, 10}, 2, 6), 12);
  EXPECT_EQ(padded_by("grad.embedding.weight", {10, 4}, 0, 6), 12);
}

TEST(OwnCut, StaysWhereNothingTellsOfIt) {
  EXPECT_EQ(padded_by("grad.positions.weight", {8, 4}, 0, 4), 16);
  EXPECT_EQ(padded_by("y", {3, 1, 10}, 2, 5), 16);
  EXPECT_EQ(padded_by("dlogits", {3, 1, 10}, 2, 10), 16);  // whole on a rank
}

}  // namespace
}  // namespace tpc
