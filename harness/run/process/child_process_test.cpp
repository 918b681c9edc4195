// SPDX-License-Identifier: Apache-2.0
#include "harness/run/process/child_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace tpc {
namespace {

using namespace std::chrono_literals;

ChildProcess::Answer asked(ChildProcess& child, std::chrono::milliseconds patience = 20s) {
  return child.ask("question", {ChildProcess::Clock::now() + patience, {}});
}

ChildProcess::Answer answer_of_shell(const std::string& script, std::chrono::milliseconds patience = 20s) {
  ChildProcess child(script, clean_environment());
  return asked(child, patience);
}

bool ends_soon(int process) {
  for (int i = 0; i < 500 && ::kill(process, 0) == 0; ++i) std::this_thread::sleep_for(10ms);
  return ::kill(process, 0) != 0;
}

TEST(ChildProcess, AnswersLineByLine) {
  ChildProcess child("while read line <&3; do echo said: $line; echo \"<$line>\" >&4; done",
                     clean_environment());
  EXPECT_EQ(asked(child).line, "<question>");
  EXPECT_EQ(asked(child).line, "<question>");
  EXPECT_NE(child.output().find("said: question"), std::string::npos);
}

TEST(ChildProcess, EndsAreTold) {
  EXPECT_EQ(answer_of_shell("echo why >&2; exit 3").failure, "exited with code 3; its output ends: why");
  EXPECT_EQ(answer_of_shell("kill -9 $$").failure, "was ended by signal 9 (Killed); it said nothing");
  EXPECT_EQ(answer_of_shell("exec 4>&-; sleep 100").failure,
            "closed its channel of answers; it said nothing");
}

TEST(ChildProcess, WaitingHasAnEnd) {
  EXPECT_EQ(answer_of_shell("sleep 100", 200ms).failure, "did not answer within 0.2 s; it said nothing");
  ChildProcess child("sleep 100", clean_environment());
  EXPECT_EQ(child.ask("q", {ChildProcess::Clock::now() + 20s, [] { return "no use"; }}).failure.substr(0, 6),
            "no use");
}

TEST(ChildProcess, FloodsAreCutOff) {
  EXPECT_EQ(answer_of_shell("yes flood").failure.substr(0, 35), "wrote more than 64 MiB of output fo");
  EXPECT_EQ(answer_of_shell("yes | tr -d '\\n' >&4").failure.substr(0, 34),
            "answered a line of more than 16 Mi");
  EXPECT_EQ(answer_of_shell("read line <&3; printf 'a\\nb\\n' >&4; sleep 100").failure,
            "answered more than one line; it said nothing");
}

TEST(ChildProcess, LaunchersLeaveNoTrace) {
  ::setenv("OMPI_COMM_WORLD_RANK", "5", 1);
  ::setenv("SLURM_PROCID", "5", 1);
  const auto variables = clean_environment();
  ::unsetenv("OMPI_COMM_WORLD_RANK");
  ::unsetenv("SLURM_PROCID");
  EXPECT_FALSE(variables.contains("OMPI_COMM_WORLD_RANK"));
  EXPECT_FALSE(variables.contains("SLURM_PROCID"));
  EXPECT_TRUE(variables.contains("PATH"));
}

// Also what the child itself started and nobody waits for.
TEST(ChildProcess, NothingOutlivesIt) {
  int grandchild = 0;
  {
    ChildProcess child("read line <&3; (setsid sleep 1000 & echo $! >&4); exec sleep 1000",
                       clean_environment());
    grandchild = std::stoi(asked(child).line.value_or("0"));
    ASSERT_GT(grandchild, 0);
    EXPECT_EQ(::kill(grandchild, 0), 0);
    child.end_now();
  }
  EXPECT_TRUE(ends_soon(grandchild));
}

TEST(ChildProcess, NothingOutlivesItsParent) {
  int channel[2];
  ASSERT_EQ(::pipe(channel), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ChildProcess child("read line <&3; echo $$ >&4; sleep 1000; true", clean_environment());
    const int process = std::stoi(asked(child).line.value_or("0"));
    (void)!::write(channel[1], &process, sizeof process);
    ::pause();
  }
  int process = 0;
  ASSERT_EQ(::read(channel[0], &process, sizeof process), static_cast<ssize_t>(sizeof process));
  ASSERT_GT(process, 0);
  ::kill(parent, SIGKILL);
  EXPECT_TRUE(ends_soon(process));
}

}  // namespace
}  // namespace tpc
