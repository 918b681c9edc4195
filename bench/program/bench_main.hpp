// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/campaign/campaign.hpp"
#include "bench/program/options.hpp"

namespace tpc::bench {

// tp_bench from its arguments to its exit code.
int bench_main(int argc, char** argv);

// The model that the options describe, with the sizes that are given. Throws UsageError.
StackShape shape_of(const BenchOptions& options);
CampaignSetting setting_of(const BenchOptions& options);

// Without mpirun: starts the ranks `launches` times, merges what they measured, and rates it where a baseline
// was given.
int measure_in_launches(const BenchOptions& options, const Arguments& arguments);

// What needs no ranks.
int rate_files(const BenchOptions& options);
int validate(const BenchOptions& options);
int predict(const BenchOptions& options);

// What every rank runs; returns the code that all agree on.
int run_on_ranks(const BenchOptions& options, const BenchWorld& world, const std::string& mpi_library,
                 const std::string& command);

}  // namespace tpc::bench
