// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/text.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "harness/judge/inputs/inputs.hpp"
#include "reference/core/philox.hpp"

namespace tpc {

namespace {

using Counts = std::map<std::int64_t, std::int64_t>;  // occurrences of each required id

Counts count_required(const IdDemand& demand, std::span<const std::int64_t> ids) {
  Counts counts;
  for (const auto id : demand.required) counts[id] = 0;
  for (const auto id : ids) {
    const auto found = counts.find(id);
    if (found != counts.end()) ++found->second;
  }
  return counts;
}

bool repeats(std::span<const std::int64_t> ids) {
  return std::set<std::int64_t>(ids.begin(), ids.end()).size() < ids.size();
}

// Whether the element may be replaced: it is no required id, or occurs elsewhere too.
bool is_spare(const Counts& counts, std::int64_t id) {
  const auto found = counts.find(id);
  return found == counts.end() || found->second > 1;
}

std::string list_of(const std::vector<std::int64_t>& ids) {
  std::string text;
  for (std::size_t i = 0; i < ids.size() && i < 4; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ids[i]);
  return ids.size() > 4 ? fmt::format("{} and {} more", text, ids.size() - 4) : text;
}

std::string uncovered(const IdDemand& demand, const std::string& what, std::span<const std::int64_t> ids) {
  std::vector<std::int64_t> missing;
  for (const auto& [id, count] : count_required(demand, ids))
    if (count == 0) missing.push_back(id);
  if (missing.empty()) return {};
  return fmt::format("the {} tokens of '{}' do not hold the ids {}", ids.size(), what, list_of(missing));
}

std::vector<std::int64_t> whole_ids(const Problem& problem, const InputSpec& input) {
  const std::vector<double> drawn = draw_rounded(problem, input);
  return {drawn.begin(), drawn.end()};
}

}  // namespace

std::vector<std::uint64_t> word_hashes(const std::string& path) {
  const auto unreadable = [&] { return UsageError(fmt::format("cannot read the text '{}'", path)); };
  if (std::filesystem::is_directory(path)) throw unreadable();
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) throw unreadable();
  std::vector<std::uint64_t> hashes;
  constexpr std::string_view white_space = " \t\n\v\f\r";
  for (std::size_t begin = text.find_first_not_of(white_space); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(white_space, begin), text.size());
    hashes.push_back(hash_name(std::string_view(text).substr(begin, end - begin)));
    begin = text.find_first_not_of(white_space, end);
  }
  if (hashes.empty()) throw UsageError(fmt::format("the text '{}' has no words", path));
  return hashes;
}

IdDemand id_demand(const Generator& generator) {
  IdDemand demand;
  demand.vocab = static_cast<std::int64_t>(generator.a);
  const auto shards = static_cast<std::int64_t>(generator.b);
  TPC_EXPECT(demand.vocab >= 1 && shards >= 0, "ids below {} that cover {} shards", generator.a, generator.b);
  const std::int64_t rows = std::max<std::int64_t>(demand.vocab, generator.exponent);
  std::set<std::int64_t> seen;
  const auto require = [&](std::int64_t id) {
    if (id >= 0 && id < demand.vocab && seen.insert(id).second) demand.required.push_back(id);
  };
  require(demand.vocab - 1);
  for (std::int64_t d = 1; d <= shards; ++d) {
    if (shards % d != 0) continue;
    const std::int64_t height = (rows + d - 1) / d;
    for (std::int64_t first = 0; first < demand.vocab; first += height) {
      require(first);
      require(std::min(first + height, demand.vocab) - 1);
    }
  }
  return demand;
}

void place_required(const IdDemand& demand, std::vector<std::int64_t>& stream) {
  if (stream.size() < 3) return;
  const std::span<const std::int64_t> inner(stream.begin() + 1, stream.end() - 1);
  const std::size_t places = inner.size();
  std::set<std::size_t> taken;
  if (!repeats(inner) && places > 1) {
    stream[places] = stream[1];
    taken = {1, places};
  }
  Counts counts = count_required(demand, inner);
  std::size_t missing = 0;
  for (const auto& entry : counts) missing += entry.second == 0 ? 1 : 0;
  std::size_t placed = 0;
  for (const auto id : demand.required) {
    if (counts.at(id) > 0) continue;
    const std::size_t start = placed++ * places / std::max<std::size_t>(1, missing);
    for (std::size_t step = 0; step < places; ++step) {
      const std::size_t at = 1 + (start + step) % places;
      if (taken.contains(at) || !is_spare(counts, stream[at])) continue;
      if (counts.contains(stream[at])) --counts[stream[at]];
      stream[at] = id;
      counts[id] = 1;
      taken.insert(at);
      break;
    }
  }
}

void ignore_some(const IdDemand& demand, const Problem& problem, const InputSpec& input,
                 std::vector<std::int64_t>& targets) {
  const double share = input.generator.c;
  if (share <= 0 || targets.empty()) return;
  const auto n = static_cast<double>(targets.size());
  auto wanted =
      std::clamp<std::int64_t>(std::llround(share * n), 1, static_cast<std::int64_t>(targets.size()));
  // Weighted drawing without replacement: the smallest of (uniform / weight) win.
  std::vector<std::pair<double, std::size_t>> order;
  const std::uint64_t stream = hash_name("ignored", hash_name(input.name));
  for (std::size_t i = 0; i < targets.size(); ++i)
    order.emplace_back((1 + uniform(philox(problem.seed, i, stream)) * 0x1p32) / static_cast<double>(i + 1),
                       i);
  std::sort(order.begin(), order.end());
  constexpr double of_a_prompt = 0.5;
  if (share >= of_a_prompt)
    std::stable_partition(order.begin(), order.end(), [](const auto& entry) { return entry.second == 0; });
  Counts counts = count_required(demand, targets);
  const std::int64_t ignored = problem.model.loss.ignore_index;
  for (const bool spare_only : {true, false}) {
    for (const auto& entry : order) {
      std::int64_t& target = targets[entry.second];
      if (wanted == 0 || target == ignored || (spare_only && !is_spare(counts, target))) continue;
      if (counts.contains(target)) --counts[target];
      target = ignored;
      --wanted;
    }
  }
}

std::string missing_coverage(const Problem& problem, const std::string& ids, const std::string& targets) {
  const InputSpec& id_input = input_named(problem, ids);
  const InputSpec& target_input = input_named(problem, targets);
  const std::vector<std::int64_t> id_values = whole_ids(problem, id_input);
  const std::vector<std::int64_t> target_values = whole_ids(problem, target_input);
  std::string missing = uncovered(id_demand(id_input.generator), ids, id_values);
  if (missing.empty()) missing = uncovered(id_demand(target_input.generator), targets, target_values);
  if (!missing.empty()) return missing + "; take a longer --seq or a larger --batch";
  if (!repeats(id_values)) return fmt::format("no id of '{}' repeats", ids);
  const auto ignored =
      std::count(target_values.begin(), target_values.end(), problem.model.loss.ignore_index);
  if (target_input.generator.c > 0 && ignored == 0)
    return fmt::format("no target of '{}' is ignored", targets);
  return {};
}

}  // namespace tpc
