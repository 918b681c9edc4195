// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/judges/mask_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/judge/compare/copies.hpp"
#include "reference/random/mask_statistics.hpp"

namespace tpc {

namespace {

// Lags up to this are looked at; longer masks are cut, so that a test of all pairs stays cheap.
constexpr std::size_t most_correlated = 1 << 17;

bool overlap(const HeldMask& a, const HeldMask& b) {
  for (const Box& one : a.boxes)
    for (const Box& other : b.boxes)
      if (share_elements(one, other)) return true;
  return false;
}

Mask first_of(const HeldMask& mask, std::size_t count) {
  return {mask.kept.data(), std::min(count, mask.kept.size())};
}

std::int64_t positions_alike(Mask a, Mask b) {
  std::int64_t alike = 0;
  for (std::size_t i = 0; i < a.size(); ++i) alike += a[i] == b[i] ? 1 : 0;
  return alike;
}

// Who is compared, for messages.
struct Pair {
  std::string where;
  std::string one;
  std::string other;
};

std::string measured(Mask a, Mask b) {
  const std::int64_t alike = positions_alike(a, b);
  return fmt::format("agree at {} of {} positions ({:.4f}", alike, a.size(),
                     static_cast<double>(alike) / static_cast<double>(a.size()));
}

void raise(RelationFindings& findings, std::string alarm) {
  if (findings.alarm.empty()) findings.alarm = std::move(alarm);
}

void test_agreement(RelationFindings& f, const Pair& pair, double rate, Mask a, Mask b) {
  const Deviation found = agreement(a, b, rate);
  ++f.tests;
  f.largest_z = std::max(f.largest_z, std::fabs(found.z));
  f.visible_share =
      std::max(f.visible_share, smallest_visible_share(static_cast<std::int64_t>(a.size()), rate));
  if (std::fabs(found.z) > alarm_z)
    raise(f, fmt::format("{}: {} and {} must draw independently, but {}, where {:.4f} is expected, z {:.1f})",
                         pair.where, pair.one, pair.other, measured(a, b), found.expected, found.z));
}

void test_lags(RelationFindings& f, const Pair& pair, Mask a, Mask b) {
  const std::size_t n = std::min(a.size(), most_correlated);
  const CorrelationPeak peak = correlation_peak(a.first(n), b.first(n));
  ++f.tests;
  f.largest_peak = std::max(f.largest_peak, peak.sigmas);
  if (is_shifted_copy(peak))
    raise(f, fmt::format(
                 "{}: {} and {} must draw independently, but the one is the other shifted by {} positions "
                 "(correlation {:.3f}, {:.1f} sigma); unshifted they {})",
                 pair.where, pair.one, pair.other, peak.lag, peak.correlation, peak.sigmas, measured(a, b)));
}

void test_independence(RelationFindings& f, const Pair& pair, double rate, bool at_every_lag,
                       const HeldMask& one, const HeldMask& other) {
  const std::size_t n = std::min(one.kept.size(), other.kept.size());
  const Mask a = first_of(one, n);
  const Mask b = first_of(other, n);
  ++f.independent_pairs;
  if (static_cast<std::int64_t>(n) >= elements_for_statistics) {
    test_agreement(f, pair, rate, a, b);
    if (at_every_lag) test_lags(f, pair, a, b);
  } else if (static_cast<std::int64_t>(n) >= elements_for_inequality &&
             positions_alike(a, b) == static_cast<std::int64_t>(n)) {
    raise(f, fmt::format("{}: {} and {} must draw independently, but {})", pair.where, pair.one, pair.other,
                         measured(a, b)));
  }
}

void test_equality(RelationFindings& f, const Pair& pair, const HeldMask& one, const HeldMask& other) {
  ++f.equal_pairs;
  if (one.kept == other.kept) return;
  raise(f, fmt::format(
               "{}: {} and {} hold the same elements and must draw alike, but {})", pair.where, pair.one,
               pair.other,
               one.kept.size() == other.kept.size()
                   ? measured(first_of(one, one.kept.size()), first_of(other, other.kept.size()))
                   : fmt::format("one has {} of them, the other {} (", one.kept.size(), other.kept.size())));
}

class SiteTests {
 public:
  SiteTests(const MaskTests& tests, const std::string& where, double rate, const std::vector<HeldMask>& masks)
      : tests_(tests), where_(where), rate_(rate), masks_(masks) {}

  // Rates first, by every worker: pairs of masks of another rate would be blamed for it.
  RelationFindings run() {
    for (int rank = 0; rank < ranks(); ++rank) test_rate(rank);
    for (int b = 0; b < ranks(); ++b)
      for (int a = 0; a < b; ++a)
        if (mine()) test_pair(a, b, relation_of(a, b));
    for (const std::vector<int>& group : tp_groups())
      if (mine()) test_group(group);
    return std::move(findings_);
  }

 private:
  int ranks() const { return static_cast<int>(masks_.size()); }
  const HeldMask& mask(int rank) const { return masks_[static_cast<std::size_t>(rank)]; }
  bool mine() { return turn_++ % tests_.workers == tests_.index; }
  std::string label(int rank) const { return rank_label(tests_.mesh, rank); }
  bool is_large(int rank) const {
    return static_cast<std::int64_t>(mask(rank).kept.size()) >= elements_for_statistics;
  }

  Relation relation_of(int a, int b) const {
    const bool same = mask(a).boxes == mask(b).boxes;
    if (!same && overlap(mask(a), mask(b))) return Relation::free;
    return relation(tests_.random, tests_.mesh, a, b, same);
  }

  void test_pair(int a, int b, Relation wanted) {
    const Pair pair{where_, label(a), label(b)};
    if (wanted == Relation::equal)
      test_equality(findings_, pair, mask(a), mask(b));
    else if (wanted == Relation::independent)
      test_independence(findings_, pair, rate_, tests_.at_every_lag, mask(a), mask(b));
    else
      ++findings_.free_pairs;
  }

  bool is_copy(int rank) const {
    for (int other = 0; other < rank; ++other)
      if (relation_of(other, rank) == Relation::equal) return true;
    return false;
  }

  void test_rate(int rank) {
    const bool counted = mine();
    if (!is_large(rank) || is_copy(rank)) return;
    const Deviation found = keep_rate(mask(rank).kept, rate_);
    findings_.tests += counted ? 1 : 0;
    findings_.largest_z = std::max(findings_.largest_z, std::fabs(found.z));
    if (std::fabs(found.z) > alarm_z)
      raise(findings_,
            fmt::format("{}: {} keeps {:.4f} of {} elements, where {:.4f} is expected (z {:.1f})", where_,
                        label(rank), found.measured, mask(rank).kept.size(), found.expected, found.z));
  }

  // Ranks that differ over tp alone.
  std::vector<std::vector<int>> tp_groups() const {
    const auto& axes = tests_.mesh.axes;
    const auto tp = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), "tp") - axes.begin());
    std::vector<std::vector<int>> groups;
    std::vector<std::vector<int>> seen;
    for (int r = 0; r < ranks() && tp < axes.size(); ++r) {
      std::vector<int> others = mesh_coordinates(tests_.mesh, r);
      others[tp] = 0;
      auto found = std::find(seen.begin(), seen.end(), others);
      if (found == seen.end()) {
        found = seen.insert(seen.end(), others);
        groups.emplace_back();
      }
      groups[static_cast<std::size_t>(found - seen.begin())].push_back(r);
    }
    return groups;
  }

  // How the ranks of a group drop together, where each has elements of its own.
  void test_group(const std::vector<int>& group) {
    std::vector<Mask> together;
    for (const int r : group) {
      const bool first = together.empty();
      if (!is_large(r) || (!first && relation_of(group.front(), r) != Relation::independent)) return;
      if (!first && mask(r).kept.size() != together.front().size()) return;
      together.emplace_back(mask(r).kept);
    }
    if (together.size() < 2) return;
    const Deviation spread = dispersion(together, rate_);
    const Deviation joint = joint_drop_rate(together, rate_);
    ++findings_.tests;
    findings_.largest_z = std::max(findings_.largest_z, std::fabs(spread.z));
    if (std::fabs(spread.z) > alarm_z)
      raise(findings_,
            fmt::format("{}: ranks {} to {} drop together: Var/(T p (1-p)) is {:.3f}, 1 where they are "
                        "independent (z {:.1f})",
                        where_, group.front(), group.back(), spread.measured, spread.z));
    findings_.rates += fmt::format(
        "{}{}, ranks {} to {}: all drop {:.2e} of the elements ({:.2e} where independent, {} where shared), "
        "dispersion {:.3f}",
        findings_.rates.empty() ? "" : "; ", where_, group.front(), group.back(), joint.measured,
        joint.expected, rate_, spread.measured);
  }

  const MaskTests& tests_;
  const std::string& where_;
  double rate_;
  const std::vector<HeldMask>& masks_;
  RelationFindings findings_;
  int turn_ = 0;
};

}  // namespace

void add(RelationFindings& sum, const RelationFindings& part) {
  sum.equal_pairs += part.equal_pairs;
  sum.independent_pairs += part.independent_pairs;
  sum.free_pairs += part.free_pairs;
  sum.tests += part.tests;
  sum.largest_z = std::max(sum.largest_z, part.largest_z);
  sum.largest_peak = std::max(sum.largest_peak, part.largest_peak);
  sum.visible_share = std::max(sum.visible_share, part.visible_share);
  if (sum.alarm.empty()) sum.alarm = part.alarm;
  if (!part.rates.empty()) sum.rates += (sum.rates.empty() ? "" : "; ") + part.rates;
}

RelationFindings MaskTests::site(const std::string& where, double rate,
                                 const std::vector<HeldMask>& masks) const {
  return SiteTests(*this, where, rate, masks).run();
}

RelationFindings MaskTests::successive(const std::string& where, const std::string& other, double rate,
                                       const std::vector<HeldMask>& masks,
                                       const std::vector<HeldMask>& others) const {
  RelationFindings findings;
  for (std::size_t r = 0; r < masks.size(); ++r)
    if (static_cast<int>(r) % workers == index && masks[r].kept.size() == others[r].kept.size())
      test_independence(findings,
                        {fmt::format("{} on {}", where, rank_label(mesh, static_cast<int>(r))), "its mask",
                         fmt::format("that of {}", other)},
                        rate, at_every_lag, masks[r], others[r]);
  return findings;
}

std::string summary_of(const RelationFindings& f) {
  std::string text = fmt::format(
      "{} pairs equal, {} independent, {} free; {} tests, {:.1e} false alarms expected", f.equal_pairs,
      f.independent_pairs, f.free_pairs, f.tests, expected_false_alarms(static_cast<double>(f.tests)));
  if (f.tests > 0) text += fmt::format(", largest z {:.2f}", f.largest_z);
  if (f.largest_peak > 0) text += fmt::format(", largest peak at any lag {:.1f} sigma", f.largest_peak);
  if (f.visible_share > 0)
    text += fmt::format(", two masks with {:.0f} % of their positions in common would be seen",
                        100 * f.visible_share);
  return f.rates.empty() ? text : text + "; " + f.rates;
}

}  // namespace tpc
