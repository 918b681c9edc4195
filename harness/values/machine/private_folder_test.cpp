// SPDX-License-Identifier: Apache-2.0
#include "harness/values/machine/private_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace tpc {
namespace {

namespace fs = std::filesystem;

TEST(PrivateFolder, IsPrivateAndGoesAway) {
  fs::path path;
  {
    const PrivateFolder folder;
    path = folder.path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    const PrivateFolder other;
    EXPECT_TRUE(fs::exists(path)) << "a folder in use is left alone";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateFolder, RemovesWhatKilledProcessesLeft) {
  const fs::path left = fmt::format("/dev/shm/tp_conformance.{}.999999999.leftov", ::getuid());
  fs::create_directory(left);
  std::ofstream(left / "lock") << "";
  std::ofstream(left / "0") << "answers";
  const PrivateFolder folder;
  EXPECT_FALSE(fs::exists(left));
}

}  // namespace
}  // namespace tpc
