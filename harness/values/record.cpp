// SPDX-License-Identifier: Apache-2.0
#include "harness/values/record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace tpc {

namespace {

using Json = nlohmann::ordered_json;

// Messages may quote anything; what is not UTF-8 is replaced rather than losing the record.
std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json number_or_word(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace

void count(Tally& tally, Outcome verdict) {
  switch (verdict) {
    case Outcome::pass:
      ++tally.passed;
      return;
    case Outcome::fail:
      ++tally.failed;
      return;
    case Outcome::unsupported:
      ++tally.unsupported;
      return;
    case Outcome::error:
      ++tally.errors;
      return;
    case Outcome::not_run:
      ++tally.not_run;
      return;
  }
}

Tally tally_of(const std::vector<Record>& records) {
  Tally tally;
  for (const Record& record : records) count(tally, record.verdict);
  return tally;
}

double worse_ratio(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

std::string to_json(const Record& record) {
  Json json = {{"kind", "case"},
               {"case", record.case_name},
               {"suite", record.suite},
               {"verdict", name(record.verdict)},
               {"tier", record.tier},
               {"mesh", record.mesh},
               {"dtype", record.dtype},
               {"profile", record.profile},
               {"implementation", record.implementation},
               {"seed", record.seed},
               {"seconds", record.seconds},
               {"worst_ratio", nullptr},
               {"message", record.message},
               {"note", record.note},
               {"tests", record.tests},
               {"replay", record.replay},
               {"repetition", record.repetition}};
  if (!record.diagnosis.empty()) json["diagnosis"] = record.diagnosis;
  if (!record.smallest.empty()) json["smallest"] = record.smallest;
  if (record.worst_ratio) json["worst_ratio"] = number_or_word(*record.worst_ratio);
  for (const PhaseVolume& v : record.volume)
    json["volume"].push_back({{"phase", v.phase},
                              {"calls", v.calls},
                              {"payload_bytes", v.payload},
                              {"ring_wire_bytes", v.ring_wire},
                              {"profile_payload_bytes", v.profile_payload}});
  return line_of(json);
}

std::string to_json(const Provenance& p) {
  return line_of({{"kind", "provenance"},
                  {"schema_version", record_schema_version},
                  {"version", p.version},
                  {"commit", p.commit},
                  {"dirty", p.dirty},
                  {"compiler", p.compiler},
                  {"mpi", p.mpi},
                  {"blas", p.blas},
                  {"onednn", p.onednn},
                  {"host", p.host},
                  {"ranks", p.ranks},
                  {"cores", p.cores},
                  {"implementation", p.implementation},
                  {"seed", p.seed},
                  {"started", p.started},
                  {"command", p.command}});
}

std::string to_json(const Summary& summary) {
  const Tally& tally = summary.tally;
  return line_of({{"kind", "summary"},
                  {"compared", tally.compared()},
                  {"passed", tally.passed},
                  {"failed", tally.failed},
                  {"errors", tally.errors},
                  {"unsupported", tally.unsupported},
                  {"not_run", tally.not_run},
                  {"exit_code", summary.exit_code},
                  {"seconds", summary.seconds}});
}

std::string last_line(const Provenance& provenance, const Summary& summary) {
  return fmt::format("TP_CONFORMANCE {} {}/{} {} {}", summary.exit_code == 0 ? "PASS" : "FAIL",
                     summary.tally.passed, summary.tally.compared(), provenance.version,
                     short_commit(provenance));
}

}  // namespace tpc
