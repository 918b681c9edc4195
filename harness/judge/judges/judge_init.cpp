// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "harness/judge/compare/copies.hpp"
#include "harness/judge/compare/exchange.hpp"
#include "harness/judge/inputs/init_rule.hpp"
#include "harness/judge/judges/judges.hpp"
#include "harness/judge/judges/mask_relations.hpp"
#include "harness/values/texts.hpp"
#include "harness/values/wire.hpp"
#include "reference/random/mask_statistics.hpp"

namespace tpc {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Fewer elements than this may be alike by chance.
constexpr std::size_t elements_for_correlation = 256;

// A parameter as one rank holds it: its boxes, and the values of one after the other.
struct HeldWeights {
  std::vector<Box> boxes;
  std::vector<double> values;
};
using WeightsByRank = std::vector<HeldWeights>;

double correlation_z(const std::vector<double>& a, const std::vector<double>& b, double std) {
  const std::size_t n = std::min(a.size(), b.size());
  const double sum =
      std::inner_product(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin(), 0.0);
  return sum / (std * std * std::sqrt(static_cast<double>(n)));
}

std::string values_alike(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t n = std::min(a.size(), b.size());
  std::size_t alike = 0;
  for (std::size_t i = 0; i < n; ++i) alike += a[i] == b[i] ? 1 : 0;
  return fmt::format("agree at {} of {} elements ({:.4f})", alike, n,
                     static_cast<double>(alike) / static_cast<double>(std::max<std::size_t>(1, n)));
}

class InitJudge {
 public:
  InitJudge(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks)
      : case_(c), problem_(c.request.problem), specs_(init_specs(problem_)), ranks_(ranks) {
    exchange_weights(got);
  }

  Comparison judge() {
    for (const InitSpec& spec : specs_)
      for (const std::string& name : {spec.parameter, repeated_name(spec.parameter)})
        if (defect_.empty()) judge_parameter(name, spec);
    for (std::size_t i = 0; i < specs_.size() && defect_.empty(); ++i) judge_against_others(i);
    Comparison comparison;
    comparison.worst_ratio = largest_z_ / alarm_z;
    comparison.tests = tests_;
    comparison.note = fmt::format("{} tests, {:.1e} false alarms expected, largest z {:.2f}", tests_,
                                  expected_false_alarms(static_cast<double>(tests_)), largest_z_);
    if (defect_.empty()) return comparison;
    return {Verdict::fail, infinity, {}, defect_};
  }

 private:
  void exchange_weights(const std::vector<LocalTensor>& got) {
    ExpectedTensors shapes;
    for (const InitSpec& spec : specs_)
      for (const std::string& name : {spec.parameter, repeated_name(spec.parameter)})
        shapes[name].shape = spec.shape;
    const Catalogue catalogue(shapes);
    std::map<std::string, HeldWeights> mine;
    std::string own;
    for (const Source& source : sources_of(got, catalogue, &problem_, own)) {
      HeldWeights& held = mine[catalogue.name(source.tensor)];
      held.boxes.push_back(source.box());
      for (const std::uint64_t bits : bits_of(source))
        held.values.push_back(value_of_bits(bits, source.local->data.dtype()));
    }
    Packer packer;
    packer.put(std::string_view(own));
    for (const auto& entry : shapes) put_weights(packer, mine[entry.first]);
    const std::vector<std::string> said = gather_bytes(ranks_, packer.bytes());
    for (std::size_t r = 0; r < said.size(); ++r) {
      Unpacker unpacker(said[r]);
      const std::string there = unpacker.text();
      if (!there.empty()) raise(fmt::format("{}: {}", label(r), there));
      for (const auto& entry : shapes) weights_[entry.first].push_back(get_weights(unpacker));
    }
  }

  static void put_extents(Packer& packer, const Shape& shape) {
    packer.put_all(shape, [](Packer& p, std::int64_t extent) { p.put(extent); });
  }
  static void put_weights(Packer& packer, const HeldWeights& held) {
    packer.put_all(held.boxes, [](Packer& p, const Box& box) {
      put_extents(p, box.offset);
      put_extents(p, box.extent);
    });
    packer.put(std::string_view(reinterpret_cast<const char*>(held.values.data()),
                                held.values.size() * sizeof(double)));
  }
  static HeldWeights get_weights(Unpacker& unpacker) {
    const auto extents = [](Unpacker& u) {
      return u.all<std::int64_t>([](Unpacker& v) { return v.get<std::int64_t>(); });
    };
    HeldWeights held;
    held.boxes = unpacker.all<Box>([&](Unpacker& u) {
      Box box;
      box.offset = extents(u);
      box.extent = extents(u);
      return box;
    });
    const std::string bytes = unpacker.text();
    held.values.resize(bytes.size() / sizeof(double));
    std::memcpy(held.values.data(), bytes.data(), bytes.size());
    return held;
  }

  std::string label(std::size_t rank) const { return rank_label(case_.request.mesh, static_cast<int>(rank)); }
  void raise(const std::string& defect) {
    if (defect_.empty()) defect_ = defect;
  }
  bool is_alarm(double z) {
    ++tests_;
    largest_z_ = std::max(largest_z_, std::fabs(z));
    return !(std::fabs(z) <= alarm_z);
  }

  void judge_parameter(const std::string& name, const InitSpec& spec) {
    const WeightsByRank& held = weights_.at(name);
    std::vector<Box> boxes;
    for (const HeldWeights& part : held) boxes.insert(boxes.end(), part.boxes.begin(), part.boxes.end());
    if (const auto hole = uncovered_element(spec.shape, distinct(boxes)))
      return raise(fmt::format("{}{}: no rank holds this element", name, to_string(*hole)));
    if (spec.std == 0) return judge_constant(name, spec);
    std::vector<double> whole;
    for (std::size_t r = 0; r < held.size(); ++r) {
      bool is_copy = false;
      for (std::size_t q = 0; q < r; ++q)
        is_copy = judge_pair(name, spec, q, r) == Relation::equal || is_copy;
      if (!is_copy) whole.insert(whole.end(), held[r].values.begin(), held[r].values.end());
    }
    judge_distribution(name, spec, whole);
  }

  void judge_constant(const std::string& name, const InitSpec& spec) {
    const WeightsByRank& held = weights_.at(name);
    for (std::size_t r = 0; r < held.size(); ++r)
      for (const double value : held[r].values)
        if (value != spec.mean)
          return raise(
              fmt::format("{}: {} begins with {}, where {} is defined", label(r), name, value, spec.mean));
  }

  Relation judge_pair(const std::string& name, const InitSpec& spec, std::size_t q, std::size_t r) {
    const HeldWeights& a = weights_.at(name)[q];
    const HeldWeights& b = weights_.at(name)[r];
    const bool same = a.boxes == b.boxes;
    const Relation wanted =
        relation(problem_.random, case_.request.mesh, static_cast<int>(q), static_cast<int>(r), same);
    if (wanted == Relation::equal && a.values != b.values)
      raise(fmt::format("{}: {} and {} hold the same elements and must begin alike, but {}", name, label(q),
                        label(r), values_alike(a.values, b.values)));
    if (wanted != Relation::independent || a.values.size() < elements_for_correlation ||
        b.values.size() < elements_for_correlation)
      return wanted;
    if (const double z = correlation_z(a.values, b.values, spec.std); is_alarm(z))
      raise(
          fmt::format("{}: {} and {} hold different elements and must begin independently, but {}, z {:.1f}",
                      name, label(q), label(r), values_alike(a.values, b.values), z));
    return wanted;
  }

  void judge_distribution(const std::string& name, const InitSpec& spec, const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) squares += (value - spec.mean) * (value - spec.mean);
    const double std = std::sqrt(squares / n);
    if (is_alarm((mean - spec.mean) * std::sqrt(n) / spec.std))
      raise(fmt::format("{}: the mean of {} elements is {:.4g}, where {} is defined", name, values.size(),
                        mean, spec.mean));
    if (const double z = (std / spec.std - 1) * std::sqrt(2 * n); is_alarm(z))
      raise(fmt::format(
          "{}: the std of {} elements on ranks 0 to {} is {:.4g}, {:.3f} times the {:.4g} of the whole "
          "tensor's definition (z {:.1f})",
          name, values.size(), ranks_.size() - 1, std, std / spec.std, spec.std, z));
  }

  // No two parameters begin with the same numbers, nor does one that is initialised again.
  void judge_against_others(std::size_t i) {
    const InitSpec& spec = specs_[i];
    if (spec.std == 0) return;
    const bool stateful = problem_.random.profile == "megatron" || problem_.random.profile == "dtensor";
    if (stateful) judge_sequence(spec.parameter, repeated_name(spec.parameter), spec);
    for (std::size_t j = 0; j < i; ++j)
      if (specs_[j].shape == spec.shape && specs_[j].std == spec.std)
        judge_sequence(specs_[j].parameter, spec.parameter, spec);
  }

  void judge_sequence(const std::string& first, const std::string& second, const InitSpec& spec) {
    for (std::size_t r = 0; r < weights_.at(first).size(); ++r) {
      const std::vector<double>& a = weights_.at(first)[r].values;
      const std::vector<double>& b = weights_.at(second)[r].values;
      if (a.size() < elements_for_correlation || b.size() != a.size()) continue;
      if (const double z = correlation_z(a, b, spec.std); is_alarm(z))
        raise(fmt::format("{}: {} and {} must begin independently, but {}, z {:.1f}", label(r), first, second,
                          values_alike(a, b), z));
    }
  }

  const Case& case_;
  const Problem& problem_;
  std::vector<InitSpec> specs_;
  Communicator& ranks_;
  std::map<std::string, WeightsByRank> weights_;
  std::string defect_;
  std::int64_t tests_ = 0;
  double largest_z_ = 0;
};

}  // namespace

Comparison judge_init(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks) {
  return InitJudge(c, got, ranks).judge();
}

}  // namespace tpc
