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

struct Pair {
  Row row;
  Subject subject;
};

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

// A bare loop of the same collective on the same buffers, as a subject that is interleaved with ours.
Pair bare_pair(const Row& ours, const TimedCollective& timed, CollectiveKind kind,
               const BenchWorld::Bare& bare) {
  Pair pair{ours, {}};
  pair.row.kind = "bare_collective";
  pair.row.implementation = "";
  pair.subject.name = "bare_" + timed.subject.name;
  BareLoop loop{kind, timed.in, timed.out, 1, 1};
  pair.subject.own_loop = [loop, bare](int samples, int calls) mutable {
    loop.samples = samples;
    loop.calls = calls;
    return bare(loop);
  };
  return pair;
}

void add_figures(Row& row) {
  const auto payload = static_cast<double>(row.payload_bytes);
  const auto kind = std::find_if(std::begin(timed_collectives), std::end(timed_collectives),
                                 [&](CollectiveKind k) { return tpc::name(k) == row.op; });
  TPC_EXPECT(kind != std::end(timed_collectives), "{} is not timed", row.op);
  row.figures["ring_wire_bytes"] = wire_bytes(*kind, Algorithm::ring, row.tp, payload);
  row.figures["bus_bandwidth_gb_per_s"] = bus_bandwidth(*kind, row.tp, payload, row.seconds.median) / 1e9;
  row.figures["same_same_band"] = same_same_band(row.series.by_round());
}

}  // namespace

std::vector<Row> measure_collectives(const CampaignSetting& setting, Communicator& ranks,
                                     const GroupFacts& facts, const BenchWorld::Bare& bare, const Loop& loop,
                                     double seconds) {
  const DType dtype = setting.shape.dtype;
  const std::vector<std::int64_t> sizes = collective_sizes(setting.largest_bytes);
  const double each =
      seconds / static_cast<double>(sizes.size() * std::size(timed_collectives) * (bare ? 2 : 1));
  const Plan plan{.samples = setting.samples, .seconds = each};
  const Planted planted = planted_in(setting.implementation);
  const Tampering tampering{.wrong = planted.wrong, .slow = planted.slow, .drag = planted.drag};
  CommunicationLog log;
  const CommunicatorPtr watched = make_logged_communicator({std::shared_ptr<void>(), &ranks}, log, tampering);
  std::vector<Row> rows;
  std::set<std::pair<CollectiveKind, std::int64_t>> measured;
  for (const std::int64_t bytes : sizes) {  // one size at a time: the buffers of all would not fit
    std::vector<Pair> pairs;
    for (const CollectiveKind kind : timed_collectives) {
      const std::int64_t count = elements(kind, bytes, dtype, ranks.size());
      if (!measured.insert({kind, count}).second) continue;  // small sizes grow to an element per rank
      Communicator& called = setting.implementation == "reference" ? ranks : *watched;
      TimedCollective timed = timed_collective(called, kind, dtype, count);
      pairs.push_back({collective_row(setting, ranks, facts, kind, count), timed.subject});
      if (bare) pairs.push_back(bare_pair(pairs.back().row, timed, kind, bare));
    }
    std::vector<Subject> subjects;
    for (const Pair& pair : pairs) subjects.push_back(pair.subject);
    std::vector<Series> series = measure(ranks, subjects, plan, loop);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      pairs[i].row.series = std::move(series[i]);
      summarise(pairs[i].row);
      add_figures(pairs[i].row);
      rows.push_back(std::move(pairs[i].row));
    }
  }
  return rows;
}

}  // namespace tpc::bench
