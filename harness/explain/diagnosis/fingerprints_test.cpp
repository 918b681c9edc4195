// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/fingerprints.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace tpc {
namespace {

constexpr double eps = 0x1p-53;

std::vector<double> numbers(std::int64_t count, double start = 1) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(start + std::sin(static_cast<double>(i) * start));
  return values;
}

// A tensor of 4 ranks, right on all of them: in shards of its rows, or whole.
TensorEvidence sharded(const Shape& shape) {
  TensorEvidence tensor{"y", shape, numbers(element_count(shape)), {}, 1e-12, eps, 4};
  for (int r = 0; r < 4; ++r) {
    Box box{Shape(shape.size(), 0), shape};
    box.extent[0] = shape[0] / 4;
    box.offset[0] = r * box.extent[0];
    tensor.pieces.push_back({r, box, right_part(tensor, box)});
  }
  return tensor;
}

TensorEvidence whole(const Shape& shape) {
  TensorEvidence tensor{"y", shape, numbers(element_count(shape)), {}, 1e-12, eps, 4};
  for (int r = 0; r < 4; ++r) tensor.pieces.push_back({r, {Shape(shape.size(), 0), shape}, tensor.right});
  return tensor;
}

template <class Change>
TensorEvidence changed(TensorEvidence tensor, Change change) {
  for (Piece& piece : tensor.pieces)
    for (double& value : piece.values) value = change(value);
  return tensor;
}

void expect_found(const Finding& finding, const std::string& words) {
  ASSERT_TRUE(finding.has_value()) << words;
  EXPECT_NE(finding->find(words), std::string::npos) << *finding;
}

// Terms of 4 ranks that add up to what is right, and a bias.
Contributions terms_of(const TensorEvidence& tensor) {
  Contributions sum{"the columns that it holds", {}, numbers(element_count(tensor.shape), 0.5)};
  const std::vector<double> rest = sum.rest;
  std::vector<double> left = tensor.right;
  for (std::size_t i = 0; i < left.size(); ++i) left[i] -= rest[i];
  for (int r = 0; r < 3; ++r) {
    sum.terms.push_back(numbers(element_count(tensor.shape), 1.5 + r));
    for (std::size_t i = 0; i < left.size(); ++i) left[i] -= sum.terms.back()[i];
  }
  sum.terms.push_back(left);
  return sum;
}

TEST(Fingerprints, SayNothingOfWhatIsRight) {
  for (const TensorEvidence& tensor : {sharded({8, 3}), whole({8, 3})})
    EXPECT_TRUE(fingerprints(tensor, {terms_of(tensor)}, HeadRows{2, "heads"}).empty())
        << fingerprints(tensor, {terms_of(tensor)}, HeadRows{2, "heads"})[0];
}

TEST(Fingerprints, SayNothingOfNoise) {
  TensorEvidence tensor = whole({8, 3});
  for (Piece& piece : tensor.pieces)
    for (std::size_t i = 0; i < piece.values.size(); ++i)
      piece.values[i] += std::cos(static_cast<double>(i * i));
  EXPECT_TRUE(fingerprints(tensor, {terms_of(tensor)}, HeadRows{2, "heads"}).empty());
}

TEST(Fingerprints, KnowRatios) {
  const auto times = [](double factor) {
    return changed(sharded({8, 3}), [factor](double v) { return factor * v; });
  };
  expect_found(find_ratio(times(4)), "T = 4 times");
  expect_found(find_ratio(times(0.25)), "1/T = 1/4 times");
  expect_found(find_ratio(times(2)), "sqrt T = sqrt 4 times");
  expect_found(find_ratio(times(0.5)), "1/sqrt T");
  expect_found(find_ratio(times(16)), "T² = 16");
  expect_found(find_ratio(times(3)), "T - 1 = 3");
  expect_found(find_ratio(times(1.75)), "1.75 times");
  expect_found(find_ratio(times(-1)), "-1 times");
}

TEST(Fingerprints, KnowOffsets) {
  const auto plus = [](double offset) {
    return changed(whole({8, 3}), [offset](double v) { return v + offset; });
  };
  expect_found(find_offset(plus(std::log(4))),
               "+log T = 1.38629: a sum of exponentials over the ranks is counted T");
  expect_found(find_offset(plus(-std::log(4))), "counted 1/T");
  expect_found(find_offset(plus(0.125)), "the same 0.125");
}

TEST(Fingerprints, KnowWhatWasNeverComputed) {
  expect_found(find_zeros(changed(sharded({8, 3}), [](double) { return 0; })), "on every rank");
  TensorEvidence one = sharded({8, 3});
  one.pieces[2].values.assign(6, 0);
  expect_found(find_zeros(one), "all zeros on rank 2");
  one.pieces[2].values[3] = std::numeric_limits<double>::quiet_NaN();
  expect_found(find_not_finite(one), "1 values are infinite or no numbers");
}

TEST(Fingerprints, KnowShardsInTheWrongPlace) {
  TensorEvidence swapped = sharded({8, 3});
  std::swap(swapped.pieces[1].values, swapped.pieces[2].values);
  expect_found(find_shards_elsewhere(swapped), "rank 1 holds that of rank 2, rank 2 holds that of rank 1");
  TensorEvidence first = sharded({8, 3});
  for (Piece& piece : first.pieces) piece.values = first.pieces[0].values;
  expect_found(find_shards_elsewhere(first), "every rank holds the shard of rank 0");
}

TEST(Fingerprints, KnowTransposedWeights) {
  TensorEvidence tensor = sharded({8, 3});
  for (Piece& piece : tensor.pieces) {
    const std::vector<double> right = piece.values;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j) piece.values[j * 2 + i] = right[i * 3 + j];
  }
  expect_found(find_transposed(tensor), "transposed");
}

TEST(Fingerprints, KnowAMissingSum) {
  TensorEvidence tensor = whole({8, 3});
  const Contributions sum = terms_of(tensor);
  for (std::size_t r = 0; r < 4; ++r) tensor.pieces[r].values = sum.terms[r];
  expect_found(find_contribution(tensor, sum),
               "each rank holds its own term alone (the columns that it holds)");
  tensor.right.assign(24, 0);
  for (const auto& term : sum.terms)
    for (std::size_t i = 0; i < term.size(); ++i) tensor.right[i] += term[i];
  expect_found(find_own_partials(tensor), "a sum over the ranks is missing");
  for (double& value : tensor.right) value /= 4;
  expect_found(find_own_partials(tensor), "a mean over the ranks is missing");
  tensor.right = numbers(24, 3);
  expect_found(find_own_partials(tensor), "equal copies do not");
}

TEST(Fingerprints, KnowAMissingAndADoubledTerm) {
  const TensorEvidence tensor = whole({8, 3});
  const Contributions sum = terms_of(tensor);
  const auto with = [&](const std::vector<double>& term, double factor) {
    TensorEvidence wrong = tensor;
    for (Piece& piece : wrong.pieces)
      for (std::size_t i = 0; i < term.size(); ++i) piece.values[i] += factor * term[i];
    return find_contribution(wrong, sum);
  };
  expect_found(with(sum.terms[2], -1), "the term of rank 2 (the columns that it holds) is missing");
  expect_found(with(sum.terms[1], 1), "the term of rank 1 (the columns that it holds) is counted twice");
  expect_found(with(sum.rest, 3), "such as a bias, is counted T = 4 times");
  expect_found(with(sum.rest, -0.75), "counted 1/T = 1/4");
  expect_found(with(sum.rest, -1), "is missing");
}

TEST(Fingerprints, KnowWhichRanksLackABias) {
  TensorEvidence tensor = sharded({8, 3});
  const Contributions sum = terms_of(tensor);
  for (const std::size_t r : {1U, 3U})
    for (std::size_t i = 0; i < 6; ++i) tensor.pieces[r].values[i] -= sum.rest[r * 6 + i];
  expect_found(find_contribution(tensor, sum), "such as a bias, is missing on ranks 1, 3");
  for (std::size_t i = 0; i < 6; ++i)
    tensor.pieces[1].values[i] += 2 * sum.rest[6 + i];  // twice there, missing on 3
  EXPECT_FALSE(find_contribution(tensor, sum).has_value());
  tensor.pieces[1].values[0] += 1;
  EXPECT_FALSE(find_contribution(tensor, sum).has_value());
}

// One number is some multiple of any other.
TEST(Fingerprints, DoNotExplainAFewNumbersByAnyFactor) {
  TensorEvidence tensor = sharded({4, 1});
  const Contributions sum = terms_of(tensor);
  tensor.pieces[1].values[0] += 0.37 * sum.terms[0][1];
  EXPECT_FALSE(find_contribution(tensor, sum).has_value());
  tensor.pieces[1].values[0] = tensor.right[1] - sum.rest[1];
  expect_found(find_contribution(tensor, sum), "such as a bias, is missing on rank 1");
}

TEST(Fingerprints, KnowShardsOfOwnTermsAlone) {
  TensorEvidence tensor = sharded({8, 3});
  const Contributions sum = terms_of(tensor);
  for (std::size_t r = 0; r < 4; ++r)
    std::copy_n(sum.terms[r].begin() + static_cast<std::ptrdiff_t>(r) * 6, 6,
                tensor.pieces[r].values.begin());
  expect_found(find_contribution(tensor, sum), "each rank holds its own term alone");
  tensor.pieces[2].values[0] += 1;
  EXPECT_FALSE(find_contribution(tensor, sum).has_value());
}

TEST(Fingerprints, KnowAPaddingIndexOfEveryShard) {
  TensorEvidence tensor = sharded({8, 3});
  std::fill_n(tensor.pieces[2].values.begin() + 3, 3, 0.0);
  expect_found(find_rows_without_gradient(tensor), "row 5 alone gets no gradient");
  std::fill_n(tensor.pieces[0].values.begin() + 3, 3, 0.0);
  expect_found(find_rows_without_gradient(tensor), "the rows 1, 5 get no gradient: row 1 of a rank's part");
  TensorEvidence other = tensor;
  other.pieces[2].values[3] = 1;  // not without gradient
  EXPECT_FALSE(find_rows_without_gradient(other).has_value());
  std::fill_n(tensor.pieces[3].values.begin(), 3, 0.0);  // another row of its part
  EXPECT_FALSE(find_rows_without_gradient(tensor).has_value());
  EXPECT_FALSE(find_rows_without_gradient(sharded({8, 3})).has_value());
  TensorEvidence of_one_row = sharded({4, 3});
  of_one_row.pieces[1].values.assign(3, 0);
  EXPECT_FALSE(find_rows_without_gradient(of_one_row).has_value());
}

TEST(Fingerprints, KnowWrongRanksAndHeads) {
  TensorEvidence tensor = sharded({8, 3});
  tensor.pieces[1].values[4] += 1;
  expect_found(find_wrong_ranks(tensor), "wrong on rank 1 alone; right on 0, 2, 3");
  expect_found(find_wrong_heads(tensor, {1, "kv heads"}), "the rows of kv heads 3 of 8");
}

TEST(Fingerprints, KnowWhatAMeanMayBeTakenOver) {
  TensorEvidence loss = changed(whole({1}), [](double v) { return v * 36 / 48; });
  EXPECT_FALSE(find_ratio(loss).has_value());  // two numbers have always a ratio
  loss.counts = {{"tokens", 48}, {"tokens with a target", 36}};
  expect_found(find_ratio(loss), "it is 36/48 (tokens with a target by tokens) times");
  loss = changed(whole({1}), [](double v) { return v / 4; });
  expect_found(find_ratio(loss), "1/T = 1/4 times");
}

// Ids 0 to 7 of a table of 8 rows on 4 ranks, two rows each.
class Lookup : public testing::Test {
 protected:
  Lookup() {
    for (std::int64_t id = 0; id < 8; ++id) reads.ids.push_back(id);
    reads.rows_per_rank = {3, 2};
    reads.table = tensor.right;
  }
  // Each id reads its own row so often, and the rows `others` says.
  Finding with(double own, const std::function<std::vector<std::int64_t>(std::int64_t)>& others) {
    for (Piece& piece : tensor.pieces)
      for (std::int64_t id = 0; id < 8; ++id)
        for (std::int64_t i = 0; i < 3; ++i) {
          double& value = piece.values[static_cast<std::size_t>(id * 3 + i)];
          value = own * tensor.right[static_cast<std::size_t>(id * 3 + i)];
          for (const std::int64_t row : others(id))
            value += reads.table[static_cast<std::size_t>(row * 3 + i)];
        }
    return find_foreign_rows(tensor, reads);
  }
  TensorEvidence tensor = whole({8, 3});
  TableReads reads;
};

TEST_F(Lookup, KnowsIdsThatAreNotMasked) {
  expect_found(
      with(1,
           [](std::int64_t id) {
             std::vector<std::int64_t> rows;
             for (std::int64_t first = 0; first < 8; first += 2)
               if (id / 2 != first / 2) rows.push_back(id < first ? first : first + 1);
             return rows;
           }),
      "each wrong id (0, 1, 2, 3, 4, 5 and 2 more) gets besides its own row one of the part of another "
      "rank (the first or the last, as where ids are clamped into it)");
}

TEST_F(Lookup, KnowsIdsThatAreOffOrForgotten) {
  expect_found(with(0, [](std::int64_t id) { return std::vector<std::int64_t>{id < 7 ? id + 1 : 8 - 1}; }),
               "(0, 1, 2, 3, 4, 5 and 1 more) gets the row that is 1 further");
  expect_found(with(0, [](std::int64_t id) { return std::vector<std::int64_t>(id < 6 ? 1 : 0, id); }),
               "each wrong id (6, 7) gets no row at all");
  EXPECT_FALSE(with(1, [](std::int64_t) { return std::vector<std::int64_t>{}; }).has_value());
  EXPECT_FALSE(with(0.5, [](std::int64_t) { return std::vector<std::int64_t>{}; }).has_value());
}

}  // namespace
}  // namespace tpc
