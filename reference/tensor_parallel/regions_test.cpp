// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/regions.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

using Map = std::function<Tensor(Context&, const Tensor&)>;

struct Region {
  const char* name;
  Map forward;
  Map backward;
  enum class Part { whole, sequence, last } in, out;
  bool out_replicated;  // the output is the same on all ranks
};

Tensor numbers(Context& ctx, Shape shape, int salt) {
  Tensor t = ctx.compute().allocate(DType::f64, std::move(shape), "numbers");
  for (std::int64_t i = 0; i < t.count(); ++i)
    t.data<double>()[i] = static_cast<double>((i * 7 + salt * 13) % 11 - 4);
  return t;
}

Tensor clone(Context& ctx, const Tensor& x) {
  Tensor y = ctx.compute().allocate(x.dtype(), x.shape(), "clone");
  ctx.compute().copy(y, x);
  return y;
}

double dot(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  double sum = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) sum += a.data<double>()[i] * b.data<double>()[i];
  return sum;
}

double sum_over_ranks(Context& ctx, double value) {
  const Tensor t = host_tensor(DType::f64, {1});
  *t.data<double>() = value;
  ctx.mesh().world().all_reduce(t, t, ReduceOp::sum);
  return *t.data<double>();
}

Shape local_shape(Region::Part part, int ranks) {
  if (part == Region::Part::sequence) return {4, 2, 3L * ranks};
  if (part == Region::Part::last) return {4L * ranks, 2, 3};
  return {4L * ranks, 2, 3L * ranks};
}

// The dual of a linear map L satisfies <L x, y> = <x, L* y>, where the inner products are over what the ranks
// hold together: a replicated value counts once, a partial one as the sum of its terms.
void expect_dual(const Region& region, int ranks) {
  SCOPED_TRACE(std::string(region.name) + " on " + std::to_string(ranks));
  on_local_ranks(ranks, [&](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    Context ctx(world, {{ranks}, {"tp"}}, *compute);
    const bool in_replicated = region.in == Region::Part::whole;
    const Tensor x = numbers(ctx, local_shape(region.in, ranks),
                             in_replicated && !region.out_replicated ? 1 : 1 + world->rank());
    const Tensor seed =
        numbers(ctx, local_shape(region.out, ranks), region.out_replicated ? 5 : 5 + world->rank());
    const Tensor y = region.forward(ctx, clone(ctx, x));
    const Tensor dx = region.backward(ctx, clone(ctx, seed));
    const double share = 1.0 / ranks;
    const double forward = sum_over_ranks(ctx, dot(y, seed) * (region.out_replicated ? share : 1));
    const double backward =
        sum_over_ranks(ctx, dot(x, dx) * (in_replicated && !region.out_replicated ? share : 1));
    EXPECT_DOUBLE_EQ(forward, backward);
  });
}

const std::vector<Region>& regions() {
  using Part = Region::Part;
  static const std::vector<Region> all = {
      // x replicated, each rank's y weighted by its own seed: the gradient is the sum of the seeds.
      {"copy_to_tp", CopyToTp::forward, CopyToTp::backward, Part::whole, Part::whole, false},
      // x partial (differs by rank), y replicated.
      {"reduce_from_tp", ReduceFromTp::forward, ReduceFromTp::backward, Part::whole, Part::whole, true},
      {"gather_from_sp", GatherFromSp::forward, GatherFromSp::backward, Part::sequence, Part::whole, false},
      {"reduce_scatter_to_sp", ReduceScatterToSp::forward, ReduceScatterToSp::backward, Part::whole,
       Part::sequence, false},
      {"scatter_to_tp", ScatterToTp::forward, ScatterToTp::backward, Part::whole, Part::last, false},
      {"gather_from_tp", GatherFromTp::forward, GatherFromTp::backward, Part::last, Part::whole, true},
  };
  return all;
}

TEST(Regions, BackwardIsTheDualOfForward) {
  for (const Region& region : regions()) {
    if (std::string(region.name) == "reduce_scatter_to_sp") continue;  // partial in: below
    for (const int ranks : {1, 2, 3, 4}) expect_dual(region, ranks);
  }
}

TEST(Regions, ReduceScatterToSpIsDualToAllGather) {
  for (const int ranks : {1, 2, 3})
    on_local_ranks(ranks, [&](const CommunicatorPtr& world) {
      const auto compute = make_host_compute();
      Context ctx(world, {{ranks}, {"tp"}}, *compute);
      const Tensor x = numbers(ctx, local_shape(Region::Part::whole, ranks), 1 + world->rank());
      const Tensor seed = numbers(ctx, local_shape(Region::Part::sequence, ranks), 5 + world->rank());
      const double forward = sum_over_ranks(ctx, dot(ReduceScatterToSp::forward(ctx, clone(ctx, x)), seed));
      const double backward = sum_over_ranks(ctx, dot(x, ReduceScatterToSp::backward(ctx, seed)));
      EXPECT_EQ(forward, backward);
    });
}

TEST(Regions, TraceNamesRegionAndGroup) {
  on_local_ranks(2, [](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    Context ctx(world, {{2}, {"tp"}}, *compute);
    {
      const SiteScope layer(ctx, "blocks.0.mlp");
      const SiteScope phase(ctx, Phase::forward);
      GatherFromSp::forward(ctx, numbers(ctx, {2, 1, 3}, 0));
    }
    EXPECT_EQ(ctx.site.layer, "");
    ASSERT_EQ(ctx.trace().size(), 1U);
    const TraceRow& row = ctx.trace().front();
    EXPECT_EQ(row.kind, CollectiveKind::all_gather);
    EXPECT_EQ(row.axis, "tp");
    EXPECT_EQ(row.layer, "blocks.0.mlp");
    EXPECT_EQ(row.operation, "gather_from_sp");
    EXPECT_EQ(row.phase, Phase::forward);
    EXPECT_EQ(row.count, 6);
    EXPECT_EQ(row.payload, 2 * 6 * 8);
  });
}

TEST(Regions, OneRankSendsNothing) {
  const auto compute = make_host_compute();
  Context ctx(make_single_communicator(), {{1}, {"tp"}}, *compute);
  const Tensor x = numbers(ctx, {2, 1, 3}, 0);
  for (const Region& region : regions()) EXPECT_EQ(region.forward(ctx, x).raw(), x.raw()) << region.name;
  EXPECT_TRUE(ctx.trace().empty());
}

TEST(Context, TwoMeshesLiveSideBySide) {
  on_local_ranks(4, [](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    Context flat(world, {{4}, {"tp"}}, *compute);
    Context square(world, {{2, 2}, {"dp_replicate", "tp"}}, *compute);
    EXPECT_EQ(flat.tp().size, 4);
    EXPECT_EQ(square.tp().size, 2);
    const Tensor ones = host_tensor(DType::f64, {1});
    *ones.data<double>() = 1;
    const Tensor four = ReduceFromTp::forward(flat, clone(flat, ones));
    const Tensor two = ReduceFromTp::forward(square, clone(square, ones));
    EXPECT_EQ(*four.data<double>(), 4);
    EXPECT_EQ(*two.data<double>(), 2);
    EXPECT_EQ(flat.trace().size(), 1U);
  });
}

}  // namespace
}  // namespace tpc
