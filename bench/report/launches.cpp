// SPDX-License-Identifier: Apache-2.0
#include "bench/report/launches.hpp"

#include <algorithm>
#include <iterator>

namespace tpc::bench {

namespace {

template <class Item>
void append(std::vector<Item>& to, const std::vector<Item>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

void append(Series& to, const Series& more) {
  if (to.launches.empty()) to.launches.push_back(static_cast<int>(to.slowest.size()));
  if (more.launches.empty())
    to.launches.push_back(static_cast<int>(more.slowest.size()));
  else
    append(to.launches, more.launches);
  append(to.slowest, more.slowest);
  append(to.rounds, more.rounds);
  to.by_rank.resize(std::max(to.by_rank.size(), more.by_rank.size()));
  for (std::size_t rank = 0; rank < more.by_rank.size(); ++rank) append(to.by_rank[rank], more.by_rank[rank]);
}

void add_figures(std::map<std::string, double>& to, const std::map<std::string, double>& more) {
  for (const auto& [name, value] : more) to[name] += value;
}

void append(Row& to, const Row& launch) {
  if (to.status == "fail") return;
  if (launch.status == "fail") {
    to.status = launch.status;
    to.reason = launch.reason;
  }
  if (launch.series.slowest.empty()) return;
  append(to.series, launch.series);
  add_figures(to.figures, launch.figures);
}

void settle(Row& row) {
  const bool failed = row.status == "fail";
  const auto count = static_cast<double>(std::max<std::size_t>(1, row.series.launches.size()));
  for (auto& [name, value] : row.figures) value /= count;
  if (failed) return;
  row.status = "ok";
  summarise(row);
}

void note_difference(Fingerprint& first, const std::vector<Fingerprint>& later) {
  for (const Fingerprint& print : later)
    if (print.what == first.what) first.agreed = first.agreed && print.agreed && print.bits == first.bits;
}

}  // namespace

Results merged(const std::vector<Results>& launches) {
  TPC_EXPECT(!launches.empty(), "no launch to merge");
  Results all = launches.front();
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < all.rows.size(); ++i) places[key(all.rows[i])] = i;
  for (std::size_t l = 1; l < launches.size(); ++l) {
    for (const Row& row : launches[l].rows) {
      const auto [place, is_new] = places.try_emplace(key(row), all.rows.size());
      if (is_new)
        all.rows.push_back(row);
      else
        append(all.rows[place->second], row);
    }
    for (Fingerprint& print : all.fingerprints) note_difference(print, launches[l].fingerprints);
    all.run.ended = launches[l].run.ended;
  }
  if (launches.size() > 1)
    for (Row& row : all.rows) settle(row);
  return all;
}

}  // namespace tpc::bench
