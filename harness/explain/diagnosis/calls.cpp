// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/calls.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <tuple>
#include <vector>

#include "harness/values/join.hpp"

namespace tpc {

std::string calls_beside(const Trace& reference, const Trace& got) {
  std::map<std::tuple<Phase, CollectiveKind, std::string, std::int64_t, DType>, int> surplus;
  const auto count = [&](const Trace& trace, int each) {
    for (const TraceRow& row : trace) surplus[{row.phase, row.kind, row.axis, row.count, row.dtype}] += each;
  };
  count(reference, -1);
  count(got, 1);
  constexpr std::size_t most = 4;
  std::vector<std::string> differences;
  for (const auto& [call, number] : surplus) {
    const auto& [phase, kind, axis, elements, dtype] = call;
    if (number == 0) continue;
    differences.push_back(fmt::format("{} {} {} {} of {} {} on {}", name(phase), number < 0 ? "lacks" : "has",
                                      std::abs(number), name(kind), elements, name(dtype), axis));
    if (number > 0) differences.back() += " too many";
  }
  if (differences.empty()) return {};
  const std::size_t more = differences.size() > most ? differences.size() - most : 0;
  differences.resize(differences.size() - more);
  return fmt::format("calls beside those of the reference: {}{}", joined(differences, "; "),
                     more > 0 ? fmt::format("; and {} other differences", more) : "");
}

}  // namespace tpc
