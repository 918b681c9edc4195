// SPDX-License-Identifier: Apache-2.0
#include "harness/front/conformance.hpp"
#include "suites/suites.hpp"

int main(int argc, char** argv) {
  tpc::Program program;
  program.suites = tpc::all_suites;
  return tpc::conformance_main(argc, argv, program);
}
