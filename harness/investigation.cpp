// SPDX-License-Identifier: Apache-2.0
#include "harness/investigation.hpp"

#include <fmt/format.h>

#include "harness/configuration/configuration.hpp"
#include "harness/configuration/shrink.hpp"

namespace tpc {

namespace {

// A fault that fails one case tends to fail many: the first few tell it, and the run goes on.
constexpr int most_shrunk = 3;
constexpr int most_attempts = 200;
// A case that took this long ran into its deadline, or is large: some hundred of it are not worth waiting
// for.
constexpr double longest_attempt = 5;  // seconds

}  // namespace

void Investigation::operator()(const Case& c, Record& record) {
  if (c.suite == "random" && shrunk_ < most_shrunk) record.smallest = smallest(c, record);
}

std::string Investigation::smallest(const Case& c, const Record& record) {
  const auto configuration = configuration_of(c);
  if (!configuration) return {};
  if (record.seconds > longest_attempt) return fmt::format("not shrunk: it took {:.0f} s", record.seconds);
  ++shrunk_;
  Record last = record;
  const auto fails = [&](const Configuration& smaller) {
    if (runner_.stop()) return false;
    const Record tried = runner_.try_out(case_of(smaller, "shrunk"));
    if (tried.verdict != record.verdict) return false;
    last = tried;
    return true;
  };
  const Shrunk shrunk = shrink(*configuration, fails, most_attempts);
  const std::string found = to_text(shrunk.smallest);
  const std::string how = shrunk.finished ? "the smallest that still fails" : "smaller, and still fails";
  if (found == to_text(*configuration))
    return fmt::format("{}: this one, after {} attempts", how, shrunk.attempts);
  return fmt::format("{}, after {} attempts: {}\n  {}\n  {}", how, shrunk.attempts, found, last.message,
                     replay_(case_of(shrunk.smallest, "shrunk")));
}

}  // namespace tpc
