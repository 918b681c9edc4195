// SPDX-License-Identifier: Apache-2.0
#include "harness/values/record.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace tpc {
namespace {

Record sample_record() {
  Record record;
  record.case_name = "tensor_parallel.mlp/tp4_f64";
  record.suite = "tensor_parallel";
  record.verdict = Outcome::fail;
  record.tier = "f64";
  record.mesh = "(4) over (tp)";
  record.dtype = "f64";
  record.implementation = "reference";
  record.seed = 18446744073709551615ULL;
  record.seconds = 0.25;
  record.worst_ratio = 3.5;
  record.message = "rank 2: \"y\"\nsecond line";
  record.replay = "mpirun -np 4 tp_conformance";
  return record;
}

TEST(Record, IsOneLineWithEveryField) {
  const std::string line = to_json(sample_record());

  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(line);
  for (const char* key : {"case", "suite", "verdict", "tier", "mesh", "dtype", "profile", "implementation",
                          "seed", "seconds", "worst_ratio", "message", "note", "tests", "replay"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["seed"].get<std::uint64_t>(), 18446744073709551615ULL);
  EXPECT_EQ(json["verdict"], "fail");
  EXPECT_EQ(json["worst_ratio"], 3.5);
  EXPECT_EQ(json["message"], "rank 2: \"y\"\nsecond line");
}

TEST(Record, WritesRatiosThatAreNoNumbersAsWords) {
  Record record = sample_record();
  record.worst_ratio = INFINITY;
  EXPECT_EQ(nlohmann::json::parse(to_json(record))["worst_ratio"], "inf");
  record.worst_ratio = NAN;
  EXPECT_EQ(nlohmann::json::parse(to_json(record))["worst_ratio"], "nan");
  record.worst_ratio.reset();
  EXPECT_TRUE(nlohmann::json::parse(to_json(record))["worst_ratio"].is_null());
}

TEST(Record, SurvivesBytesThatAreNoText) {
  Record record = sample_record();
  record.message = "bad \xff byte";

  EXPECT_NO_THROW(EXPECT_FALSE(nlohmann::json::parse(to_json(record))["message"].empty()));
}

TEST(Record, CountsWhatWasComparedApartFromWhatWasNot) {
  std::vector<Record> records(6);
  records[0].verdict = records[1].verdict = Outcome::pass;
  records[2].verdict = Outcome::fail;
  records[3].verdict = Outcome::error;
  records[4].verdict = Outcome::unsupported;

  const Tally tally = tally_of(records);

  EXPECT_EQ(tally.passed, 2);
  EXPECT_EQ(tally.compared(), 4);
  EXPECT_EQ(tally.not_run, 1);
  EXPECT_EQ(tally.all(), 6);
}

TEST(Provenance, NamesEverythingThatMayChangeAResult) {
  const auto json = nlohmann::json::parse(to_json(local_provenance()));

  for (const char* key : {"schema_version", "version", "commit", "compiler", "mpi", "blas", "onednn", "host",
                          "ranks", "cores", "started"})
    EXPECT_TRUE(json.contains(key) && json[key].dump() != R"("")") << key;
  EXPECT_TRUE(json["dirty"].is_boolean());
  EXPECT_GE(json["cores"], 1);
}

TEST(Provenance, MarksACommitThatIsNotAllThatWasBuilt) {
  Provenance p;
  p.commit = "0123456789abcdef";
  EXPECT_EQ(short_commit(p), "01234567");
  p.dirty = true;
  EXPECT_EQ(short_commit(p), "01234567+");
}

}  // namespace
}  // namespace tpc
