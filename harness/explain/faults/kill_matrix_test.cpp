// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/faults/kill_matrix.hpp"

#include <gtest/gtest.h>

#include "harness/explain/faults/kill_matrix_report.hpp"

namespace tpc {
namespace {

Case row_case(const std::string& name, Tier tier, int tp, Operation operation = Operation::row_linear) {
  Case c;
  c.suite = "some";
  c.name = name;
  c.tier = tier;
  c.request.problem.asked = operation;
  ModelConfig& model = c.request.problem.model;
  model.hidden = model.ffn = model.vocab = model.positions = 24;
  model.heads = model.kv_heads = 12;
  model.head_dim = 2;
  c.request.mesh = {{tp}, {"tp"}};
  return c;
}

std::vector<std::string> names_for(Fault fault, const std::vector<Suite>& suites, int ranks) {
  std::vector<std::string> names;
  for (const Case* c : cases_for(row_of(fault), suites, ranks)) names.push_back(c->name);
  return names;
}

TEST(CasesFor, AreThoseThatCouldSeeTheFaultCheapOnesFirst) {
  const std::vector<Suite> suites = {
      {"some",
       {row_case("rounds", Tier::f32, 2), row_case("model", Tier::f64, 2, Operation::model),
        row_case("wide", Tier::f64, 8), row_case("alone", Tier::f64, 1), row_case("narrow", Tier::exact, 2),
        row_case("norm", Tier::f64, 2, Operation::layer_norm)},
       {}}};
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_for(Fault::row_bias_before_reduce, suites, 8),
            (Names{"narrow", "wide", "model", "rounds"}));
  EXPECT_EQ(names_for(Fault::row_bias_before_reduce, suites, 4), (Names{"narrow", "model", "rounds"}));
}

TEST(ChosenRows, MatchIdsAndOtherIds) {
  EXPECT_EQ(chosen_rows({}).size(), fault_table().size());
  ASSERT_EQ(chosen_rows({.filter = "TP-66"}).size(), 1U);
  EXPECT_EQ(chosen_rows({.filter = "TP-66"}).front()->fault, Fault::gate_up_cut_as_one);
  EXPECT_THROW(chosen_rows({.filter = "TP-00*"}), UsageError);
}

FaultResult result_of(Fault fault, bool killed) {
  FaultResult result;
  result.row = &row_of(fault);
  if (!killed) return result;
  Record killer;
  killer.case_name = "some.narrow";
  killer.tier = "exact";
  result.killers.push_back(killer);
  return result;
}

TEST(Matrix, EndsWith1WhereAFaultSurvives) {
  const FaultResult killed = result_of(Fault::row_bias_before_reduce, true);
  const FaultResult survivor = result_of(Fault::norm_gradients_not_summed, false);
  EXPECT_EQ(exit_code_of({killed}), 0);
  EXPECT_EQ(exit_code_of({killed, survivor}), 1);
  static FaultRow equivalent = row_of(Fault::norm_gradients_not_summed);
  equivalent.equivalent = "a proof";
  FaultResult proven = survivor;
  proven.row = &equivalent;
  EXPECT_EQ(exit_code_of({killed, proven}), 0);
}

TEST(Matrix, SaysWhatKilledAFaultAndWhatTheOrdinaryCheckSaw) {
  FaultResult r = result_of(Fault::row_bias_before_reduce, true);
  EXPECT_NE(result_line(r).find("killed     some.narrow (exact)"), std::string::npos) << result_line(r);
  EXPECT_NE(result_line(r).find("loss close: n/a"), std::string::npos) << result_line(r);
  r.ordinary = {.setting = "gpt2",
                .ran = true,
                .close = {{true, false}, {false, true}},
                .without_faults = {{true, true}, {true, false}}};
  EXPECT_NE(result_line(r).find("loss close: yes, no"), std::string::npos) << result_line(r);
  EXPECT_NE(result_line(r).find("outputs: no, -"), std::string::npos) << result_line(r);
  const std::string survivor = result_line(result_of(Fault::norm_gradients_not_summed, false));
  EXPECT_NE(survivor.find("SURVIVED"), std::string::npos) << survivor;
}

TEST(OrdinaryCheck, HasASettingForWhatOccursInTraining) {
  const OrdinaryCheck check(1);
  const Case* const plain = check.setting_for(row_of(Fault::row_bias_before_reduce));
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(plain->name, "gpt2");
  ASSERT_NE(check.setting_for(row_of(Fault::norm_gradients_not_summed)), nullptr);
  EXPECT_EQ(check.setting_for(row_of(Fault::norm_gradients_not_summed))->name, "gpt2_kept");
  EXPECT_EQ(check.setting_for(row_of(Fault::heads_unchecked)), nullptr);
}

}  // namespace
}  // namespace tpc
