// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/trace.hpp"

#include <gtest/gtest.h>

#include "reference/comm/laws/laws.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

TEST(Trace, WritesOneRowPerCallWithItsSite) {
  on_local_ranks(4, [](const CommunicatorPtr& ranks) {
    Site site{.layer = "blocks.0.mlp", .operation = "reduce_from_tp", .phase = Phase::forward};
    Trace trace;
    const auto tp = make_traced(ranks, site, trace)->split(0, ranks->rank(), "tp");
    const Tensor data = host_tensor(DType::f32, {6});
    const Tensor full = host_tensor(DType::f32, {24});
    tp->all_reduce(data, data, ReduceOp::max);
    site.operation = "gather_from_sp";
    tp->all_gather(full, data);
    tp->reduce_scatter(data, full, ReduceOp::sum);

    ASSERT_EQ(trace.size(), 3U);
    EXPECT_EQ(trace[0].kind, CollectiveKind::all_reduce);
    EXPECT_EQ(trace[0].op, ReduceOp::max);
    EXPECT_EQ(trace[0].axis, "tp");
    EXPECT_EQ(trace[0].layer, "blocks.0.mlp");
    EXPECT_EQ(trace[0].operation, "reduce_from_tp");
    EXPECT_EQ(trace[0].phase, Phase::forward);
    EXPECT_EQ(trace[0].payload, 24);
    EXPECT_EQ(trace[0].ring_wire, 36);  // 2 * 3/4 * 24
    EXPECT_EQ(trace[1].operation, "gather_from_sp");
    EXPECT_EQ(trace[1].count, 6);
    EXPECT_EQ(trace[1].payload, 96);
    EXPECT_EQ(trace[1].ring_wire, 72);
    EXPECT_EQ(trace[2].count, 6);
    EXPECT_EQ(trace[2].payload, 96);
    EXPECT_EQ(tp->log().last, "reduce_scatter of 6 f32 on tp, call 3 (blocks.0.mlp.gather_from_sp)");
  });
}

TEST(Trace, GroupsOfOneLeaveNoRow) {
  const Site site;
  Trace trace;
  const auto self = make_traced(make_single_communicator(), site, trace);
  const Tensor data = host_tensor(DType::f32, {6});
  self->all_reduce(data, data, ReduceOp::sum);
  EXPECT_TRUE(trace.empty());
}

TEST(Trace, TellsMessagesWithPeerAndDirectionAndCountsWhatIsSent) {
  on_local_ranks(2, [](const CommunicatorPtr& ranks) {
    const Site site;
    Trace trace;
    const auto traced = make_traced(ranks, site, trace);
    const Message receive{Message::Way::receive, 0, host_tensor(DType::bf16, {7})};
    const Message send{Message::Way::send, 1, host_tensor(DType::bf16, {7})};
    traced->messages({ranks->rank() == 0 ? send : receive});
    ASSERT_EQ(trace.size(), 1U);
    EXPECT_EQ(trace[0].count, 7);
    EXPECT_EQ(trace[0].ring_wire, ranks->rank() == 0 ? 14 : 0);
    EXPECT_EQ(trace[0].message->way, ranks->rank() == 0 ? Message::Way::send : Message::Way::receive);
    EXPECT_EQ(trace[0].message->peer, 1 - ranks->rank());
  });
}

TEST(Trace, LeavesTheLawsAlone) {
  on_local_ranks(3, [](const CommunicatorPtr& ranks) {
    const Site site;
    Trace trace;
    const auto traced = make_traced(ranks, site, trace);
    for (const CommunicatorLaw& law : collective_laws()) EXPECT_NO_THROW(law.check(traced)) << law.name;
    EXPECT_FALSE(trace.empty());
  });
}

}  // namespace
}  // namespace tpc
