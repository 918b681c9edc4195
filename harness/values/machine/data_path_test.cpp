// SPDX-License-Identifier: Apache-2.0
#include "harness/values/machine/data_path.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "reference/core/contract.hpp"

namespace tpc {

namespace {

class DataPath : public testing::Test {
 protected:
  DataPath()
      : root_(std::filesystem::temp_directory_path() / ("data_path_test." + std::to_string(getpid()))),
        folders_{root_ / "prefix/share", root_ / "source"} {}
  ~DataPath() override { std::filesystem::remove_all(root_); }

  void write(const std::filesystem::path& file) const {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "{}";
  }

  std::filesystem::path root_;
  DataFolders folders_;
};

}  // namespace

TEST_F(DataPath, IsTheInstalledFileWhereThereIsOne) {
  write(folders_.installed / "models/gpt2.json");
  write(folders_.source / "suites/models/gpt2.json");
  EXPECT_EQ(data_path("models/gpt2.json", folders_), folders_.installed / "models/gpt2.json");
}

TEST_F(DataPath, IsTheSourceTreesFileWhereNothingIsInstalled) {
  write(folders_.source / "suites/models/gpt2.json");
  write(folders_.source / "LICENSE");
  EXPECT_EQ(data_path("models/gpt2.json", folders_), folders_.source / "suites/models/gpt2.json");
  EXPECT_EQ(data_path("LICENSE", folders_), folders_.source / "LICENSE");
}

TEST_F(DataPath, NamesBothPlacesOfAMissingFile) {
  try {
    data_path("models/none.json", folders_);
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find((folders_.installed / "models/none.json").string()), std::string::npos) << message;
    EXPECT_NE(message.find((folders_.source / "suites/models/none.json").string()), std::string::npos)
        << message;
  }
}

TEST(DataFoldersOfAProgram, AreBesideItAndInTheTreeItWasBuiltFrom) {
  const DataFolders folders = data_folders("/opt/tpc/bin/tp_conformance");
  EXPECT_EQ(folders.installed, "/opt/tpc/share/tp_conformance");
  EXPECT_TRUE(std::filesystem::exists(folders.source / "harness/values/machine/data_path.hpp"));
  EXPECT_TRUE(std::filesystem::exists(data_path("LICENSE")));
}

}  // namespace tpc
