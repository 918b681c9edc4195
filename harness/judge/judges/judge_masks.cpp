// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <exception>
#include <limits>

#include "harness/judge/judges/judges.hpp"
#include "harness/judge/judges/mask_exchange.hpp"
#include "harness/values/texts.hpp"
#include "harness/values/wire.hpp"

namespace tpc {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<MaskTensor> wanted_masks(const std::vector<MaskSpec>& specs) {
  std::vector<MaskTensor> wanted;
  for (const MaskSpec& spec : specs) wanted.push_back({spec.name, spec.shape});
  return wanted;
}

RelationFindings test_relations(const Case& c, const std::vector<MaskSpec>& specs, const GatheredMasks& masks,
                                Communicator& ranks) {
  const MaskTests tests{c.request.problem.random, c.request.mesh, ranks.rank(), ranks.size(), false};
  RelationFindings mine;
  for (const MaskSpec& spec : specs) add(mine, tests.site(spec.name, spec.rate, masks.by_name.at(spec.name)));
  return gathered(mine, ranks);
}

std::string pack_answers(const OwnedTensors& answers) {
  Packer packer;
  packer.put_all(answers, [](Packer& p, const auto& entry) {
    const Expected& e = entry.second.expected;
    p.put(std::string_view(entry.first));
    p.put_all(e.shape, [](Packer& q, std::int64_t extent) { q.put(extent); });
    p.put(e.norm).put(e.scale_norm).put(e.scale_max);
    const auto& values = entry.second.values;
    p.put(std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)));
  });
  return packer.bytes();
}

OwnedTensors unpack_answers(const std::string& bytes) {
  OwnedTensors answers;
  Unpacker unpacker(bytes);
  for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left) {
    OwnedTensor& tensor = answers[unpacker.text()];
    Expected& e = tensor.expected;
    e.shape = unpacker.all<std::int64_t>([](Unpacker& u) { return u.get<std::int64_t>(); });
    e.norm = unpacker.get<double>();
    e.scale_norm = unpacker.get<double>();
    e.scale_max = unpacker.get<double>();
    const std::string values = unpacker.text();
    tensor.values.resize(values.size() / sizeof(double));
    std::memcpy(tensor.values.data(), values.data(), values.size());
    e.values = tensor.values.data();
  }
  return answers;
}

// Collective: the first rank solves, all have the answers.
OwnedTensors solved_by_first(const Problem& problem, const std::vector<MaskSpec>& specs,
                             const GatheredMasks& masks, Communicator& ranks) {
  std::vector<std::string> lines = {"", ""};
  if (ranks.rank() == 0) {
    try {
      DrawnMasks drawn;
      for (const MaskSpec& spec : specs)
        drawn[spec.name] = assembled(spec.shape, masks.by_name.at(spec.name));
      lines[1] = pack_answers(solve_with_masks(problem, drawn));
    } catch (const std::exception& error) {
      lines[0] = error.what();
    }
  }
  lines = broadcast_lines(ranks, lines);
  TPC_EXPECT(lines[0].empty(), "the baseline with the masks that were drawn: {}", lines[0]);
  return unpack_answers(lines[1]);
}

ExpectedTensors expected_of(const OwnedTensors& answers) {
  ExpectedTensors expected;
  for (const auto& [name, tensor] : answers) expected[name] = tensor.expected;
  return expected;
}

}  // namespace

bool is_solved_when_judged(const Problem& problem) {
  if (!problem.is_operation()) return false;
  if (problem.asks(Operation::init)) return problem.random.profile != "invariant";
  return problem.asks(Operation::dropout) || depends_on_drawn_masks(problem);
}

Comparison judge_with_masks(const Case& c, const std::vector<LocalTensor>& got,
                            const ExpectedTensors& prepared, Communicator& ranks) {
  const Problem& problem = c.request.problem;
  const std::vector<MaskSpec> specs = masks_of(problem);
  const GatheredMasks masks = gather_masks(got, wanted_masks(specs), c.request.mesh, ranks);
  if (!masks.defect.empty()) return {Verdict::fail, infinity, {}, masks.defect};
  const RelationFindings findings = test_relations(c, specs, masks, ranks);
  if (!findings.alarm.empty()) return {Verdict::fail, infinity, {}, findings.alarm};
  Comparison comparison;
  if (depends_on_drawn_masks(problem)) {
    const OwnedTensors answers = solved_by_first(problem, specs, masks, ranks);
    comparison = compare(c, got, expected_of(answers), ranks);
  } else {
    comparison = compare(c, got, prepared, ranks);
  }
  comparison.note = summary_of(findings);
  comparison.tests = findings.tests;
  return comparison;
}

}  // namespace tpc
