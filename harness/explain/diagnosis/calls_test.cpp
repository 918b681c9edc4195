// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/calls.hpp"

#include <gtest/gtest.h>

namespace tpc {
namespace {

TraceRow row(CollectiveKind kind, Phase phase, std::int64_t count) {
  return {kind,
          ReduceOp::sum,
          "tp",
          2,
          "",
          "",
          phase,
          count,
          DType::f64,
          8 * count,
          8.0 * static_cast<double>(count)};
}

TEST(Calls, AreCountedWhateverTheirOrder) {
  const TraceRow forward = row(CollectiveKind::all_reduce, Phase::forward, 96);
  const TraceRow backward = row(CollectiveKind::all_reduce, Phase::backward, 96);
  const TraceRow gather = row(CollectiveKind::all_gather, Phase::backward, 48);
  EXPECT_EQ(calls_beside({forward, backward}, {backward, forward}), "");
  EXPECT_EQ(calls_beside({forward, backward}, {forward}),
            "calls beside those of the reference: backward lacks 1 all_reduce of 96 f64 on tp");
  EXPECT_EQ(calls_beside({forward, forward}, {gather}),
            "calls beside those of the reference: forward lacks 2 all_reduce of 96 f64 on tp; backward has 1 "
            "all_gather of 48 f64 on tp too many");
}

}  // namespace
}  // namespace tpc
