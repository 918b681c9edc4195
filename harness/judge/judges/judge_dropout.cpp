// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/judge/compare/copies.hpp"
#include "harness/judge/inputs/rounding.hpp"
#include "harness/judge/judges/judges.hpp"
#include "harness/judge/judges/mask_exchange.hpp"
#include "harness/judge/judges/stream_seeds.hpp"
#include "reference/random/mask_statistics.hpp"

namespace tpc {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr const char* seeds_tensor = "streams.seed";
constexpr const char* positions_tensor = "streams.position";

// What one site of one rank answered.
struct SiteAnswers {
  const MaskSpec& mask;
  const std::vector<LocalTensor>& got;

  const LocalTensor* find(const std::string& action) const {
    const auto found = std::find_if(got.begin(), got.end(), [&](const LocalTensor& local) {
      return local.name == action + "." + mask.name;
    });
    return found == got.end() ? nullptr : &*found;
  }
};

std::string scale_defect(const SiteAnswers& site, const LocalTensor& local, DType dtype) {
  if (local.data.dtype() != dtype)
    return fmt::format("{} comes in {}, not {}", local.name, name(local.data.dtype()), name(dtype));
  const double scale = stored_value(1 / (1 - site.mask.rate), dtype);
  return visit_float(dtype, [&](auto zero) -> std::string {
    const auto* values = local.data.data<decltype(zero)>();
    for (std::int64_t i = 0; i < local.data.count(); ++i) {
      const auto value = static_cast<double>(values[i]);
      if (value != 0 && value != scale)
        return fmt::format("{}: a kept element is scaled by {}, where 1/(1-p) is {}", local.name, value,
                           scale);
    }
    return {};
  });
}

// One action must have dropped what another did.
std::string difference(const SiteAnswers& site, DType dtype, const std::string& action,
                       const std::string& first_action) {
  const LocalTensor* one = site.find(action);
  const LocalTensor* first = site.find(first_action);
  if (one == nullptr || first == nullptr)
    return one == first ? "" : "only one of " + action + " and " + first_action + " is there";
  if (one->data.shape() != first->data.shape() || one->placement != first->placement)
    return fmt::format("{} and {} are placed differently", one->name, first->name);
  return visit_float(dtype, [&](auto zero) -> std::string {
    const auto* a = one->data.data<decltype(zero)>();
    const auto* b = first->data.data<decltype(zero)>();
    std::int64_t alike = 0;
    for (std::int64_t i = 0; i < one->data.count(); ++i)
      alike += static_cast<double>(a[i]) == static_cast<double>(b[i]);
    if (alike == one->data.count()) return {};
    return fmt::format(
        "{}: the masks of {} and {} must be the same, but agree at {} of {} positions ({:.4f})",
        site.mask.name, action, first_action, alike, one->data.count(),
        static_cast<double>(alike) / static_cast<double>(one->data.count()));
  });
}

// What a rank sees alone: that it answered, the scale, and that masks are drawn once.
std::string defect_here(const Problem& problem, const std::vector<MaskSpec>& masks,
                        const std::vector<LocalTensor>& got) {
  for (const LocalTensor& local : got) {
    const bool known = local.name == seeds_tensor || local.name == positions_tensor ||
                       std::any_of(masks.begin(), masks.end(), [&](const MaskSpec& mask) {
                         return local.name.ends_with("." + mask.name);
                       });
    if (!known) return fmt::format("{}: nobody asked for this tensor", local.name);
  }
  for (const MaskSpec& mask : masks) {
    const SiteAnswers site{mask, got};
    for (const char* action : {"forward", "backward", "recomputed", "next", "resumed"}) {
      const LocalTensor* local = site.find(action);
      if (local == nullptr) continue;
      if (!local->data) return fmt::format("{} comes without data", local->name);
      const std::string defect = scale_defect(site, *local, problem.dtype);
      if (!defect.empty()) return defect;
    }
    for (const auto& [action, first] : {std::pair{"backward", "forward"}, std::pair{"recomputed", "forward"},
                                        std::pair{"resumed", "next"}}) {
      const std::string defect = difference(site, problem.dtype, action, first);
      if (!defect.empty()) return defect;
    }
  }
  return {};
}

// The rows of an i64 tensor [ranks, streams], by rank, as this rank returned it.
std::vector<std::int64_t> row_of(const std::vector<LocalTensor>& got, const char* tensor) {
  for (const LocalTensor& local : got)
    if (local.name == tensor && local.data.dtype() == DType::i64)
      return {local.data.data<std::int64_t>(), local.data.data<std::int64_t>() + local.data.count()};
  return {};
}

std::string seeds_defect(const Case& c, const std::vector<LocalTensor>& got, int rank) {
  const std::vector<std::int64_t> row = row_of(got, seeds_tensor);
  const auto table = stream_seeds(c.request.problem, c.request.mesh, rank);
  if (row.empty() || !table) return {};
  if (row.size() != table->size())
    return fmt::format("{} streams, where profile {} has {}", row.size(), c.request.problem.random.profile,
                       table->size());
  for (std::size_t i = 0; i < row.size(); ++i)
    if (static_cast<std::uint64_t>(row[i]) != (*table)[i].seed)
      return fmt::format("stream {} has the seed {}, where profile {} has {}", (*table)[i].stream,
                         static_cast<std::uint64_t>(row[i]), c.request.problem.random.profile,
                         (*table)[i].seed);
  return {};
}

// Every rank has drawn as much from every stream as the first has.
std::string positions_defect(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks) {
  const std::vector<std::int64_t> row = row_of(got, positions_tensor);
  const auto width = static_cast<std::int64_t>(row.size());
  const Tensor size = host_tensor(DType::i64, {1});
  const Tensor smallest = host_tensor(DType::i64, {1});
  *size.data<std::int64_t>() = width;
  ranks.all_reduce(smallest, size, ReduceOp::min);
  if (*smallest.data<std::int64_t>() == 0) return {};
  const Tensor all = host_tensor(DType::i64, {ranks.size() * *smallest.data<std::int64_t>()});
  const Tensor mine = host_tensor(DType::i64, {*smallest.data<std::int64_t>()});
  std::copy_n(row.begin(), mine.count(), mine.data<std::int64_t>());
  ranks.all_gather(all, mine);
  for (std::int64_t r = 0; r < ranks.size(); ++r)
    for (std::int64_t i = 0; i < mine.count(); ++i) {
      const std::int64_t there = all.data<std::int64_t>()[r * mine.count() + i];
      const std::int64_t first = all.data<std::int64_t>()[i];
      if (there != first)
        return fmt::format("{}: stream {} stands at {} after the step, on rank 0 at {}",
                           rank_label(c.request.mesh, static_cast<int>(r)), i, there, first);
    }
  return {};
}

class DropoutJudge {
 public:
  DropoutJudge(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks)
      : case_(c), problem_(c.request.problem), specs_(masks_of(problem_)), got_(got), ranks_(ranks) {}

  Comparison judge() {
    std::string own = defect_here(problem_, specs_, got_);
    if (own.empty()) own = seeds_defect(case_, got_, ranks_.rank());
    masks_ = gather_masks(got_, wanted(), case_.request.mesh, ranks_, own);
    std::string defect = masks_.defect;
    if (defect.empty()) defect = positions_defect(case_, got_, ranks_);
    if (!defect.empty()) return {Verdict::fail, infinity, {}, defect};
    // Relations first: that two ranks share a mask says more than that one of them breaks the rule.
    RelationFindings findings = gathered(relations(), ranks_);
    if (findings.alarm.empty() && problem_.random.profile == "invariant") findings.alarm = rule_defect();
    Comparison comparison;
    comparison.worst_ratio = findings.largest_z / alarm_z;
    comparison.note = summary_of(findings);
    comparison.tests = findings.tests;
    if (!findings.alarm.empty()) {
      comparison.verdict = Verdict::fail;
      comparison.worst_ratio = infinity;
      comparison.message = findings.alarm;
    }
    return comparison;
  }

 private:
  static constexpr const char* steps_[] = {"forward", "next"};

  std::vector<MaskTensor> wanted() const {
    std::vector<MaskTensor> all;
    for (const char* step : steps_)
      for (const MaskSpec& spec : specs_) all.push_back({std::string(step) + "." + spec.name, spec.shape});
    return all;
  }
  const std::vector<HeldMask>& masks(int step, const MaskSpec& spec) const {
    return masks_.by_name.at(std::string(steps_[step]) + "." + spec.name);
  }

  std::string rule_defect() const {
    for (int step = 0; step < 2; ++step)
      for (const MaskSpec& spec : specs_) {
        const std::vector<double> got = assembled(spec.shape, masks(step, spec));
        const std::vector<double> rule = invariant_mask(problem_.seed, spec, step);
        const auto at = std::mismatch(got.begin(), got.end(), rule.begin()).first - got.begin();
        if (at < static_cast<std::ptrdiff_t>(got.size()))
          return fmt::format("{}{} of step {} is {}, where the rule of profile invariant has {}", spec.name,
                             to_string(index_at(spec.shape, at)), step, got[static_cast<std::size_t>(at)],
                             rule[static_cast<std::size_t>(at)]);
      }
    return {};
  }

  RelationFindings relations() const {
    const Randomness& random = problem_.random;
    const MaskTests at_every_lag{random, case_.request.mesh, ranks_.rank(), ranks_.size(), true};
    const MaskTests aligned{random, case_.request.mesh, ranks_.rank(), ranks_.size(), false};
    RelationFindings findings;
    for (const MaskSpec& spec : specs_) {
      add(findings, at_every_lag.site(spec.name, spec.rate, masks(0, spec)));
      RelationFindings later = aligned.site(spec.name + " of the next step", spec.rate, masks(1, spec));
      later.rates.clear();  // as those of the first
      add(findings, later);
      add(findings,
          aligned.successive(spec.name, "the next step", spec.rate, masks(0, spec), masks(1, spec)));
    }
    for (std::size_t i = 0; i < specs_.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (specs_[i].shape == specs_[j].shape && specs_[i].rate == specs_[j].rate)
          add(findings, aligned.successive(specs_[i].name, specs_[j].name, specs_[i].rate,
                                           masks(0, specs_[i]), masks(0, specs_[j])));
    return findings;
  }

  const Case& case_;
  const Problem& problem_;
  std::vector<MaskSpec> specs_;
  const std::vector<LocalTensor>& got_;
  Communicator& ranks_;
  GatheredMasks masks_;
};

}  // namespace

Comparison judge_dropout(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks) {
  return DropoutJudge(c, got, ranks).judge();
}

}  // namespace tpc
