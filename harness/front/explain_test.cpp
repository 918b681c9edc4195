// SPDX-License-Identifier: Apache-2.0
#include "harness/front/explain.hpp"

#include <gtest/gtest.h>

namespace tpc {
namespace {

Case explained_case() {
  Case c;
  c.suite = "tensor_parallel";
  c.name = "row_linear/tp4_f64";
  c.statement = "the bias is added once";
  c.request.problem.asked = Operation::row_linear;
  c.request.problem.inputs = {{"x", {24, 2, 96}, {}}, {"weight", {48, 96}, {}}};
  c.request.mesh = {{4}, {"tp"}};
  return c;
}

TEST(Explain, SaysStatementFormulaShapesMeshAndTolerance) {
  const std::string text = explanation(explained_case());

  for (const char* expected : {"tensor_parallel.row_linear/tp4_f64\n", "the bias is added once", "x·Wᵀ",
                               "x [24, 2, 96], weight [48, 96]", "(4) over (tp), 4 ranks", "tier f64: "})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\n" << text;
}

TEST(Explain, NamesEveryOptionThatMattersAsCasesSpellIt) {
  Case c = explained_case();
  c.request.problem.model.ffn = 48;
  c.request.sharding.input_is_split = false;
  const std::string text = explanation(c);

  for (const char* expected : {"op=row_linear", "tp=4", "ffn=48", "input_is_split=0", "mlp_bias=1"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\n" << text;
  for (const char* foreign : {"heads=", "vocab=", "gather_output="})
    EXPECT_EQ(text.find(foreign), std::string::npos) << foreign << "\n" << text;
}

TEST(Explain, OfARefusalSaysWhatMustBeNamed) {
  Case c = explained_case();
  c.expectation = Expectation::refusal;
  c.reason_words = {"12", "8"};

  EXPECT_NE(explanation(c).find("names: 12, 8\n"), std::string::npos) << explanation(c);
}

TEST(Explain, KnowsCollectivesAndMeshes) {
  Case c = explained_case();
  c.request.problem.asked = CollectiveProblem{.kind = CollectiveKind::broadcast,
                                              .op = ReduceOp::sum,
                                              .count = 7,
                                              .root = 2,
                                              .in_place = true,
                                              .repeats = 3,
                                              .members = {1, 3}};
  EXPECT_NE(explanation(c).find("broadcast from rank 2 of 7 elements, in place, 3 times, among ranks 1, 3"),
            std::string::npos)
      << explanation(c);
  c.request.problem.asked = MeshProblem{};
  EXPECT_NE(explanation(c).find("coordinates"), std::string::npos);
}

TEST(Explain, FindsACaseOrNamesSimilarOnes) {
  const std::vector<Suite> suites = {{"tensor_parallel", {explained_case()}, {}}};

  EXPECT_EQ(case_named(suites, "tensor_parallel.row_linear/tp4_f64").name, "row_linear/tp4_f64");
  try {
    case_named(suites, "row_linear");
    FAIL() << "found";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean tensor_parallel.row_linear/tp4_f64"),
              std::string::npos);
  }
  EXPECT_THROW(case_named(suites, "nothing"), UsageError);
}

}  // namespace
}  // namespace tpc
