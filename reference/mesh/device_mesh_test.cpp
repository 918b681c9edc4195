// SPDX-License-Identifier: Apache-2.0
#include "reference/mesh/device_mesh.hpp"

#include <gtest/gtest.h>

#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

using Ranks = std::vector<int>;

double sum_over(Communicator& group, double value) {
  const Tensor tensor = host_tensor(DType::f64, {1});
  tensor.data<double>()[0] = value;
  group.all_reduce(tensor, tensor, ReduceOp::sum);
  return tensor.data<double>()[0];
}

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "";
}

TEST(DeviceMesh, LastAxisVariesFastest) {
  on_local_ranks(6, [](const CommunicatorPtr& world) {
    const DeviceMesh mesh(world, {{3, 2}, {"dp", "tp"}});
    EXPECT_EQ(mesh.coordinates(), (Ranks{world->rank() / 2, world->rank() % 2}));
    EXPECT_EQ(mesh.groups("tp"), (std::vector<Ranks>{{0, 1}, {2, 3}, {4, 5}}));
    EXPECT_EQ(mesh.groups("dp"), (std::vector<Ranks>{{0, 2, 4}, {1, 3, 5}}));
    EXPECT_EQ(mesh.group("dp").rank(), world->rank() / 2);
    EXPECT_EQ(mesh.group("dp").name(), "dp");
    EXPECT_EQ(sum_over(mesh.group("tp"), world->rank()), world->rank() / 2 * 4 + 1);
    EXPECT_EQ(sum_over(mesh.group("dp"), world->rank()), world->rank() % 2 * 3 + 6);
  });
}

TEST(DeviceMesh, AxesOfSizeOneWork) {
  on_local_ranks(3, [](const CommunicatorPtr& world) {
    const DeviceMesh mesh(world, {{1, 3, 1}, {"pp", "tp", "cp"}});
    EXPECT_EQ(mesh.coordinates(), (Ranks{0, world->rank(), 0}));
    EXPECT_EQ(sum_over(mesh.group("pp"), 5), 5);
    EXPECT_EQ(mesh.groups("cp"), (std::vector<Ranks>{{0}, {1}, {2}}));
  });
}

TEST(DeviceMesh, SubMeshesShareGroupsAndFixTheOtherCoordinates) {
  on_local_ranks(8, [](const CommunicatorPtr& world) {
    const DeviceMesh mesh(world, {{2, 2, 2}, {"pp", "dp", "tp"}});
    const DeviceMesh plane = mesh.sub({"tp", "pp"});
    EXPECT_EQ(plane.spec(), (MeshSpec{{2, 2}, {"pp", "tp"}}));
    EXPECT_EQ(&plane.group("tp"), &mesh.group("tp"));
    EXPECT_EQ(plane.rank(), mesh.coordinate("pp") * 2 + mesh.coordinate("tp"));
    EXPECT_EQ(plane.groups("pp"), (std::vector<Ranks>{{0, 2}, {1, 3}}));
    EXPECT_EQ(plane.world().size(), 4);
    EXPECT_EQ(plane.world().rank(), plane.rank());
    EXPECT_EQ(sum_over(plane.world(), mesh.coordinate("dp")), 4 * mesh.coordinate("dp"));
    EXPECT_EQ(&mesh.sub({"tp"}).world(), &mesh.group("tp"));
    EXPECT_EQ(&mesh.sub({"pp", "dp", "tp"}).world(), world.get());
  });
}

TEST(DeviceMesh, FlattenAndUnflattenAreInverse) {
  on_local_ranks(8, [](const CommunicatorPtr& world) {
    DeviceMesh mesh(world, {{2, 2, 2}, {"a", "b", "c"}});
    DeviceMesh flat = mesh.flatten({"b", "c"}, "tp");
    EXPECT_EQ(flat.spec(), (MeshSpec{{2, 4}, {"a", "tp"}}));
    EXPECT_EQ(flat.coordinate("tp"), world->rank() % 4);
    EXPECT_EQ(flat.group("tp").size(), 4);
    EXPECT_EQ(&flat.group("a"), &mesh.group("a"));
    const DeviceMesh back = flat.unflatten("tp", {2, 2}, {"b", "c"});
    EXPECT_EQ(back.spec(), mesh.spec());
    EXPECT_EQ(&back.group("b"), &mesh.group("b"));
    const DeviceMesh plane = flat.unflatten("a", {2, 1}, {"x", "y"});
    EXPECT_EQ(plane.coordinates(), (Ranks{world->rank() / 4, 0, world->rank() % 4}));
  });
}

TEST(DeviceMesh, DerivedMeshesOfSubMeshesKnowTheirRanks) {
  on_local_ranks(8, [](const CommunicatorPtr& world) {
    const DeviceMesh mesh(world, {{2, 2, 2}, {"pp", "dp", "tp"}});
    DeviceMesh last = mesh.sub({"dp", "tp"});
    DeviceMesh flat = last.flatten({"dp", "tp"}, "all");
    EXPECT_EQ(flat.group("all").size(), 4);
    EXPECT_EQ(sum_over(flat.group("all"), world->rank()), world->rank() < 4 ? 6 : 22);
    EXPECT_EQ(flat.unflatten("all", {1, 4}, {"one", "four"}).coordinate("four"), world->rank() % 4);
  });
}

TEST(DeviceMesh, TwoMeshesLiveSideBySide) {
  on_local_ranks(4, [](const CommunicatorPtr& world) {
    const DeviceMesh one(world, {{4}, {"tp"}});
    const DeviceMesh other(world, {{2, 2}, {"dp", "tp"}});
    EXPECT_EQ(sum_over(one.group("tp"), 1), 4);
    EXPECT_EQ(sum_over(other.group("tp"), 1), 2);
    EXPECT_EQ(other.group("tp").name(), "tp#2");
  });
}

TEST(MeshRefusals, NameWhatIsWrong) {
  EXPECT_EQ(refusal_of([] {
              validate({{2, 3}, {"dp", "tp"}}, 8);
            }),
            "a mesh of (2, 3) over (dp, tp) needs 6 ranks and there are 8; make the product of its sizes 8");
  EXPECT_EQ(refusal_of([] {
              validate({{2, 4}, {"tp", "tp"}}, 8);
            }),
            "mesh axis 'tp' is named more than once; give each axis its own name");
  EXPECT_EQ(refusal_of([] {
              validate({{2, 4}, {"dp", ""}}, 8);
            }),
            "mesh axis 1 of 2 has no name; name every axis");
  EXPECT_EQ(refusal_of([] {
              validate({{2, 4}, {"tp"}}, 8);
            }),
            "2 mesh sizes for 1 axis names; name every axis");
  EXPECT_EQ(refusal_of([] {
              validate({{0, 4}, {"dp", "tp"}}, 8);
            }),
            "mesh axis 'dp' of size 0; sizes are at least 1");
  EXPECT_NE(refusal_of([] { validate({{}, {}}, 1); }), "");
  EXPECT_NE(refusal_of([] { validate({{1 << 20, 1 << 20}, {"dp", "tp"}}, 0); }), "");
}

TEST(MeshRefusals, NameTheAxesThereAre) {
  on_local_ranks(4, [](const CommunicatorPtr& world) {
    DeviceMesh mesh(world, {{2, 2}, {"dp", "tp"}});
    EXPECT_EQ(refusal_of([&] { mesh.group("ep"); }), "unknown mesh axis 'ep'; there are: dp, tp");
    EXPECT_FALSE(mesh.has("ep"));
    EXPECT_NE(refusal_of([&] { mesh.sub({"ep"}); }), "");
    EXPECT_NE(refusal_of([&] { mesh.flatten({"tp", "dp"}, "x"); }).find("not neighbours"), std::string::npos);
    EXPECT_NE(refusal_of([&] {
                mesh.unflatten("tp", {3, 2}, {"a", "b"});
              }).find("of size 2 as (3, 2)"),
              std::string::npos);
    EXPECT_NE(refusal_of([&] { mesh.unflatten("tp", {2, 1}, {"dp", "b"}); }), "");
    EXPECT_NE(refusal_of([&] { mesh.flatten({}, "x"); }), "");
  });
}

}  // namespace
}  // namespace tpc
