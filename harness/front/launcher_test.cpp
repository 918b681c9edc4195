// SPDX-License-Identifier: Apache-2.0
#include "harness/front/launcher.hpp"

#include <gtest/gtest.h>

namespace tpc {
namespace {

using Words = std::vector<std::string>;

TEST(Launcher, PassesEverythingOnButItsOwnOption) {
  EXPECT_EQ(without_ranks_option({"--ranks", "8", "--seed", "2"}), (Words{"--seed", "2"}));
  EXPECT_EQ(without_ranks_option({"--seed", "2", "--ranks=8"}), (Words{"--seed", "2"}));
  EXPECT_EQ(without_ranks_option({"--list"}), (Words{"--list"}));
}

TEST(Launcher, WhatTheRunNotedIsItsCode) {
  EXPECT_EQ(exit_code_of({.noted = 1, .code = 1, .interrupted = false}), 1);
  EXPECT_EQ(exit_code_of({.noted = 5, .code = 5, .interrupted = false}), 5);
  EXPECT_EQ(exit_code_of({.noted = 6, .code = 137, .interrupted = false}), 6);
  EXPECT_EQ(exit_code_of({.noted = 0, .code = 0, .interrupted = true}), 0);
}

TEST(Launcher, ASuccessThatMpirunDoesNotConfirmIsNone) {
  EXPECT_EQ(exit_code_of({.noted = 0, .code = 139, .interrupted = false}), 6);
  EXPECT_EQ(exit_code_of({.noted = 0, .code = 1, .interrupted = false}), 3);
}

TEST(Launcher, TurnsMpirunsCodesIntoOurs) {
  EXPECT_EQ(exit_code_of({.noted = {}, .code = 0, .interrupted = false}), 0);
  EXPECT_EQ(exit_code_of({.noted = {}, .code = 1, .interrupted = false}), 3);
  EXPECT_EQ(exit_code_of({.noted = {}, .code = 2, .interrupted = false}), 2);
  EXPECT_EQ(exit_code_of({.noted = {}, .code = 137, .interrupted = false}), 6);
  EXPECT_EQ(exit_code_of({.noted = {}, .code = 143, .interrupted = true}), 130);
}

}  // namespace
}  // namespace tpc
