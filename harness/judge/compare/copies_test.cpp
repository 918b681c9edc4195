// SPDX-License-Identifier: Apache-2.0
// Copies, overlaps, padding and shared memory.
#include "harness/judge/compare/fixture.hpp"

namespace tpc {
namespace {

Comparison with_copies(const std::function<void(int rank, LocalTensor&)>& spoil, const Case& c = case_on(3)) {
  const Answers answers = y_answers();
  return judged(c, answers, [&](int r) {
    std::vector<LocalTensor> held = {answers.whole("y", c.request.problem.dtype)};
    spoil(r, held[0]);
    return held;
  });
}

TEST(CompareCopies, MustAgreeToTheBit) {
  const auto nudge = [](int r, LocalTensor& y) {
    if (r == 1) y.data.data<double>()[7] = std::nextafter(1.875, 2.0);
  };
  const std::string words =
      "rank 1 (tp 1 of 3): y[2, 1]: expected 1.875, got 1.8750000000000002, but rank 0 got 1.875: copies "
      "must "
      "agree bit for bit";
  expect_failure(with_copies(nudge), words);
}

TEST(CompareCopies, OfBf16) {
  const auto nudge = [](int r, LocalTensor& y) {
    if (r == 2) ++y.data.data<bf16>()[3].bits;
  };
  expect_failure(with_copies(nudge, case_on(3, Tier::bf16, DType::bf16)), "rank 2 (tp 2 of 3): y[1, 0]");
}

TEST(CompareCopies, WrongValuesAreToldFirst) {
  const auto spoil = [](int r, LocalTensor& y) {
    if (r == 2) y.data.data<double>()[23] = 0;
  };
  const Comparison comparison = with_copies(spoil);
  expect_failure(comparison, "rank 2 (tp 2 of 3): y[7, 2]: expected 3.875, got 0");
  expect_failure(comparison, "; ranks 0 and 2 hold different copies of y");
}

TEST(CompareCopies, CountOnceInTheNorm) {
  const double error = 1e-12;
  const auto nudge = [&](int, LocalTensor& y) { y.data.data<double>()[0] += error; };
  const Answers answers = y_answers();
  const double norm = answers.all().at("y").norm;

  const Comparison comparison = with_copies(nudge);

  EXPECT_EQ(comparison.verdict, Verdict::pass) << comparison.message;
  EXPECT_NEAR(comparison.worst_ratio, error / norm / 1e-12, 1e-3);
}

// Rows 0-5 on rank 0, rows 2-7 on rank 1: rows 2-5 are copies.
Comparison with_overlap(const std::function<void(int rank, double* y)>& spoil) {
  const Answers answers = y_answers();
  return judged(case_on(2), answers, [&](int r) {
    std::vector<LocalTensor> held = {answers.rows("y", r * 2, 6)};
    spoil(r, held[0].data.data<double>());
    return held;
  });
}

TEST(CompareCopies, InPartOfABlock) {
  EXPECT_EQ(with_overlap([](int, double*) {}).verdict, Verdict::pass);
  const Comparison comparison = with_overlap([](int r, double* y) {
    if (r == 1) y[4] = std::nextafter(y[4], 9.0);
  });
  expect_failure(comparison,
                 "rank 1 (tp 1 of 2): y[3, 1]: expected 2.25, got 2.2500000000000004, but rank 0 got 2.25");
  expect_failure(with_overlap([](int r, double* y) { y[r == 1 ? 17 : 0] = 99; }),
                 "y[0, 0]: expected 1, got 99");
  const double norm = y_answers().all().at("y").norm;
  const Comparison both = with_overlap([](int r, double* y) { y[r == 0 ? 6 : 0] += 1e-12; });
  EXPECT_NEAR(both.worst_ratio, 1 / norm, 1e-3) << "one element in the common part, counted once";
}

TEST(CompareCopies, OfOneRank) {
  const Answers answers = y_answers();
  const auto twice = [&](int) {
    std::vector<LocalTensor> held = {answers.whole("y"), answers.rows("y", 0, 8)};
    held[1].data.data<double>()[2] = std::nextafter(1.25, 2.0);
    return held;
  };
  expect_failure(judged(case_on(1), answers, twice), "rank 0 (tp 0 of 1): y[0, 2]: expected 1.25");
}

TEST(CompareCopies, DifferencesAreFoundInLargeTensors) {
  const Answers answers = std::move(Answers().add("y", {5000, 3}));
  const auto held = [&](int r) {
    std::vector<LocalTensor> all = {answers.whole("y")};
    double& value = all[0].data.data<double>()[12345];
    if (r == 1) value = std::nextafter(value, 1e9);
    return all;
  };
  expect_failure(judged(case_on(2), answers, held), "y[4115, 0]: expected ");
}

TEST(ComparePadding, MustHoldItsDeclaredValue) {
  const Answers answers = y_answers();
  const auto padded = [&](double value, std::optional<double> declared) {
    return judged(case_on(2), answers, [&](int r) {
      // 8 rows padded to 10: rank 1 has three real rows and two of padding.
      std::vector<LocalTensor> held = {
          answers.held("y", {5, 3}, {{{r * 5, 0}, {r == 0 ? 5 : 3, 3}, {0, 0}}})};
      held[0].placement.padding = declared;
      if (r == 1) held[0].data.data<double>()[13] = value;
      return held;
    });
  };
  EXPECT_EQ(padded(0, 0.0).verdict, Verdict::pass);
  EXPECT_EQ(padded(7, std::nullopt).verdict, Verdict::pass);
  expect_failure(padded(7, 0.0), "rank 1 (tp 1 of 2): y: padding at local [4, 1] must hold 0, but holds 7");
  expect_failure(padded(std::numeric_limits<double>::quiet_NaN(), 0.0), "but holds nan");
}

TEST(ComparePadding, OfAFusedTensorIsWhatNoPartHolds) {
  const Answers answers = std::move(Answers().add("k", {2, 3}).add("q", {4, 3}));
  const auto fused = [&](double rest) {
    return judged(case_on(1), answers, [&](int) {
      LocalTensor q = answers.held("q", {7, 3}, {{{0, 0}, {4, 3}, {0, 0}}});
      const LocalTensor k = answers.held("k", {7, 3}, {{{0, 0}, {2, 3}, {4, 0}}});
      for (int i = 12; i < 18; ++i) q.data.data<double>()[i] = k.data.data<double>()[i];
      q.data.data<double>()[18] = rest;
      return std::vector<LocalTensor>{q, {"k", q.data, k.placement}};
    });
  };
  EXPECT_EQ(fused(0).verdict, Verdict::pass) << fused(0).message;
  expect_failure(fused(1), "padding at local [6, 0] must hold 0, but holds 1");
}

TEST(CompareMesh, CoordinatesOfAllAxesAreNamed) {
  Case c = case_on(1);
  c.request.mesh = {{2, 3}, {"dp_replicate", "tp"}};
  const Answers answers = y_answers();
  const auto held = [&](int r) {
    std::vector<LocalTensor> all = {answers.whole("y")};
    if (r == 4) all[0].data.data<double>()[0] = 5;
    return all;
  };
  expect_failure(judged(c, answers, held),
                 "rank 4 (dp_replicate 1 of 2, tp 1 of 3): y[0, 0]: expected 1, got 5");
}

// Two ranks, four elements each; the last one of rank 1's result is 0.
Comparison with_probe(CollectiveKind kind) {
  Case c = case_on(2, Tier::exact);
  c.request.problem.asked = CollectiveProblem{.kind = kind};
  c.request.problem.inputs = {{"in", {2, 5}, {Generator::Kind::contribution, 0}}};
  Answers answers = std::move(Answers().add("out", {2, 5}));
  std::vector<double> ones(10, 1.0);
  answers.all().at("out").values = ones.data();
  return judged(c, answers, [&](int r) {
    std::vector<LocalTensor> all = {answers.rows("out", r, 1)};
    for (int i = 0; i < 5; ++i) all[0].data.data<double>()[i] = r == 1 && i == 4 ? 0 : 1;
    return all;
  });
}

TEST(CompareProbes, SayWhatIsMissing) {
  expect_failure(
      with_probe(CollectiveKind::all_reduce),
      "out[1, 4]: expected 1, got 0 (1 of 10 elements differ where equal values are demanded; the part "
      "of rank 0 is missing)");
  expect_failure(with_probe(CollectiveKind::reduce_scatter), "; the part of rank 1 is missing)");
}

TEST(RelativeErrors, OfOneRank) {
  const Answers answers = std::move(Answers().add("missing", {2}).add("y", {8, 3}));
  LocalTensor y = answers.whole("y", DType::f32);
  y.data.data<float>()[0] += 0x1p-10F;
  const std::map<std::string, double> errors = relative_errors({y}, answers.all());
  EXPECT_EQ(errors.size(), 1U);
  EXPECT_DOUBLE_EQ(errors.at("y"), 0x1p-10 / answers.all().at("y").norm);
}

}  // namespace
}  // namespace tpc
