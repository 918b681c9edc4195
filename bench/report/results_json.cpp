// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/report/results.hpp"

namespace tpc::bench {

namespace {

using nlohmann::json;
constexpr const char* schema = "tp_bench.results";

json json_of(const Provenance& p) {
  return {{"version", p.version}, {"commit", p.commit},
          {"dirty", p.dirty},     {"compiler", p.compiler},
          {"mpi", p.mpi},         {"blas", p.blas},
          {"onednn", p.onednn},   {"host", p.host},
          {"started", p.started}, {"command", p.command},
          {"ranks", p.ranks},     {"cores", p.cores},
          {"seed", p.seed},       {"implementation", p.implementation}};
}

Provenance provenance_of(const json& j) {
  Provenance p;
  p.version = j.at("version");
  p.commit = j.at("commit");
  p.dirty = j.at("dirty");
  p.compiler = j.at("compiler");
  p.mpi = j.at("mpi");
  p.blas = j.at("blas");
  p.onednn = j.at("onednn");
  p.host = j.at("host");
  p.started = j.at("started");
  p.command = j.at("command");
  p.ranks = j.at("ranks");
  p.cores = j.at("cores");
  p.seed = j.at("seed");
  p.implementation = j.at("implementation");
  return p;
}

json json_of(const RunInfo& run) {
  json devices = json::array();
  for (const RankDevice& d : run.devices)
    devices.push_back({{"rank", d.rank}, {"host", d.host}, {"process", d.process}, {"device", d.device}});
  return {{"id", run.id},
          {"ended", run.ended},
          {"complete", !run.ended.empty()},
          {"cpu", run.cpu},
          {"kernel", run.kernel},
          {"gpu", run.gpu},
          {"nccl", run.nccl},
          {"driver", run.driver},
          {"environment", run.environment},
          {"devices", devices},
          {"hardware_key", hardware_key(run)},
          {"provenance", json_of(run.provenance)}};
}

RunInfo run_of(const json& j) {
  RunInfo run;
  run.id = j.at("id");
  run.ended = j.at("ended");
  run.cpu = j.at("cpu");
  run.kernel = j.at("kernel");
  run.gpu = j.at("gpu");
  run.nccl = j.at("nccl");
  run.driver = j.at("driver");
  run.environment = j.at("environment").get<std::map<std::string, std::string>>();
  run.provenance = provenance_of(j.at("provenance"));
  for (const json& d : j.at("devices"))
    run.devices.push_back({d.at("rank"), d.at("host"), d.at("process"), d.at("device")});
  return run;
}

json json_of(const Row& row) {
  return {{"key", key(row)},
          {"kind", row.kind},
          {"op", row.op},
          {"pass", row.pass},
          {"dtype", row.dtype},
          {"sequence_parallel", row.sequence_parallel},
          {"implementation", row.implementation},
          {"transport", row.transport},
          {"tp", row.tp},
          {"hosts", row.hosts},
          {"layers", row.layers},
          {"batch", row.batch},
          {"sequence", row.sequence},
          {"hidden", row.hidden},
          {"payload_bytes", row.payload_bytes},
          {"status", row.status},
          {"reason", row.reason},
          {"oversubscribed", row.oversubscribed},
          {"calls_per_sample", row.series.calls},
          {"samples_of_rounds", row.series.rounds},
          {"samples_of_launches", row.series.launches},
          {"slowest_rank_s", row.series.slowest},
          {"by_rank_s", row.series.by_rank},
          {"steady_from", row.seconds.steady_from},
          {"median_s", row.seconds.median},
          {"p5_s", row.seconds.p5},
          {"p95_s", row.seconds.p95},
          {"figures", row.figures}};
}

Row row_of(const json& j) {
  Row row;
  row.kind = j.at("kind");
  row.op = j.at("op");
  row.pass = j.at("pass");
  row.dtype = j.at("dtype");
  row.sequence_parallel = j.at("sequence_parallel");
  row.implementation = j.at("implementation");
  row.transport = j.at("transport");
  row.tp = j.at("tp");
  row.hosts = j.at("hosts");
  row.layers = j.at("layers");
  row.batch = j.at("batch");
  row.sequence = j.at("sequence");
  row.hidden = j.at("hidden");
  row.payload_bytes = j.at("payload_bytes");
  row.status = j.at("status");
  row.reason = j.at("reason");
  row.oversubscribed = j.at("oversubscribed");
  row.series.calls = j.at("calls_per_sample");
  row.series.rounds = j.at("samples_of_rounds").get<std::vector<int>>();
  row.series.launches = j.at("samples_of_launches").get<std::vector<int>>();
  row.series.slowest = j.at("slowest_rank_s").get<std::vector<double>>();
  row.series.by_rank = j.at("by_rank_s").get<std::vector<std::vector<double>>>();
  row.seconds = {j.at("steady_from"), j.at("median_s"), j.at("p5_s"), j.at("p95_s")};
  row.figures = j.at("figures").get<std::map<std::string, double>>();
  return row;
}

json json_of(const FittedCollective& fit) {
  json pieces = json::array();
  for (const auto& piece : fit.line.pieces()) {
    json up_to;  // null for the last piece: JSON has no infinity
    if (piece.up_to_bytes < std::numeric_limits<double>::infinity()) up_to = piece.up_to_bytes;
    pieces.push_back(
        {{"up_to_bytes", up_to}, {"alpha_s", piece.line.alpha_s}, {"s_per_byte", piece.line.s_per_byte}});
  }
  return {{"collective", tpc::name(fit.kind)}, {"ranks", fit.ranks},
          {"transport", fit.transport},        {"pieces", pieces},
          {"mean_error", fit.mean_error},      {"max_error", fit.max_error}};
}

CollectiveKind collective_named(const std::string& text) {
  for (const CollectiveKind kind : timed_collectives)
    if (tpc::name(kind) == text) return kind;
  throw UsageError(fmt::format("unknown collective '{}'", text));
}

FittedCollective fit_of(const json& j) {
  FittedCollective fit;
  fit.kind = collective_named(j.at("collective"));
  fit.ranks = j.at("ranks");
  fit.transport = j.at("transport");
  fit.mean_error = j.at("mean_error");
  fit.max_error = j.at("max_error");
  std::vector<PiecewiseAlphaBeta::Piece> pieces;
  for (const json& piece : j.at("pieces"))
    pieces.push_back({piece.at("up_to_bytes").is_null() ? std::numeric_limits<double>::infinity()
                                                        : piece.at("up_to_bytes").get<double>(),
                      {piece.at("alpha_s"), piece.at("s_per_byte")}});
  fit.line = PiecewiseAlphaBeta(std::move(pieces));
  return fit;
}

json json_of(const Fingerprint& print) {
  return {{"what", print.what}, {"bits", fmt::format("{:016x}", print.bits)}, {"agreed", print.agreed}};
}

template <class Items>
json json_list(const Items& items) {
  json list = json::array();
  for (const auto& item : items) list.push_back(json_of(item));
  return list;
}

Fingerprint fingerprint_of(const json& j) {
  return {j.at("what"), std::stoull(j.at("bits").get<std::string>(), nullptr, 16), j.at("agreed")};
}

}  // namespace

std::string to_json(const Results& results) {
  const json all = {{"schema", schema},
                    {"schema_version", results_schema_version},
                    {"run", json_of(results.run)},
                    {"same_same_band", results.same_same_band},
                    {"fits", json_list(results.fits)},
                    {"fingerprints", json_list(results.fingerprints)},
                    {"rows", json_list(results.rows)}};
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Results read_results(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw UsageError(fmt::format("cannot read {}", file.string()));
  const json all = json::parse(in, nullptr, false);
  if (!all.is_object()) throw UsageError(fmt::format("{} is no JSON of tp_bench", file.string()));
  if (all.value("schema", "") != schema || all.value("schema_version", 0) != results_schema_version)
    throw UsageError(fmt::format("{} has schema '{}' version {}; this program reads '{}' version {}",
                                 file.string(), all.value("schema", ""), all.value("schema_version", 0),
                                 schema, results_schema_version));
  try {
    Results results;
    results.run = run_of(all.at("run"));
    results.same_same_band = all.at("same_same_band");
    for (const json& fit : all.at("fits")) results.fits.push_back(fit_of(fit));
    for (const json& print : all.at("fingerprints")) results.fingerprints.push_back(fingerprint_of(print));
    for (const json& row : all.at("rows")) results.rows.push_back(row_of(row));
    return results;
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("{} is incomplete: {}", file.string(), error.what()));
  }
}

}  // namespace tpc::bench
