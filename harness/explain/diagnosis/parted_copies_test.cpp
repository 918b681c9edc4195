// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/parted_copies.hpp"

#include <gtest/gtest.h>

#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

TEST(PartedCopies, TellAMissingSumFromOneThatLeavesSomeOut) {
  EXPECT_EQ(parted_text({"norm1.gain", "norm1.bias", "fc2.bias", "norm2.gain"}, {}, true),
            "copies of norm1.gain, norm1.bias, fc2.bias and 1 more parameters are no longer alike on all "
            "ranks: of all "
            "norms, whose gradients sequence parallelism leaves as parts of a sum; no step adds them up (as "
            "with faults "
            "TP-15 and TP-18)");
  EXPECT_EQ(parted_text({"final_norm.gain"}, {"norm1.gain"}, true),
            "copies of final_norm.gain are no longer alike on all ranks, and those of norm1.gain are: the "
            "sum over the "
            "ranks leaves some out");
  EXPECT_EQ(parted_text({"norm1.gain"}, {}, false), "copies of norm1.gain are no longer alike on all ranks");
}

// Two ranks with a gain that parted, one that did not, and a weight of which each has a half.
TEST(PartedCopies, AreThoseThatEveryRankHoldsWhole) {
  Request request;
  request.problem.asked = Operation::train;
  request.problem.train.reports = {3};
  request.sharding.sequence_parallel = SequenceParallel::kept;
  for (const char* name : {"norm1.gain", "norm2.gain", "w"})
    request.problem.inputs.push_back({name, {2}, {}});
  std::optional<std::string> found;
  on_local_ranks(2, [&](const CommunicatorPtr& ranks) {
    const auto own = static_cast<double>(ranks->rank());
    const auto tensor = [](double first) {
      const Tensor values = host_tensor(DType::f64, {2});
      values.data<double>()[0] = first;
      values.data<double>()[1] = 1;
      return values;
    };
    const std::vector<LocalTensor> answer = {
        {"step3.norm1.gain", tensor(own), replicate({2})},
        {"step3.norm2.gain", tensor(1), replicate({2})},
        {"step3.w", tensor(own).rows(0, 1), shard({2}, 0, ranks->rank(), 2)}};
    const auto text = parted_copies(request, answer, *ranks);
    if (ranks->rank() == 0) found = text;
  });
  EXPECT_EQ(found.value_or(""),
            "copies of norm1.gain are no longer alike on all ranks, and those of norm2.gain are: the sum "
            "over the ranks "
            "leaves some out");
}

}  // namespace
}  // namespace tpc
