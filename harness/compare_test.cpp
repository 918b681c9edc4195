// SPDX-License-Identifier: Apache-2.0
#include "harness/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <thread>

namespace tpc {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Expected tensors that own their values: element i of each is 1 + i/8.
class Answers {
 public:
  Answers& add(const std::string& name, const Shape& shape) {
    std::vector<double>& values = values_[name];
    double squares = 0;
    for (std::int64_t i = 0; i < element_count(shape); ++i) {
      values.push_back(1 + static_cast<double>(i) / 8);
      squares += values.back() * values.back();
    }
    Expected& expected = expected_[name];
    expected.shape = shape;
    expected.values = values.data();
    expected.norm = expected.scale_norm = std::sqrt(squares);
    expected.scale_max = values.empty() ? 0 : values.back();
    return *this;
  }
  const ExpectedTensors& all() const { return expected_; }
  ExpectedTensors& all() { return expected_; }

  // What a rank holds that has everything right: elements in the blocks, 0 elsewhere.
  LocalTensor held(const std::string& name, const Shape& local_shape, const std::vector<Block>& blocks,
                   DType dtype = DType::f64) const {
    const Expected& expected = expected_.at(name);
    LocalTensor local = {name, host_tensor(dtype, local_shape), {expected.shape, blocks, {}, 0.0}};
    for (const Block& block : blocks)
      for (std::int64_t i = 0; i < element_count(block.extent); ++i) {
        const auto [from, to] = places(block, expected.shape, local_shape, i);
        visit_float(dtype, [&](auto zero) {
          using T = decltype(zero);
          local.data.data<T>()[to] = static_cast<T>(static_cast<float>(expected.values[from]));
        });
      }
    return local;
  }
  LocalTensor rows(const std::string& name, std::int64_t first, std::int64_t count,
                   DType dtype = DType::f64) const {
    Block block = {Shape(expected_.at(name).shape.size(), 0), expected_.at(name).shape,
                   Shape(expected_.at(name).shape.size(), 0)};
    block.global_offset[0] = first;
    block.extent[0] = count;
    return held(name, block.extent, {block}, dtype);
  }
  LocalTensor whole(const std::string& name, DType dtype = DType::f64) const {
    const Shape& shape = expected_.at(name).shape;
    return held(name, shape, {{Shape(shape.size(), 0), shape, Shape(shape.size(), 0)}}, dtype);
  }

 private:
  static std::pair<std::int64_t, std::int64_t> places(const Block& block, const Shape& global,
                                                      const Shape& local, std::int64_t i) {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t stride_from = 1;
    std::int64_t stride_to = 1;
    for (std::size_t d = global.size(); d-- > 0;) {
      const std::int64_t at = i % block.extent[d];
      i /= block.extent[d];
      from += (at + block.global_offset[d]) * stride_from;
      to += (at + block.local_offset[d]) * stride_to;
      stride_from *= global[d];
      stride_to *= local[d];
    }
    return {from, to};
  }
  std::map<std::string, std::vector<double>> values_;
  ExpectedTensors expected_;
};

using Held = std::function<std::vector<LocalTensor>(int rank)>;

Case case_on(int ranks, Tier tier = Tier::f64, DType dtype = DType::f64) {
  Case c;
  c.tier = tier;
  c.request.problem.dtype = dtype;
  c.request.mesh = {{ranks}, {"tp"}};
  return c;
}

// Every rank's comparison is the same, or the test fails.
Comparison judged(const Case& c, const Answers& answers, const Held& held) {
  const int size = c.request.mesh.ranks();
  const std::vector<CommunicatorPtr> world = make_local_world(size);
  std::vector<Comparison> all(static_cast<std::size_t>(size));
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r)
    threads.emplace_back([&, r, i = static_cast<std::size_t>(r)] {
      try {
        all[i] = compare(c, held(r), answers.all(), *world[i]);
      } catch (...) {
        thrown[i] = std::current_exception();
        world[i]->abort();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& exception : thrown)
    if (exception) std::rethrow_exception(exception);
  for (const Comparison& comparison : all) {
    EXPECT_EQ(comparison.verdict, all[0].verdict);
    EXPECT_EQ(comparison.message, all[0].message);
    EXPECT_EQ(comparison.worst_tensor, all[0].worst_tensor);
  }
  return all[0];
}

Answers y_answers() { return std::move(Answers().add("y", {8, 3})); }

// Four ranks with two rows each; `spoil` changes what rank 2 holds.
Comparison with_spoiled(const std::function<void(LocalTensor&)>& spoil, const Case& c = case_on(4)) {
  const Answers answers = y_answers();
  return judged(c, answers, [&](int r) {
    std::vector<LocalTensor> held = {answers.rows("y", r * 2, 2, c.request.problem.dtype)};
    if (r == 2) spoil(held[0]);
    return held;
  });
}

void expect_failure(const Comparison& comparison, const std::string& words) {
  EXPECT_EQ(comparison.verdict, Verdict::fail);
  EXPECT_NE(comparison.message.find(words), std::string::npos) << comparison.message;
  EXPECT_GT(comparison.worst_ratio, 1);
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

// Copies, overlaps, padding and shared memory.
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
  expect_failure(with_copies(nudge, case_on(3, Tier::replica)), words);
}

TEST(CompareCopies, OfBf16) {
  const auto nudge = [](int r, LocalTensor& y) {
    if (r == 2) ++y.data.data<bf16>()[3].bits;
  };
  expect_failure(with_copies(nudge, case_on(3, Tier::replica, DType::bf16)), "rank 2 (tp 2 of 3): y[1, 0]");
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
  expect_failure(padded(not_a_number, 0.0), "but holds nan");
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
  c.request.problem.kind = Problem::Kind::collective;
  c.request.problem.collective.kind = kind;
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
