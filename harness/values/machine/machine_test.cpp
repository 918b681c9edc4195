// SPDX-License-Identifier: Apache-2.0
#include "harness/values/machine/machine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tpc {
namespace {

TEST(Machine, HasAtLeastOneCoreAndAName) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_FALSE(host_name().empty());
}

TEST(Machine, ReadsWhatTheLauncherSays) {
  ASSERT_EQ(::setenv("OMPI_COMM_WORLD_SIZE", "8", 1), 0);
  ASSERT_EQ(::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1), 0);
  ASSERT_EQ(::setenv("OMPI_COMM_WORLD_RANK", "3", 1), 0);
  EXPECT_TRUE(in_mpi_job());
  EXPECT_EQ(launched_local_ranks(), 4);
  EXPECT_EQ(launched_rank(), 3);
  ASSERT_EQ(::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "many", 1), 0);
  EXPECT_EQ(launched_local_ranks(), std::nullopt);
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_RANK"})
    ::unsetenv(variable);
  EXPECT_FALSE(in_mpi_job());
  EXPECT_EQ(launched_rank(), 0);
}

}  // namespace
}  // namespace tpc
