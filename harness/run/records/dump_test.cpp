// SPDX-License-Identifier: Apache-2.0
#include "harness/run/records/dump.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <set>

#include "harness/run/records/npy.hpp"

namespace tpc {
namespace {

std::string text_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Dump, KeepsExpectedInputsAndWhatEveryRankGot) {
  const auto folder = std::filesystem::path(testing::TempDir()) / fmt::format("tpc_dump_{}", ::getpid());
  Case c;
  c.suite = "s";
  c.name = "op/tp2";
  c.request.problem.inputs = {{"x", {2}, {}}};
  const double values[] = {1, 2};
  const ExpectedTensors expected = {{"y", {{2}, values, 0, 0, 0, 0, -1}}};
  const std::vector<LocalTensor> got = {{"y", host_tensor(DType::f64, {1}), shard({2}, 0, 1, 2)},
                                        {"y", host_tensor(DType::f64, {1}), shard({2}, 0, 0, 2)}};

  make_dump_folder(folder);
  dump(folder, {c, got, expected, 0});
  dump(folder, {c, got, expected, 1});

  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "s.op.tp2"))
    files.insert(entry.path().filename().string());
  EXPECT_EQ(files, (std::set<std::string>{"expected.y.npy", "input.x.npy", "rank0.y.npy", "rank0.y-2.npy",
                                          "rank0.placements.txt", "rank1.y.npy", "rank1.y-2.npy",
                                          "rank1.placements.txt"}));
  EXPECT_EQ(text_in(folder / "s.op.tp2" / "rank1.placements.txt"),
            "rank1.y: of global [2]; global offset [1] extent [1] at local offset [0]\n"
            "rank1.y-2: of global [2]; global offset [0] extent [1] at local offset [0]\n");
  EXPECT_NE(text_in(folder / "README.txt").find("widened to f32"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(Dump, RefusesAFolderThatCannotBeMade) { EXPECT_THROW(make_dump_folder("/dev/null/x"), UsageError); }

}  // namespace
}  // namespace tpc
