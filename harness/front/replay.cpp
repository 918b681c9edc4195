// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "harness/explain/configuration/configuration.hpp"
#include "harness/front/options.hpp"
#include "harness/run/runner/runner.hpp"
#include "harness/values/parallelism.hpp"

namespace tpc {

std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string replay_command(const Options& options, const Case& c) {
  const SuiteOptions& suites = options.suites;
  const auto configuration = c.suite == "random" ? configuration_of(c) : std::nullopt;
  if (configuration) {
    std::string line = fmt::format("mpirun -np {} tp_conformance --case {} --seed {}", ranks_of(c),
                                   shell_word(to_text(*configuration)), c.request.problem.seed);
    if (options.implementation != "reference")
      line += fmt::format(" --implementation {}", shell_word(options.implementation));
    return line;
  }
  std::string command = fmt::format("mpirun -np {} tp_conformance --gtest_filter={} --seed {}", ranks_of(c),
                                    shell_word(full_name(c)), suites.seed);
  const auto add = [&](const std::string& option, const std::string& value) {
    command += fmt::format(" {} {}", option, shell_word(value));
  };
  if (options.implementation != "reference") add("--implementation", options.implementation);
  if (suites.tiers_given) add("--tier", std::string(name(c.tier)));
  if (suites.tp_given) {
    const int tp = parallelism_of(c.request.mesh).tp;
    add("--tp", std::to_string(tp > 0 ? tp : c.request.mesh.ranks()));
  }
  if (!options.model_file.empty()) add("--model", options.model_file);
  if (suites.layers) add("--layers", std::to_string(*suites.layers));
  if (suites.batch > 0) add("--batch", std::to_string(suites.batch));
  if (suites.sequence > 0) add("--seq", std::to_string(suites.sequence));
  if (suites.random > 0) add("--random", std::to_string(suites.random));
  if (!suites.text.empty()) add("--text", suites.text);
  return command;
}

}  // namespace tpc
