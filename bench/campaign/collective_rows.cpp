// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "bench/campaign/campaign.hpp"
#include "bench/cost_model/wire.hpp"

namespace tpc::bench {

namespace {

// As many elements as a payload has, and at least one per rank where the call cuts it.
std::int64_t elements(CollectiveKind kind, std::int64_t bytes, DType dtype, int ranks) {
  const std::int64_t count = std::max<std::int64_t>(1, bytes / static_cast<std::int64_t>(size_of(dtype)));
  if (kind == CollectiveKind::all_reduce) return count;
  return std::max<std::int64_t>(1, count / ranks) * ranks;
}

Row collective_row(const CampaignSetting& setting, Communicator& ranks, const GroupFacts& facts,
                   CollectiveKind kind, std::int64_t count) {
  Row row;
  row.kind = "collective";
  row.op = tpc::name(kind);
  row.dtype = tpc::name(setting.shape.dtype);
  row.implementation = setting.implementation;
  row.transport = facts.transport;
  row.hosts = facts.hosts;
  row.oversubscribed = facts.oversubscribed;
  row.tp = ranks.size();
  row.payload_bytes = count * static_cast<std::int64_t>(size_of(setting.shape.dtype));
  return row;
}

// A bare loop of the same collective on the same buffers: others would lie elsewhere in caches and pages,
// which tells by a tenth and more.
std::function<double(int)> bare_rival(const TimedCollective& timed, CollectiveKind kind,
                                      const BenchWorld::Bare& bare) {
  BareLoop loop{.kind = kind, .in = timed.in, .out = timed.out};
  return [loop, bare](int calls) mutable {
    loop.calls = calls;
    return bare(loop);
  };
}

// Of pairs that were measured one after the other: what drifts is in both.
void add_rival_figures(Row& row) {
  const Series& series = row.series;
  std::vector<double> share;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < series.rival.size(); ++i) {
    share.push_back(series.slowest[i] / series.rival[i] - 1);
    seconds.push_back(series.slowest[i] - series.rival[i]);
  }
  row.figures["bare_median_s"] = median(series.rival);
  row.figures["beyond_bare_s"] = median(seconds);
  row.figures["beyond_bare_share"] = median(share);
}

Row rival_row(const Row& ours) {
  Row row = ours;
  row.kind = "bare_collective";
  row.implementation = "";
  row.series.by_rank.clear();  // the bare loop keeps the slowest alone
  row.series.slowest = std::move(row.series.rival);
  row.series.rival.clear();
  return row;
}

Row finished(Row row) {
  summarise(row);
  const auto payload = static_cast<double>(row.payload_bytes);
  const auto kind = std::find_if(std::begin(timed_collectives), std::end(timed_collectives),
                                 [&](CollectiveKind k) { return tpc::name(k) == row.op; });
  TPC_EXPECT(kind != std::end(timed_collectives), "{} is not timed", row.op);
  row.figures["ring_wire_bytes"] = wire_bytes(*kind, Algorithm::ring, row.tp, payload);
  row.figures["bus_bandwidth_gb_per_s"] = bus_bandwidth(*kind, row.tp, payload, row.seconds.median) / 1e9;
  row.figures["same_same_band"] = spread(equal_medians(row));
  if (!row.series.rival.empty()) add_rival_figures(row);
  return row;
}

}  // namespace

std::vector<Row> measure_collectives(const CampaignSetting& setting, Communicator& ranks,
                                     const GroupFacts& facts, const BenchWorld::Bare& bare, const Loop& loop,
                                     double seconds) {
  const DType dtype = setting.shape.dtype;
  const std::vector<std::int64_t> sizes = collective_sizes(setting.largest_bytes);
  const double each = seconds / static_cast<double>(sizes.size() * std::size(timed_collectives));
  Plan plan{.samples = setting.samples, .seconds = each};
  if (bare) plan.least_sample_s = 200e-6;  // so that how the ranks left the barrier tells in neither
  const Planted planted = planted_in(setting.implementation);
  const Tampering tampering{.wrong = planted.wrong, .slow = planted.slow, .drag = planted.drag};
  CommunicationLog log;
  const CommunicatorPtr watched = make_logged_communicator({std::shared_ptr<void>(), &ranks}, log, tampering);
  std::vector<Row> rows;
  std::set<std::pair<CollectiveKind, std::int64_t>> measured;
  for (const std::int64_t bytes : sizes) {  // one size at a time: the buffers of all would not fit
    std::vector<Row> of_size;
    std::vector<Subject> subjects;
    for (const CollectiveKind kind : timed_collectives) {
      const std::int64_t count = elements(kind, bytes, dtype, ranks.size());
      if (!measured.insert({kind, count}).second) continue;  // small sizes grow to an element per rank
      Communicator& called = setting.implementation == "reference" ? ranks : *watched;
      const TimedCollective timed = timed_collective(called, kind, dtype, count);
      of_size.push_back(collective_row(setting, ranks, facts, kind, count));
      subjects.push_back(timed.subject);
      if (bare) subjects.back().rival = bare_rival(timed, kind, bare);
    }
    std::vector<Series> series = measure(ranks, subjects, plan, loop);
    for (std::size_t i = 0; i < of_size.size(); ++i) {
      Row& row = of_size[i];
      row.series = std::move(series[i]);
      if (!row.series.rival.empty()) rows.push_back(finished(rival_row(row)));
      rows.push_back(finished(std::move(row)));
    }
  }
  return rows;
}

}  // namespace tpc::bench
