// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "bench/measure/texts.hpp"
#include "bench/program/bench_main.hpp"
#include "bench/program/first_rank.hpp"
#include "bench/program/present.hpp"
#include "bench/report/tables.hpp"
#include "harness/run/implementations.hpp"
#include "harness/values/machine/machine.hpp"
#include "harness/values/machine/private_folder.hpp"

namespace tpc::bench {

namespace {

std::vector<RankDevice> devices_of(Communicator& ranks) {
  const auto hosts = all_texts(ranks, host_name());
  const auto processes = all_texts(ranks, std::to_string(::getpid()));
  std::vector<RankDevice> devices;
  for (std::size_t r = 0; r < hosts.size(); ++r)
    devices.push_back({static_cast<int>(r), hosts[r], std::stoi(processes[r]), "host"});
  return devices;
}

// An outside implementation in a folder that all ranks share, and that goes with rank 0's.
class Outside {
 public:
  Outside(const BenchOptions& options, Communicator& ranks) {
    if (!is_outside_process(options.implementation)) return;
    constexpr std::chrono::seconds patience{300};  // large layers, many samples
    RankPlace place{ranks.rank(), ranks.size()};
    place.deadline = patience;
    on_first_rank(ranks, [&] { folder_ = std::make_unique<PrivateFolder>(); });
    place.folder = all_texts(ranks, folder_ ? folder_->path().string() : "").front();
    implementation_ = make_implementation(options.implementation, place);
  }
  Implementation* get() const { return implementation_.get(); }

 private:
  std::unique_ptr<PrivateFolder> folder_;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace

int run_on_ranks(const BenchOptions& options, const BenchWorld& mpi_world, const std::string& mpi_library,
                 const std::string& command) {
  const CampaignSetting setting = setting_of(options);
  const Outside outside(options, *mpi_world.ranks);
  BenchWorld world = mpi_world;
  world.outside = outside.get();
  check_setting(setting, world.ranks->size());
  Outputs outputs{""};
  on_first_rank(*world.ranks, [&] { outputs = Outputs(options.out); });
  Results results;
  results.run = describe_run(command, mpi_library);
  results.run.provenance.ranks = world.ranks->size();
  results.run.provenance.implementation = options.implementation;
  results.run.devices = devices_of(*world.ranks);
  const bool speaks = world.ranks->rank() == 0;
  if (speaks && !options.part) fmt::print("{}", headline(results));
  run_campaign(setting, world, results, [&] { outputs.write_journal(results); });
  if (world.outside != nullptr && speaks) results.run.provenance.implementation = world.outside->identity();
  int code = 0;
  on_first_rank(*world.ranks, [&] {
    conclude(setting, results);
    refuse_impossible(results, limits_of(options));
    results.run.ended = utc_now();
    if (options.part)
      outputs.write_journal(results);
    else
      code = present(options, results, outputs);
  });
  return static_cast<int>(largest(*world.ranks, code));
}

}  // namespace tpc::bench
