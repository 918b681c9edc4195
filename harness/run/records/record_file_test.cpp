// SPDX-License-Identifier: Apache-2.0
#include "harness/run/records/record_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "reference/core/contract.hpp"

namespace tpc {
namespace {

class RecordFileTest : public testing::Test {
 protected:
  RecordFileTest()
      : folder(std::filesystem::path(testing::TempDir()) / ("tpc_record_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder);
  }
  ~RecordFileTest() override { std::filesystem::remove_all(folder); }

  static std::string content_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder;
};

TEST_F(RecordFileTest, IsOnDiskAsSoonAsItIsAppended) {
  RecordFile file(folder / "r.jsonl");
  file.append("one");
  EXPECT_EQ(content_of(folder / "r.jsonl"), "one\n");
  file.append("two");
  EXPECT_EQ(content_of(folder / "r.jsonl"), "one\ntwo\n");
}

TEST_F(RecordFileTest, KeepsWhatIsThereAndClosesALineCutShort) {
  std::ofstream(folder / "r.jsonl") << "old\n{\"half";
  RecordFile(folder / "r.jsonl").append("new");
  EXPECT_EQ(content_of(folder / "r.jsonl"), "old\n{\"half\nnew\n");
}

TEST_F(RecordFileTest, RefusesAPathThatCannotBeWritten) {
  EXPECT_THROW(RecordFile(folder / "missing" / "r.jsonl"), UsageError);
  EXPECT_THROW(RecordFile{folder}, UsageError);
}

TEST_F(RecordFileTest, CallsAFullDiskTheSurroundingsFault) {
  RecordFile file("/dev/full");
  EXPECT_THROW(file.append("line"), EnvironmentError);
}

// A disk that fills up in the middle of a line, played by a limit on the size of files.
TEST_F(RecordFileTest, TakesBackALineThatDidNotFit) {
  RecordFile file(folder / "r.jsonl");
  file.append("fits");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{8, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);

  EXPECT_THROW(file.append("does not fit"), EnvironmentError);

  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(content_of(folder / "r.jsonl"), "fits\n");
  file.append("next");
  EXPECT_EQ(content_of(folder / "r.jsonl"), "fits\nnext\n");
}

TEST_F(RecordFileTest, WithoutAPathKeepsNothing) { EXPECT_NO_THROW(RecordFile().append("line")); }

TEST_F(RecordFileTest, FinalFileReplacesTheOldOneAsAWhole) {
  std::ofstream(folder / "j.xml") << "old and longer";
  check_final_file(folder / "j.xml");
  EXPECT_EQ(content_of(folder / "j.xml"), "old and longer");
  write_final_file(folder / "j.xml", "new");
  EXPECT_EQ(content_of(folder / "j.xml"), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "a part file stayed";
}

TEST_F(RecordFileTest, FinalFileIsRefusedBeforeTheRunWhereItCannotBe) {
  EXPECT_THROW(check_final_file(folder / "missing" / "j.xml"), UsageError);
  EXPECT_THROW(check_final_file(folder), UsageError);
  EXPECT_THROW(check_final_file("/dev/full"), UsageError);
  EXPECT_THROW(write_final_file(folder / "missing" / "j.xml", "x"), EnvironmentError);
}

}  // namespace
}  // namespace tpc
