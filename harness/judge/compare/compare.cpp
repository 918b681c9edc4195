// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/compare/compare.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "harness/judge/compare/copies.hpp"
#include "harness/judge/compare/exchange.hpp"
#include "harness/judge/inputs/inputs.hpp"
#include "harness/judge/inputs/masks.hpp"
#include "harness/judge/inputs/probes.hpp"

namespace tpc {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// What this rank holds, and from where.
struct Stock {
  std::vector<Source> sources;
  Holdings holdings;
};

Stock take_stock(const Case& c, const std::vector<LocalTensor>& got, const Catalogue& catalogue) {
  Stock stock;
  stock.sources = sources_of(got, catalogue, &c.request.problem, stock.holdings.defect);
  for (const Source& source : stock.sources) stock.holdings.parts.push_back(compared(source, catalogue));
  return stock;
}

std::vector<Box> boxes_of(const std::vector<Holdings>& all, std::size_t tensor) {
  std::vector<Box> boxes;
  for (const Holdings& holdings : all)
    for (const Part& part : holdings.parts)
      if (part.tensor == tensor) boxes.push_back(part.box);
  return distinct(std::move(boxes));
}

// Boxes that meet without being equal are cut into parts that are equal or disjoint, and compared anew. Every
// rank sees the same boxes, so all do this or none does.
std::vector<Holdings> exchange_equal_parts(Stock& stock, const Catalogue& catalogue, Communicator& ranks) {
  std::vector<Holdings> all = exchange(ranks, stock.holdings);
  std::vector<std::vector<Box>> boxes(catalogue.size());
  bool any = false;
  for (std::size_t t = 0; t < catalogue.size(); ++t) {
    std::vector<Box> of_tensor = boxes_of(all, t);
    if (!partly_overlap(of_tensor)) continue;
    boxes[t] = std::move(of_tensor);
    any = true;
  }
  if (!any) return all;
  std::vector<Source> finer;
  for (const Source& source : stock.sources)
    for (Source& part : cut_source(source, boxes[source.tensor])) finer.push_back(std::move(part));
  stock.sources = std::move(finer);
  stock.holdings.parts.clear();
  for (const Source& source : stock.sources) stock.holdings.parts.push_back(compared(source, catalogue));
  return exchange(ranks, stock.holdings);
}

std::string defect_of_holdings(const std::vector<Holdings>& all, const MeshSpec& mesh) {
  for (std::size_t r = 0; r < all.size(); ++r)
    if (!all[r].defect.empty())
      return fmt::format("{}: {}", rank_label(mesh, static_cast<int>(r)), all[r].defect);
  return {};
}

std::string defect_of_cover(const std::vector<Holdings>& all, const Catalogue& catalogue) {
  for (std::size_t t = 0; t < catalogue.size(); ++t) {
    const Shape& shape = catalogue.expected(t).shape;
    const std::vector<Box> boxes = boxes_of(all, t);
    if (boxes.empty() && element_count(shape) > 0)
      return fmt::format("{}: no rank returned any part of this tensor of shape {}", catalogue.name(t),
                         to_string(shape));
    const std::optional<Shape> hole = uncovered_element(shape, boxes);
    if (hole) return fmt::format("{}{}: no rank holds this element", catalogue.name(t), to_string(*hole));
  }
  return {};
}

// A tensor over all ranks.
struct Sum {
  TensorError error;
  std::int64_t unequal = 0;
  const Part* worst = nullptr;
  int worst_rank = 0;
};

Sum sum_over_ranks(const std::vector<Holdings>& all, std::size_t tensor) {
  Sum sum;
  for (const Box& box : boxes_of(all, tensor)) {
    double squares = 0;
    int copies = 0;
    std::int64_t unequal = 0;
    for (std::size_t r = 0; r < all.size(); ++r)
      for (const Part& part : all[r].parts) {
        if (part.tensor != tensor || part.box != box) continue;
        ++copies;
        squares += part.error.squares;
        unequal = std::max(unequal, part.unequal);
        sum.error.equal = sum.error.equal && part.error.equal;
        if (part.worst < 0 || (sum.worst != nullptr && part.error.largest <= sum.error.largest)) continue;
        sum.error.largest = part.error.largest;
        sum.worst = &part;
        sum.worst_rank = static_cast<int>(r);
      }
    sum.error.squares += squares / copies;
    sum.unequal += unequal;
  }
  return sum;
}

// Where a collective call on a probe went wrong, and who was it.
std::string probe_reading(const Case& c, const Expected& expected, const Part& worst) {
  const Problem& problem = c.request.problem;
  const CollectiveProblem* call = problem.collective();
  if (call == nullptr || problem.inputs.empty() || expected.shape.empty()) return {};
  // What each rank gets of a reduce_scatter are parts of one result; all else comes whole to each rank.
  const bool parts = call->kind == CollectiveKind::reduce_scatter;
  const std::int64_t each = parts ? element_count(expected.shape) : expected.shape.back();
  const double want = expected.values[worst.worst];
  const std::string reading = read_probe(problem, problem.inputs[0], worst.worst % each, want, worst.got);
  return reading.empty() ? "" : "; " + reading;
}

// Masks are whole numbers, whatever the tier.
bool demands_equality(const Case& c, const std::string& tensor) {
  return c.tier == Tier::exact || is_mask(tensor);
}

std::string value_message(const Case& c, const std::string& tensor, const Expected& expected, const Sum& sum,
                          double ratio) {
  TPC_EXPECT(sum.worst != nullptr, "{} is wrong, but no element of it", tensor);
  const Part& worst = *sum.worst;
  const std::string how =
      demands_equality(c, tensor)
          ? fmt::format("{} of {} elements differ where equal values are demanded{}", sum.unequal,
                        element_count(expected.shape), probe_reading(c, expected, worst))
          : fmt::format("error {:.2g} times the {} tier's bound", ratio, name(c.tier));
  return fmt::format("{}: {}{}: expected {}, got {} ({})", rank_label(c.request.mesh, sum.worst_rank), tensor,
                     to_string(index_at(expected.shape, worst.worst)), expected.values[worst.worst],
                     worst.got, how);
}

Comparison failed(std::string message, double ratio, std::string tensor) {
  return {Verdict::fail, ratio, std::move(tensor), std::move(message)};
}

Comparison compare_values(const Case& c, const std::vector<Holdings>& all, const Catalogue& catalogue) {
  Comparison comparison;
  for (std::size_t t = 0; t < catalogue.size(); ++t) {
    const Sum sum = sum_over_ranks(all, t);
    const double ratio = is_mask(catalogue.name(t)) ? (sum.error.equal ? 0 : infinity)
                                                    : error_ratio(c, catalogue.expected(t), sum.error);
    if (t > 0 && !(ratio > comparison.worst_ratio)) continue;
    comparison = {Verdict::pass, ratio, catalogue.name(t), {}};
    if (ratio > 1)
      comparison = failed(value_message(c, catalogue.name(t), catalogue.expected(t), sum, ratio), ratio,
                          catalogue.name(t));
  }
  return comparison;
}

}  // namespace

Comparison compare(const Case& c, const std::vector<LocalTensor>& got, const ExpectedTensors& expected,
                   Communicator& ranks) {
  const Catalogue catalogue(expected);
  Stock stock = take_stock(c, got, catalogue);
  const std::vector<Holdings> all = exchange_equal_parts(stock, catalogue, ranks);

  std::string defect = defect_of_holdings(all, c.request.mesh);
  if (defect.empty()) defect = defect_of_cover(all, catalogue);
  if (!defect.empty()) return failed(std::move(defect), infinity, {});

  Comparison comparison = compare_values(c, all, catalogue);
  const std::optional<UnequalCopies> copies = find_unequal_copies(all);
  if (!copies) return comparison;
  if (comparison.verdict == Verdict::fail) {
    comparison.message += fmt::format("; ranks {} and {} hold different copies of {}", copies->one,
                                      copies->other, catalogue.name(copies->tensor));
    return comparison;
  }
  const std::string where = describe(*copies, stock.sources, catalogue, ranks);
  return failed(fmt::format("{}: {}", rank_label(c.request.mesh, copies->other), where), infinity,
                catalogue.name(copies->tensor));
}

std::map<std::string, double> relative_errors(const std::vector<LocalTensor>& got,
                                              const ExpectedTensors& expected) {
  const Catalogue catalogue(expected);
  Holdings holdings;
  for (const Source& source : sources_of(got, catalogue, nullptr, holdings.defect))
    holdings.parts.push_back(compared(source, catalogue));
  std::map<std::string, double> errors;
  for (std::size_t t = 0; t < catalogue.size(); ++t) {
    const std::vector<Box> boxes = boxes_of({holdings}, t);
    if (boxes.empty() || uncovered_element(catalogue.expected(t).shape, boxes)) continue;
    errors[catalogue.name(t)] = relative_error(catalogue.expected(t), sum_over_ranks({holdings}, t).error);
  }
  return errors;
}

}  // namespace tpc
