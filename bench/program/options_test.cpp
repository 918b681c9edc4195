// SPDX-License-Identifier: Apache-2.0
#include "bench/program/options.hpp"

#include <gtest/gtest.h>

namespace tpc::bench {
namespace {

std::string refusal_of(const Arguments& arguments) {
  try {
    parse_options(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BenchOptions, Defaults) {
  const BenchOptions options = parse_options({});
  EXPECT_EQ(options.command, Command::steps);
  EXPECT_EQ(options.tp, (std::vector<int>{2, 4, 8}));
  EXPECT_EQ(options.sequence_parallel.size(), 2U);
}

TEST(BenchOptions, OptionsMayStandBeforeAndAfterTheSubcommand) {
  const BenchOptions options =
      parse_options({"--tp", "8,2,2", "predict", "--dtype", "bf16", "--model", "x.json"});
  EXPECT_EQ(options.command, Command::predict);
  EXPECT_EQ(options.tp, (std::vector<int>{2, 8}));
  EXPECT_EQ(options.dtype, DType::bf16);
  EXPECT_EQ(options.model, "x.json");
}

TEST(BenchOptions, Choices) {
  EXPECT_EQ(parse_options({"--sequence-parallel", "on"}).sequence_parallel,
            std::vector<SequenceParallel>{SequenceParallel::kept});
  EXPECT_EQ(parse_options({"--pass", "forward"}).pass, Pass::forward);
  EXPECT_EQ(parse_options({"--interconnect", "pcie5,my.json"}).interconnects,
            (std::vector<std::string>{"pcie5", "my.json"}));
}

TEST(BenchOptions, RefusesWhatMeasuresNothing) {
  EXPECT_NE(refusal_of({"--samples", "0"}).find("--samples 0"), std::string::npos);
  EXPECT_NE(refusal_of({"--tp", "2,x"}).find("'x' is no number of ranks"), std::string::npos);
  EXPECT_NE(refusal_of({"--tp", "0"}).find("'0'"), std::string::npos);
  EXPECT_NE(refusal_of({"--seq", "0"}).find("--seq 0"), std::string::npos);
  EXPECT_NE(refusal_of({"--dtype", "f16"}).find("f32, bf16"), std::string::npos);
  EXPECT_NE(refusal_of({"--update-baseline"}).find("--compare"), std::string::npos);
  EXPECT_NE(refusal_of({"--no-such"}).find("--no-such"), std::string::npos);
  EXPECT_NE(refusal_of({"--transport", "rdma"}).find("auto, shm, tcp"), std::string::npos);
}

TEST(BenchOptions, HelpNamesTheSubcommandsAndExitCodes) {
  EXPECT_NE(help_text().find("validate"), std::string::npos);
  EXPECT_NE(help_text().find("slower than the baseline"), std::string::npos);
}

}  // namespace
}  // namespace tpc::bench
