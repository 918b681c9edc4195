// SPDX-License-Identifier: Apache-2.0
// All measurements of a run, on every rank of the world.
#pragma once

#include <functional>
#include <vector>

#include "bench/report/results.hpp"
#include "bench/steps/measure_steps.hpp"
#include "harness/values/implementation.hpp"
#include "reference/comm/mpi/blocking.hpp"

namespace tpc::bench {

// The ranks there are, and what only MPI has.
struct BenchWorld {
  CommunicatorPtr ranks;
  CommunicatorPtr overlapping;  // the same ranks, by calls that return before they are over
  Loop loop;
  // Collective: until all ranks are here, without taking a core from those who are not.
  std::function<void()> rest;
  using Bare = std::function<double(const BareLoop&)>;
  // Collective over the world: a bare loop on the first so many ranks. Empty where there is none.
  std::function<Bare(int ranks)> bare;
  Implementation* outside = nullptr;  // is timed beside the reference
};

struct CampaignSetting {
  enum class What { steps, collectives, gemm } what = What::steps;
  StackShape shape;
  std::vector<Form> forms;
  Pass pass = Pass::step;
  std::vector<int> tp;  // T = 1 comes first by itself
  std::string implementation = "reference";
  int samples = 0;                 // per row; 0: as many as the time allows
  double seconds = 120;            // for all
  std::int64_t largest_bytes = 0;  // of collectives
};

// Throws UsageError where the world has too few ranks, Refusal where something cannot be split: on all ranks
// alike, and before anything is measured.
void check_setting(const CampaignSetting& setting, int ranks);

// Collective over the world. Rank 0 fills `results` and is told after each degree; on other ranks it stays
// empty.
void run_campaign(const CampaignSetting& setting, const BenchWorld& world, Results& results,
                  const std::function<void()>& progress);

// One collective on all ranks of a group, at each size, beside a bare loop where there is one.
std::vector<Row> measure_collectives(const CampaignSetting& setting, Communicator& ranks,
                                     const GroupFacts& facts, const BenchWorld::Bare& bare, const Loop& loop,
                                     double seconds);

// What the rows come to together: fits, predictions beside every step, efficiencies. `shape` as in the
// setting.
void conclude(const CampaignSetting& setting, Results& results);

}  // namespace tpc::bench
