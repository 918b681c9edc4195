// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/probes.hpp"

#include <cmath>

#include "harness/judge/inputs/kinds.hpp"
#include "reference/core/tensor.hpp"

namespace tpc {

namespace {

using Kind = Generator::Kind;

std::string read_owned_element(const InputSpec& input, std::int64_t index, double got) {
  const std::int64_t owner = index % input.shape[0];
  if (got == 0) return fmt::format("the part of rank {} is missing", owner);
  if (got > 1 && got == std::floor(got)) return fmt::format("the part of rank {} came {} times", owner, got);
  return got > 0 ? fmt::format("the part of rank {} came times {}", owner, got) : "";
}

std::string read_sum(const InputSpec& input, double expected, double got) {
  const auto contributors = static_cast<int>(input.shape[0]);
  const std::vector<int> counts = counts_in_sum(got, contributors);
  const std::vector<int> wanted = counts_in_sum(expected, contributors);
  if (counts.empty() || wanted.empty()) return {};
  std::string text;
  for (std::size_t r = 0; r < counts.size(); ++r)
    if (counts[r] != wanted[r])
      text += fmt::format("{}rank {} took part {} times instead of {}", text.empty() ? "" : ", ", r,
                          counts[r], wanted[r]);
  return text;
}

std::string read_provenance(const Problem& problem, const InputSpec& input, double got) {
  const std::int64_t modulus = provenance_modulus(problem.dtype);
  const std::int64_t total = element_count(input.shape);
  if (!(got >= 1) || got > static_cast<double>(modulus) || got != std::floor(got)) return {};
  const std::int64_t place = static_cast<std::int64_t>(got) - 1;
  const std::int64_t each = total / input.shape[0];
  if (each == 0 || place >= total) return {};
  return fmt::format("this is element {} of rank {}'s input{}", place % each, place / each,
                     total > modulus ? fmt::format(", or one a multiple of {} further on", modulus) : "");
}

}  // namespace

int contributors_in_a_sum(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
      return 13;
    case DType::f32:
      return 6;
    default:
      return 2;
  }
}

std::int64_t provenance_modulus(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
      return 9007199254740881;  // the largest prime below 2^53
    case DType::f32:
      return 16777213;  // the largest prime below 2^24
    default:
      return 251;
  }
}

double provenance_value(DType dtype, std::int64_t place) {
  return static_cast<double>(1 + place % provenance_modulus(dtype));
}

std::vector<int> counts_in_sum(double sum, int contributors) {
  if (!(sum >= 0) || sum >= 0x1p53 || sum != std::floor(sum)) return {};
  std::vector<int> counts;
  auto rest = static_cast<std::uint64_t>(sum);
  for (int r = 0; r < contributors; ++r, rest /= 16) counts.push_back(static_cast<int>(rest % 16));
  return rest == 0 ? counts : std::vector<int>{};
}

RunFiller probe_filler(const Problem& problem, const InputSpec& input) {
  TPC_EXPECT(!input.shape.empty() && input.shape[0] > 0, "probe '{}' of shape {} has no contributors",
             input.name, to_string(input.shape));
  const std::int64_t contributors = input.shape[0];
  const std::int64_t each = element_count(input.shape) / contributors;
  const Generator g = input.generator;
  const DType dtype = problem.dtype;
  TPC_EXPECT(
      g.kind == Kind::provenance || g.a == 0 || (g.a == 16 && contributors <= contributors_in_a_sum(dtype)),
      "contributions of {} ranks with base {} in {}", contributors, g.a, name(dtype));
  return [=](std::int64_t first, std::int64_t count, double* out) {
    for (std::int64_t i = first; i < first + count; ++i) {
      const std::int64_t owner = i / each;
      if (g.kind == Kind::provenance)
        *out++ = provenance_value(dtype, i);
      else if (g.a == 0)
        *out++ = (i % each) % contributors == owner ? 1.0 : 0.0;
      else
        *out++ = std::ldexp(1.0, static_cast<int>(4 * owner));
    }
  };
}

std::string read_probe(const Problem& problem, const InputSpec& input, std::int64_t index, double expected,
                       double got) {
  if (input.shape.empty() || std::isnan(got)) return {};
  if (input.generator.kind == Kind::provenance) return read_provenance(problem, input, got);
  if (input.generator.kind != Kind::contribution) return {};
  return input.generator.a == 0 ? read_owned_element(input, index, got) : read_sum(input, expected, got);
}

}  // namespace tpc
