// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/collective_answers.hpp"

#include <algorithm>
#include <cmath>

#include "harness/judge/inputs/inputs.hpp"

namespace tpc {

namespace {

// The operands of all ranks, and what to say of one element of a result.
struct Operands {
  std::vector<double> values;  // [ranks, each]
  std::int64_t ranks = 0;
  std::int64_t each = 0;
  double at(std::int64_t rank, std::int64_t i) const {
    return values[static_cast<std::size_t>(rank * each + i)];
  }
};

struct Element {
  double value = 0;
  double scale = 0;  // sum of the magnitudes of its terms
};

Element reduced_element(const Operands& in, std::int64_t i, ReduceOp op) {
  Element result{in.at(0, i), std::fabs(in.at(0, i))};
  for (std::int64_t r = 1; r < in.ranks; ++r) {
    const double next = in.at(r, i);
    switch (op) {
      case ReduceOp::sum:
        result.value += next;
        result.scale += std::fabs(next);
        break;
      case ReduceOp::product:
        result.value *= next;
        break;
      case ReduceOp::max:
        result.value = std::max(result.value, next);
        break;
      case ReduceOp::min:
        result.value = std::min(result.value, next);
        break;
    }
  }
  if (op != ReduceOp::sum) result.scale = std::fabs(result.value);
  return result;
}

Element moved_element(double value) { return {value, std::fabs(value)}; }

// Element i of what rank r gets.
Element element_of(const CollectiveProblem& call, const Operands& in, std::int64_t r, std::int64_t i) {
  const std::int64_t n = call.count;
  switch (call.kind) {
    case CollectiveKind::all_reduce:
      return reduced_element(in, i, call.op);
    case CollectiveKind::reduce_scatter:
      return reduced_element(in, r * n + i, call.op);
    case CollectiveKind::all_gather:
      return moved_element(in.at(i / n, i % n));
    case CollectiveKind::all_to_all:
      return moved_element(in.at(i / n, r * n + i % n));
    case CollectiveKind::broadcast:
      return moved_element(in.at(call.root, i));
    case CollectiveKind::point_to_point:
      return moved_element(in.at((r + in.ranks - 1) % in.ranks, i));
  }
  return {};
}

baseline::Answer answer_of(const Shape& shape, const std::vector<Element>& elements) {
  baseline::Answer answer;
  answer.value.shape = shape;
  double squares = 0;
  for (const Element& element : elements) {
    answer.value.values.push_back(element.value);
    squares += element.scale * element.scale;
    answer.scale_max = std::max(answer.scale_max, element.scale);
  }
  answer.scale_norm = std::sqrt(squares);
  return answer;
}

bool has_parts_in(CollectiveKind kind) {
  return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_to_all;
}
bool has_parts_out(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::all_to_all;
}

}  // namespace

bool result_is_replicated(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
         kind == CollectiveKind::broadcast;
}

Shape collective_input_shape(const CollectiveProblem& call, int ranks) {
  return {ranks, has_parts_in(call.kind) ? ranks * call.count : call.count};
}

Shape collective_output_shape(const CollectiveProblem& call, int ranks) {
  return {ranks, has_parts_out(call.kind) ? ranks * call.count : call.count};
}

baseline::Solution collective_answers(const Problem& problem) {
  const CollectiveProblem& call = *problem.collective();
  const InputSpec& input = input_named(problem, "in");
  const auto ranks = static_cast<int>(input.shape.at(0));
  TPC_EXPECT(input.shape == collective_input_shape(call, ranks), "input 'in' of shape {} for {} of {}",
             to_string(input.shape), name(call.kind), call.count);
  const Operands in{draw_rounded(problem, input), ranks, input.shape[1]};

  const Shape shape = collective_output_shape(call, ranks);
  std::vector<Element> elements;
  for (std::int64_t r = 0; r < ranks; ++r)
    for (std::int64_t i = 0; i < shape[1]; ++i) elements.push_back(element_of(call, in, r, i));
  baseline::Solution solution;
  solution.answers["out"] = answer_of(shape, elements);
  if (call.repeats == 1) return solution;
  solution.answers["unequal"] = answer_of({ranks}, std::vector<Element>(static_cast<std::size_t>(ranks)));
  if (result_is_replicated(call.kind)) {
    elements.resize(static_cast<std::size_t>(shape[1]));
    solution.answers["copies"] = answer_of({shape[1]}, elements);
  }
  return solution;
}

}  // namespace tpc
