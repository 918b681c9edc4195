// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reference/compute/compute.hpp"

namespace tpc {
namespace {

TEST(NoCuda, SaysWhatToDo) {
  try {
    make_cuda_compute(0);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("this build is without CUDA"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tpc
