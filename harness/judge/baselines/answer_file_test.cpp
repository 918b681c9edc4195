// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/answer_file.hpp"

#include <gtest/gtest.h>

#include "harness/values/machine/private_folder.hpp"

namespace tpc {
namespace {

TEST(AnswersFile, ReadsBackWhatWasWritten) {
  const PrivateFolder folder;
  OwnedTensors answers;
  answers["y"].values = {1, 2.5, -3};
  answers["y"].expected = {{3, 1}, nullptr, 4, 5, 6, 7, 8};
  answers["empty"].expected.shape = {0, 7};
  answers["loss"].values = {9};
  EXPECT_GT(free_bytes(folder.path()), 0U);
  write_answers(folder.path() / "0", answers);

  const MappedAnswers mapped(folder.path() / "0");

  const Expected& y = mapped.tensors().at("y");
  EXPECT_EQ(y.shape, (Shape{3, 1}));
  EXPECT_EQ(std::vector<double>(y.values, y.values + 3), (std::vector<double>{1, 2.5, -3}));
  EXPECT_EQ(std::vector<double>({y.norm, y.scale_norm, y.scale_max, y.perturbed, y.single}),
            (std::vector<double>{4, 5, 6, 7, 8}));
  EXPECT_EQ(mapped.tensors().at("loss").values[0], 9);
  EXPECT_EQ(mapped.tensors().size(), 3U);
  EXPECT_THROW(MappedAnswers(folder.path() / "1"), EnvironmentError);
  EXPECT_THROW(write_answers(folder.path() / "no" / "0", answers), EnvironmentError);
}

}  // namespace
}  // namespace tpc
