// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/judge/inputs/kinds.hpp"
#include "harness/judge/inputs/rounding.hpp"
#include "reference/core/philox.hpp"

namespace tpc {

namespace {

using Kind = Generator::Kind;

template <class ElementAt>
RunFiller elementwise_filler(ElementAt at) {
  return [at](std::int64_t first, std::int64_t count, double* out) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = at(first + i);
  };
}

RunFiller filler_for(const Problem& problem, const InputSpec& input) {
  const Generator g = input.generator;
  const std::uint64_t seed = problem.seed;
  const std::uint64_t stream = hash_name(input.name);
  switch (g.kind) {
    case Kind::constant:
      return elementwise_filler([g](std::int64_t) { return g.a; });
    case Kind::gaussian:
      return elementwise_filler([=](std::int64_t i) {
        return g.a + g.b * gaussian(philox(seed, static_cast<std::uint64_t>(i), stream));
      });
    case Kind::integers:
      return elementwise_filler([=](std::int64_t i) { return integer_at(g, seed, stream, i); });
    case Kind::sparse:
      return elementwise_filler([=](std::int64_t i) { return sparse_at(g, seed, stream, i); });
    case Kind::norm_rows:
      return norm_rows_filler(problem, input);
    case Kind::paired_rows:
      return paired_rows_filler(problem, input);
    case Kind::peaked_logits:
      return peaked_logits_filler(problem, input);
    case Kind::attention_x:
    case Kind::attention_q:
    case Kind::attention_k:
    case Kind::attention_v:
      return attention_filler(problem, input);
    case Kind::tokens:
    case Kind::targets:
    case Kind::text_tokens:
    case Kind::text_targets:
      return ids_filler(problem, input);
    case Kind::contribution:
    case Kind::provenance:
      return probe_filler(problem, input);
  }
  TPC_EXPECT(false, "no such generator: {}", static_cast<int>(g.kind));
  return {};
}

// Runs of consecutive elements that make up a block: use(global index of the first, place in the block,
// count).
template <class Use>
void for_each_run(const Shape& shape, const Shape& offset, const Shape& extent, Use use) {
  const std::int64_t total = element_count(extent);
  if (total == 0) return;
  std::size_t inner = shape.size();  // the dims from here on lie in one run
  std::int64_t run = 1;
  while (inner > 0) {
    --inner;
    run *= extent[inner];
    if (extent[inner] != shape[inner]) break;
  }
  Shape index(offset.begin(), offset.begin() + static_cast<std::ptrdiff_t>(inner));
  for (std::int64_t done = 0; done < total; done += run) {
    std::int64_t first = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      first = first * shape[d] + (d < inner ? index[d] : offset[d]);
    use(first, done, run);
    for (std::size_t d = inner; d-- > 0;) {
      if (++index[d] < offset[d] + extent[d]) break;
      index[d] = offset[d];
    }
  }
}

void expect_block_inside(const InputSpec& input, const Shape& offset, const Shape& extent) {
  const Shape& shape = input.shape;
  TPC_EXPECT(offset.size() == shape.size() && extent.size() == shape.size(),
             "block {} at {} of input '{}' of shape {}", to_string(extent), to_string(offset), input.name,
             to_string(shape));
  for (std::size_t d = 0; d < shape.size(); ++d)
    TPC_EXPECT(offset[d] >= 0 && extent[d] >= 0 && offset[d] + extent[d] <= shape[d],
               "block {} at {} of input '{}' of shape {}", to_string(extent), to_string(offset), input.name,
               to_string(shape));
}

constexpr std::int64_t chunk = 8192;  // elements on their way from f64 to the dtype

template <class T>
T narrowed(double value) {
  if constexpr (std::is_same_v<T, bf16>) return round_to_bf16(value);
  if constexpr (std::is_integral_v<T>) return static_cast<T>(std::llround(value));
  return static_cast<T>(value);
}

template <class T>
void fill_run(const RunFiller& fill, std::int64_t first, std::int64_t count, T* out) {
  std::vector<double> wide(static_cast<std::size_t>(std::min(chunk, count)));
  for (std::int64_t done = 0; done < count; done += chunk) {
    const std::int64_t n = std::min(chunk, count - done);
    fill(first + done, n, wide.data());
    for (std::int64_t i = 0; i < n; ++i) out[done + i] = narrowed<T>(wide[static_cast<std::size_t>(i)]);
  }
}

template <>
void fill_run<double>(const RunFiller& fill, std::int64_t first, std::int64_t count, double* out) {
  fill(first, count, out);
}

}  // namespace

std::vector<double> draw(const Problem& problem, const InputSpec& input, const Shape& offset,
                         const Shape& extent) {
  expect_block_inside(input, offset, extent);
  std::vector<double> elements(static_cast<std::size_t>(element_count(extent)));
  const RunFiller fill = filler_for(problem, input);
  for_each_run(input.shape, offset, extent, [&](std::int64_t first, std::int64_t at, std::int64_t run) {
    fill(first, run, &elements[static_cast<std::size_t>(at)]);
  });
  return elements;
}

Tensor draw_tensor(const Problem& problem, const InputSpec& input, const Shape& offset, const Shape& extent) {
  expect_block_inside(input, offset, extent);
  Tensor tensor = host_tensor(stored_dtype(problem, input), extent, input.name);
  const RunFiller fill = filler_for(problem, input);
  visit_any(tensor.dtype(), [&](auto zero) {
    auto* out = tensor.data<decltype(zero)>();
    for_each_run(input.shape, offset, extent, [&](std::int64_t first, std::int64_t at, std::int64_t run) {
      fill_run(fill, first, run, out + at);
    });
  });
  return tensor;
}

std::vector<double> draw_rounded(const Problem& problem, const InputSpec& input) {
  std::vector<double> elements = draw(problem, input, Shape(input.shape.size(), 0), input.shape);
  const DType dtype = stored_dtype(problem, input);
  if (dtype == DType::f64) return elements;
  for (double& value : elements) value = stored_value(value, dtype);
  return elements;
}

const InputSpec& input_named(const Problem& problem, const std::string& name) {
  const auto found = std::find_if(problem.inputs.begin(), problem.inputs.end(),
                                  [&](const InputSpec& input) { return input.name == name; });
  TPC_EXPECT(found != problem.inputs.end(), "the problem has no input '{}'", name);
  return *found;
}

bool has_input(const Problem& problem, const std::string& name) {
  return std::any_of(problem.inputs.begin(), problem.inputs.end(),
                     [&](const InputSpec& input) { return input.name == name; });
}

bool is_integral(const Generator& generator) {
  return generator.kind == Kind::tokens || generator.kind == Kind::targets ||
         generator.kind == Kind::text_tokens || generator.kind == Kind::text_targets;
}

DType stored_dtype(const Problem& problem, const InputSpec& input) {
  return is_integral(input.generator) ? DType::i64 : problem.dtype;
}

RunFiller filler_by_rows(std::int64_t width, std::function<void(std::int64_t row, double* out)> fill_row) {
  return [width, fill_row = std::move(fill_row)](std::int64_t first, std::int64_t count, double* out) {
    std::vector<double> row(static_cast<std::size_t>(width));
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t column = (first + done) % width;
      const std::int64_t n = std::min(width - column, count - done);
      fill_row((first + done) / width, row.data());
      std::copy_n(row.begin() + column, n, out + done);
      done += n;
    }
  };
}

RunFiller filler_of(std::vector<double> elements) {
  return [elements = std::move(elements)](std::int64_t first, std::int64_t count, double* out) {
    std::copy_n(elements.begin() + first, count, out);
  };
}

double integer_at(const Generator& generator, std::uint64_t seed, std::uint64_t stream, std::int64_t index) {
  const auto span = static_cast<std::uint64_t>(generator.b - generator.a) + 1;
  const std::uint64_t word = philox(seed, static_cast<std::uint64_t>(index), stream)[0];
  return std::ldexp(generator.a + static_cast<double>((word * span) >> 32U), generator.exponent);
}

double sparse_at(const Generator& generator, std::uint64_t seed, std::uint64_t stream, std::int64_t index) {
  const PhiloxWords words = philox(seed, static_cast<std::uint64_t>(index), stream);
  if (uniform(words) >= generator.c) return generator.a;
  return generator.a + std::ldexp((words[1] & 3U) == 0 ? -1.0 : 1.0, generator.exponent);
}

double whole_number_at(const Generator& generator, std::uint64_t seed, std::uint64_t stream,
                       std::int64_t index) {
  return generator.c == 0 ? integer_at(generator, seed, stream, index)
                          : sparse_at(generator, seed, stream, index);
}

}  // namespace tpc
