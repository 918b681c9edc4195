// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/program/options.hpp"
#include "bench/published/check.hpp"
#include "harness/data_path.hpp"
#include "harness/provenance.hpp"

namespace tpc::bench {
namespace {

int validate(const BenchOptions& options) {
  const Tables tables = read_tables(data_path("results/published"));
  const Checks checks = check_all(tables);
  fmt::print("{}", validation_report(checks, model_errors(tables), options.every_row));
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.holds(); }) ? 0 : 1;
}

int run(const Arguments& arguments) {
  const BenchOptions options = parse_options(arguments);
  if (options.help) {
    fmt::print("{}", help_text());
    return 0;
  }
  if (options.version) {
    const Provenance here = local_provenance();
    fmt::print("tp_bench {} ({})\n", here.version, short_commit(here));
    return 0;
  }
  if (options.command == Command::validate) return validate(options);
  throw UsageError("only validate can be run yet");
}

}  // namespace
}  // namespace tpc::bench

int main(int argc, char** argv) {
  try {
    return tpc::bench::run({argv + 1, argv + argc});
  } catch (const tpc::UsageError& error) {
    fmt::print(stderr, "tp_bench: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tp_bench: {}\n", error.what());
    return 3;
  }
}
