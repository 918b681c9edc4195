// SPDX-License-Identifier: Apache-2.0
#include "suites/suites.hpp"

namespace tpc {

// A suite is listed here from the day on which it exists.
std::vector<Suite> all_suites(const SuiteOptions& options) {
  using MakeSuite = Suite (*)(const SuiteOptions&);
  const std::vector<MakeSuite> makers = {};
  std::vector<Suite> suites;
  for (const MakeSuite make : makers) suites.push_back(make(options));
  return suites;
}

}  // namespace tpc
