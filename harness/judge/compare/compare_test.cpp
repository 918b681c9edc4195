// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/compare/fixture.hpp"

namespace tpc {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Four ranks with two rows each; `spoil` changes what rank 2 holds.
Comparison with_spoiled(const std::function<void(LocalTensor&)>& spoil, const Case& c = case_on(4)) {
  const Answers answers = y_answers();
  return judged(c, answers, [&](int r) {
    std::vector<LocalTensor> held = {answers.rows("y", r * 2, 2, c.request.problem.dtype)};
    if (r == 2) spoil(held[0]);
    return held;
  });
}

TEST(Compare, ShardsPass) {
  const Comparison comparison = with_spoiled([](LocalTensor&) {});
  EXPECT_EQ(comparison.verdict, Verdict::pass) << comparison.message;
  EXPECT_EQ(comparison.worst_ratio, 0);
  EXPECT_EQ(comparison.message, "");
}

TEST(Compare, AWrongElementIsNamed) {
  const Comparison comparison = with_spoiled([](LocalTensor& y) { y.data.data<double>()[4] = 4.5; });
  expect_failure(comparison, "rank 2 (tp 2 of 4): y[5, 1]: expected 3, got 4.5 (error ");
  expect_failure(comparison, " times the f64 tier's bound)");
  EXPECT_EQ(comparison.worst_tensor, "y");
}

TEST(Compare, ARatioBelowOnePasses) {
  const Comparison comparison = with_spoiled([](LocalTensor& y) { y.data.data<double>()[4] += 1e-12; });
  EXPECT_EQ(comparison.verdict, Verdict::pass);
  EXPECT_GT(comparison.worst_ratio, 0.01);
  EXPECT_LT(comparison.worst_ratio, 1);
  EXPECT_EQ(comparison.worst_tensor, "y");
}

TEST(Compare, TheExactTierCountsElements) {
  const auto nudge = [](LocalTensor& y) {
    y.data.data<double>()[4] = std::nextafter(3.0, 4.0);
    y.data.data<double>()[0] = std::nextafter(2.5, 4.0);
  };
  expect_failure(with_spoiled(nudge, case_on(4, Tier::exact)),
                 "2 of 24 elements differ where equal values are demanded");
  EXPECT_EQ(with_spoiled(nudge).verdict, Verdict::pass);
}

TEST(Compare, NotANumberAndInfinityAreInfinitelyWrong) {
  for (const Tier tier : {Tier::exact, Tier::f64, Tier::f32, Tier::bf16})
    for (const double value : {not_a_number, infinity, -infinity}) {
      const Comparison comparison =
          with_spoiled([&](LocalTensor& y) { y.data.data<double>()[0] = value; }, case_on(4, tier));
      expect_failure(comparison, "y[4, 0]: expected 2.5, got ");
      EXPECT_EQ(comparison.worst_ratio, infinity);
    }
}

TEST(Compare, NegativeZeroEqualsZero) {
  Answers answers = y_answers();
  std::vector<double> zeros(24, 0.0);
  answers.all().at("y").values = zeros.data();
  const auto minus_zero = [&](int r) {
    std::vector<LocalTensor> held = {answers.rows("y", r * 12 / 3, 4)};
    for (int i = 0; i < 12; ++i) held[0].data.data<double>()[i] = -0.0;
    return held;
  };
  EXPECT_EQ(judged(case_on(2, Tier::exact), answers, minus_zero).verdict, Verdict::pass);
}

TEST(Compare, NotANumberIsNotEvenItself) {
  Answers answers = y_answers();
  std::vector<double> wanted(24, not_a_number);
  answers.all().at("y").values = wanted.data();
  const auto same = [&](int r) { return std::vector<LocalTensor>{answers.rows("y", r * 4, 4)}; };
  expect_failure(judged(case_on(2, Tier::exact), answers, same), "expected nan, got nan");
}

TEST(Compare, PlacementsThatCannotBe) {
  expect_failure(with_spoiled([](LocalTensor& y) { y.name = "z"; }),
                 "rank 2 (tp 2 of 4): z: nobody asked for this tensor");
  expect_failure(with_spoiled([](LocalTensor& y) { y.data = Tensor(); }), "y: comes without data");
  expect_failure(with_spoiled([](LocalTensor& y) {
                   y.placement.global_shape = {8, 4};
                 }),
                 "y: has the global shape [8, 4], not [8, 3]");
  expect_failure(with_spoiled([](LocalTensor& y) { y.placement.partial_over = {"tp"}; }),
                 "y: is still a pending sum over tp");
  expect_failure(with_spoiled([](LocalTensor& y) {
                   y.placement.blocks[0].global_offset = {7, 0};
                 }),
                 "y: a block of [2, 3] at [7, 0] leaves the global tensor of [8, 3]");
  expect_failure(with_spoiled([](LocalTensor& y) {
                   y.placement.blocks[0].local_offset = {0, 1};
                 }),
                 "y: a block of [2, 3] at local [0, 1] leaves the local tensor of [2, 3]");
  expect_failure(with_spoiled([](LocalTensor& y) { y.placement.blocks[0].extent = {2}; }),
                 "leaves the global tensor");
  expect_failure(with_spoiled([](LocalTensor& y) { y.data = y.data.reshaped({6}); }),
                 "leaves the local tensor");
  expect_failure(with_spoiled([](LocalTensor& y) { y.placement.blocks.push_back(y.placement.blocks[0]); }),
                 "y: two blocks, at local [0, 0] and [0, 0], share elements of the local tensor");
}

TEST(Compare, TheDtypeIsTheProblems) {
  const Answers answers = std::move(Answers().add("y", {2}).add("loss", {1}));
  const auto held = [&](DType y, DType loss) {
    return [&answers, y, loss](int) {
      return std::vector<LocalTensor>{answers.whole("y", y), answers.whole("loss", loss)};
    };
  };
  const Case bf16_case = case_on(2, Tier::bf16, DType::bf16);
  EXPECT_EQ(judged(bf16_case, answers, held(DType::bf16, DType::f32)).verdict, Verdict::pass);
  EXPECT_EQ(judged(bf16_case, answers, held(DType::bf16, DType::bf16)).verdict, Verdict::pass);
  expect_failure(judged(bf16_case, answers, held(DType::f32, DType::f32)), "y: comes in f32, not bf16");
  expect_failure(judged(case_on(2), answers, held(DType::f64, DType::f32)), "loss: comes in f32, not f64");
}

TEST(Compare, AMissingTensorOrElementIsNamed) {
  const Answers answers = y_answers();
  expect_failure(judged(case_on(2), answers, [](int) { return std::vector<LocalTensor>{}; }),
                 "y: no rank returned any part of this tensor of shape [8, 3]");
  const auto short_of_one = [&](int r) {
    return std::vector<LocalTensor>{answers.rows("y", r * 4, r == 0 ? 4 : 3)};
  };
  expect_failure(judged(case_on(2), answers, short_of_one), "y[7, 0]: no rank holds this element");
}

TEST(Compare, NotEveryRankNeedsToHoldSomething) {
  const Answers answers = std::move(Answers().add("y", {8, 3}).add("empty", {0, 3}));
  const auto first_has_all = [&](int r) {
    std::vector<LocalTensor> held;
    if (r == 1) held.push_back(answers.whole("y"));
    return held;
  };
  EXPECT_EQ(judged(case_on(3), answers, first_has_all).verdict, Verdict::pass);
}

TEST(Compare, ScalarsAndOddSizes) {
  const Answers answers = std::move(Answers().add("loss", {}).add("y", {1, 5}));
  const auto held = [&](int) { return std::vector<LocalTensor>{answers.whole("loss"), answers.whole("y")}; };
  EXPECT_EQ(judged(case_on(3), answers, held).verdict, Verdict::pass);
  const auto wrong = [&](int) {
    std::vector<LocalTensor> all = {answers.whole("loss"), answers.whole("y")};
    all[0].data.data<double>()[0] = 2;
    return all;
  };
  expect_failure(judged(case_on(3), answers, wrong), "rank 0 (tp 0 of 3): loss[]: expected 1, got 2");
}

}  // namespace
}  // namespace tpc
