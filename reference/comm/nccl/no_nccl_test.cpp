// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reference/comm/local/local.hpp"
#include "reference/comm/nccl/nccl.hpp"

namespace tpc {
namespace {

TEST(NoNccl, SaysWhatToDo) {
  try {
    make_nccl_communicator(make_single_communicator(), 0);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("this build is without NCCL"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tpc
