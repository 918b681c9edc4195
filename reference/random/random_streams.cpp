// SPDX-License-Identifier: Apache-2.0
#include "reference/random/random_streams.hpp"

#include "reference/random/profiles.hpp"

namespace tpc {

namespace {

struct RandomProfile {
  std::string_view name;
  std::unique_ptr<RandomStreams> (*make)(const StreamSetup&);
};
constexpr RandomProfile profile_table[] = {{"invariant", make_invariant_streams},
                                           {"megatron", make_megatron_streams},
                                           {"dtensor", make_dtensor_streams}};

}  // namespace

std::vector<std::string_view> random_profiles() {
  std::vector<std::string_view> names;
  for (const RandomProfile& profile : profile_table) names.push_back(profile.name);
  return names;
}

std::unique_ptr<RandomStreams> make_random_streams(std::string_view profile, const StreamSetup& setup) {
  for (const RandomProfile& known : profile_table)
    if (known.name == profile) return known.make(setup);
  std::string names;
  for (const RandomProfile& known : profile_table) names.append(names.empty() ? "" : ", ").append(known.name);
  throw UsageError(fmt::format("no random profile '{}': there are {}", profile, names));
}

StreamSetup stream_setup(std::uint64_t seed, const DeviceMesh& mesh, bool seed_by_data_parallel_rank) {
  const auto coordinate = [&](const char* axis) { return mesh.has(axis) ? mesh.coordinate(axis) : 0; };
  StreamSetup setup{seed, coordinate("pp"), 0, coordinate("tp"), seed_by_data_parallel_rank};
  for (const char* axis : {"dp", "dp_replicate", "dp_shard"})
    if (mesh.has(axis)) setup.dp = setup.dp * mesh.size(axis) + mesh.coordinate(axis);
  return setup;
}

void expect_same_names(const StreamState& restored, const StreamState& mine) {
  bool same = restored.size() == mine.size();
  for (std::size_t i = 0; same && i < mine.size(); ++i) same = restored[i].name == mine[i].name;
  TPC_EXPECT(same, "a state of {} streams, of which the first is '{}', restored into {} streams",
             restored.size(), restored.empty() ? "" : restored.front().name, mine.size());
}

}  // namespace tpc
