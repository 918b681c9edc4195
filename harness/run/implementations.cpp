// SPDX-License-Identifier: Apache-2.0
#include "harness/run/implementations.hpp"

#include "harness/run/process/process_implementation.hpp"

namespace tpc {

namespace {
constexpr std::string_view with_faults = "reference+fault:";
constexpr std::string_view outside = "exec:";
}  // namespace

bool is_outside_process(std::string_view name) { return name.starts_with(outside); }

std::unique_ptr<Implementation> make_implementation(std::string_view name, const RankPlace& place) {
  if (name == "reference") return make_reference_implementation();
  if (name.starts_with(with_faults))
    return make_reference_implementation(faults_named(name.substr(with_faults.size())));
  if (!is_outside_process(name))
    throw UsageError(
        fmt::format("unknown implementation '{}'; known: reference, exec:COMMAND, and with planted "
                    "faults {}TP-01 or {}TP-01+TP-09",
                    name, with_faults, with_faults));
  const std::string command(name.substr(outside.size()));
  if (command.find_first_not_of(' ') == std::string::npos)
    throw UsageError("--implementation exec: lacks the command; write exec:'python3 adapter.py'");
  return make_process_implementation(command, place);
}

}  // namespace tpc
