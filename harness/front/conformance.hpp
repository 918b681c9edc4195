// SPDX-License-Identifier: Apache-2.0
// tp_conformance from its arguments to its exit code.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/explain/diagnosis/suspects.hpp"
#include "harness/front/options.hpp"
#include "harness/judge/oracle.hpp"
#include "harness/run/implementations.hpp"

namespace tpc {

// What the program is about; tests put in their own.
struct Program {
  MakeSuites suites;
  std::function<std::unique_ptr<Implementation>(std::string_view name, const RankPlace& place)>
      implementation = make_implementation;
  std::function<std::unique_ptr<Oracle>(const CommunicatorPtr& ranks, const std::vector<Suite>& suites)>
      oracle = make_baseline_oracle;
  FindSuspects suspects = known_suspects;
};

// The whole main function. Does not return where ranks are lost.
int conformance_main(int argc, char** argv, const Program& program);

// The ranks there are, and where.
struct World {
  CommunicatorPtr ranks;
  int ranks_on_this_host = 1;
  std::string mpi_library = "none";
};

// The part that runs on every rank. Returns the exit code that all ranks agreed on.
int run_conformance(const World& world, const Arguments& arguments, const Program& program);

}  // namespace tpc
