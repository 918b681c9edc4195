// SPDX-License-Identifier: Apache-2.0
#include "bench/campaign/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

#include "bench/measure/transport.hpp"
#include "bench/measure/yardstick.hpp"
#include "bench/steps/outside_step.hpp"
#include "harness/run/implementations.hpp"
#include "harness/values/machine/machine.hpp"
#include "reference/tensor_parallel/requirements.hpp"

namespace tpc::bench {

namespace {

std::vector<int> degrees(const CampaignSetting& setting) {
  std::vector<int> all = {1};
  for (const int tp : setting.tp)
    if (tp > 1) all.push_back(tp);
  if (setting.what == CampaignSetting::What::collectives) all.erase(all.begin());
  return all;
}

// The first ranks of the world, for one degree; nothing on the others.
CommunicatorPtr first_ranks(Communicator& world, int count) {
  std::vector<int> members(static_cast<std::size_t>(count));
  std::iota(members.begin(), members.end(), 0);
  if (world.rank() < count) return world.subgroup(members, fmt::format("first{}", count));
  return world.subgroup({}, "none");
}

struct Share {
  double steps = 0;
  double collectives = 0;
};

// Of what is left of the time, for the next of so many groups: what took longer than planned (the baseline, a
// busy machine) is taken from those to come.
Share share_of(const CampaignSetting& setting, double spent_s, std::size_t groups) {
  constexpr double least = 0.1;
  const double left = std::max(least * setting.seconds, setting.seconds - spent_s);
  const double all = left / static_cast<double>(std::max<std::size_t>(1, groups));
  switch (setting.what) {
    case CampaignSetting::What::collectives:
      return {0, all};
    case CampaignSetting::What::gemm:
      return {all, 0};
    case CampaignSetting::What::steps:
      break;
  }
  constexpr double for_steps = 0.6;
  return {for_steps * all, (1 - for_steps) * all};
}

// What one group of ranks measures.
class GroupRun {
 public:
  GroupRun(const CampaignSetting& setting, const BenchWorld& world, CommunicatorPtr ranks,
           CommunicatorPtr overlapping)
      : setting_(setting),
        world_(world),
        ranks_(std::move(ranks)),
        overlapping_(std::move(overlapping)),
        compute_(make_host_compute()) {
    const RankPlaces places = places_of(*ranks_);
    facts_ = {places.transport, places.hosts, places.most_on_a_machine > usable_cores()};
  }

  std::vector<Row> rows(const Share& share, const BenchWorld::Bare& bare,
                        const std::vector<Signatures>& references) {
    std::vector<Row> all;
    const auto add = [&](std::vector<Row> more) {
      std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    const Series before = yardstick();
    if (share.steps > 0) {
      const StepSetting steps = step_setting(share.steps, references);
      add(setting_.what == CampaignSetting::What::gemm ? measure_products(steps, ranks_, *compute_, facts_)
                                                       : measure_steps(steps, ranks_, *compute_, facts_));
    }
    if (share.collectives > 0 && ranks_->size() > 1)
      add(measure_collectives(setting_, *ranks_, facts_, bare, world_.loop, share.collectives));
    all.push_back(yardstick_row(before, yardstick()));
    return all;
  }

  const GroupFacts& facts() const { return facts_; }

  std::vector<Fingerprint> fingerprints() const {
    return ranks_->size() > 1 ? reduction_fingerprints(*ranks_) : std::vector<Fingerprint>();
  }

 private:
  Series yardstick() const {
    const Plan plan{.rounds = 3, .samples = 24};
    return measure(*ranks_, {yardstick_subject()}, plan, world_.loop).front();
  }

  // From the beginning and the end of what this group measures.
  Row yardstick_row(const Series& before, const Series& after) const {
    Row row;
    row.kind = "yardstick";
    row.op = "xorshift";
    row.tp = ranks_->size();
    row.hosts = facts_.hosts;
    row.oversubscribed = facts_.oversubscribed;
    row.series = before;
    row.series.slowest.insert(row.series.slowest.end(), after.slowest.begin(), after.slowest.end());
    row.series.rounds.insert(row.series.rounds.end(), after.rounds.begin(), after.rounds.end());
    row.series.by_rank.clear();  // of two series with different calls per sample
    summarise(row);
    return row;
  }

  StepSetting step_setting(double seconds, const std::vector<Signatures>& references) const {
    StepSetting steps;
    steps.shape = setting_.shape;
    steps.forms = setting_.forms;
    steps.overlapping = overlapping_;
    steps.pass = setting_.pass;
    steps.implementation = setting_.implementation;
    steps.references = &references;
    steps.plan = {.samples = setting_.samples, .seconds = seconds};
    steps.loop = world_.loop;
    return steps;
  }

  const CampaignSetting& setting_;
  const BenchWorld& world_;
  CommunicatorPtr ranks_;
  CommunicatorPtr overlapping_;
  std::unique_ptr<Compute> compute_;
  GroupFacts facts_;
};

// An outside implementation's layer, on the first `tp` ranks of the world, all of which call this.
std::vector<Row> outside_rows(OutsideSteps& outside, const CampaignSetting& setting,
                              const CommunicatorPtr& group, int tp, const GroupFacts& facts, double seconds) {
  StepSetting steps;
  steps.shape = setting.shape;
  steps.forms = setting.forms;
  steps.pass = setting.pass;
  steps.plan = {.samples = setting.samples, .seconds = seconds};
  return outside.measure(steps, group, tp, facts);
}

// Each solved by a rank while those without one rest, known to all afterwards. Too large to solve: nobody
// knows.
std::vector<Signatures> references_for(const CampaignSetting& setting, const BenchWorld& world) {
  constexpr double affordable_flops = 4e11;
  std::vector<Signatures> references;
  if (setting.what != CampaignSetting::What::steps || baseline_flops(setting.shape) > affordable_flops)
    return references;
  references.resize(LayerStack::slots);
  const auto solver = [&](int slot) { return slot % world.ranks->size(); };
  for (int slot = 0; slot < LayerStack::slots; ++slot)
    if (world.ranks->rank() == solver(slot))
      references[static_cast<std::size_t>(slot)] = baseline_signatures(setting.shape, slot);
  world.rest();
  for (int slot = 0; slot < LayerStack::slots; ++slot)
    share(*world.ranks, references[static_cast<std::size_t>(slot)], solver(slot));
  return references;
}

}  // namespace

void check_setting(const CampaignSetting& setting, int ranks) {
  if (degrees(setting).empty())
    throw UsageError(
        "--tp 1: a collective on one rank moves nothing, so it has no bus bandwidth; give 2 or more");
  for (const int tp : degrees(setting)) {
    if (tp > ranks)
      throw UsageError(
          fmt::format("T = {} needs {} ranks, there are {}; start with mpirun -np {}, or without mpirun", tp,
                      tp, ranks, tp));
    if (setting.what == CampaignSetting::What::collectives) continue;
    for (const Form& form : setting.forms)
      require_splittable(Operation::transformer_layer, setting.shape.model,
                         {.sequence_parallel = form.sequence_parallel, .overlap_chunks = form.overlap_chunks},
                         setting.shape.sequence, tp);
  }
  planted_in(setting.implementation);
}

void run_campaign(const CampaignSetting& setting, const BenchWorld& world, Results& results,
                  const std::function<void()>& progress) {
  const auto start = std::chrono::steady_clock::now();
  check_setting(setting, world.ranks->size());
  const std::vector<Signatures> references = references_for(setting, world);
  std::optional<OutsideSteps> outside;
  if (world.outside != nullptr) outside.emplace(*world.outside, *world.ranks, world.rest);
  const std::vector<int> all = degrees(setting);
  std::size_t groups_left = all.size();
  for (const int tp : all) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    Share share = share_of(setting, largest(*world.ranks, spent.count()), groups_left--);
    const double outsides = outside ? share.steps / 2 : 0;
    share.steps -= outsides;
    const CommunicatorPtr group = first_ranks(*world.ranks, tp);
    const CommunicatorPtr overlapping = world.overlapping ? first_ranks(*world.overlapping, tp) : nullptr;
    const bool with_bare = setting.what == CampaignSetting::What::collectives && world.bare;
    const BenchWorld::Bare bare = with_bare ? world.bare(tp) : nullptr;
    std::vector<Row> rows;
    std::vector<Fingerprint> prints;
    GroupFacts facts;
    if (group) {
      GroupRun run(setting, world, group, overlapping);
      facts = run.facts();
      rows = run.rows(share, bare, references);
      prints = run.fingerprints();
    }
    world.rest();
    if (outside)
      for (Row& row : outside_rows(*outside, setting, group, tp, facts, outsides))
        rows.push_back(std::move(row));
    if (world.ranks->rank() != 0) continue;
    std::move(rows.begin(), rows.end(), std::back_inserter(results.rows));
    results.fingerprints.insert(results.fingerprints.end(), prints.begin(), prints.end());
    progress();
  }
}

}  // namespace tpc::bench
