// SPDX-License-Identifier: Apache-2.0
// What is done about a case that failed, beside recording it: the smallest configuration that still fails is
// searched for.
#pragma once

#include <functional>
#include <string>

#include "harness/runner.hpp"

namespace tpc {

// Collective; the ranks do the same, since the records that they go by are the same.
class Investigation {
 public:
  Investigation(Runner& runner, std::function<std::string(const Case&)> replay)
      : runner_(runner), replay_(std::move(replay)) {}

  // Of a record with verdict fail or error; adds to it what was found.
  void operator()(const Case& c, Record& record);

 private:
  std::string smallest(const Case& c, const Record& record);

  Runner& runner_;
  std::function<std::string(const Case&)> replay_;
  int shrunk_ = 0;  // so far
};

}  // namespace tpc
