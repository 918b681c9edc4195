// SPDX-License-Identifier: Apache-2.0
#include "reference/core/words.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "reference/core/definitions.hpp"
#include "reference/core/dtype.hpp"
#include "reference/core/tensor.hpp"

namespace tpc {
namespace {

template <class E>
void expect_spelt_up_to(E last) {
  const auto all = every<E>();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(last) + 1);
  std::set<std::string_view> words;
  for (const E value : all) {
    EXPECT_EQ(named<E>(name(value)), value);
    words.insert(name(value));
  }
  EXPECT_EQ(words.size(), all.size()) << "two are spelt alike";
}

TEST(Words, EveryEnumeratorHasOneOfItsOwn) {
  expect_spelt_up_to(Operation::train);
  expect_spelt_up_to(NormKind::rms_norm);
  expect_spelt_up_to(MlpKind::swiglu);
  expect_spelt_up_to(GeluForm::tanh);
  expect_spelt_up_to(PositionKind::rotary);
  expect_spelt_up_to(RotaryForm::interleaved);
  expect_spelt_up_to(SmoothingOver::other_classes);
  expect_spelt_up_to(LossMean::all_tokens);
  expect_spelt_up_to(DType::u8);
  expect_spelt_up_to(Place::nowhere);
}

TEST(Words, OthersNameNothing) {
  EXPECT_EQ(named<PositionKind>("rotary"), PositionKind::rotary);
  EXPECT_EQ(named<PositionKind>("Rotary"), std::nullopt);
  EXPECT_EQ(named<PositionKind>(""), std::nullopt);
  EXPECT_THROW((void)name(static_cast<PositionKind>(3)), std::out_of_range);
}

}  // namespace
}  // namespace tpc
