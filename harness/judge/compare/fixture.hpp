// SPDX-License-Identifier: Apache-2.0
// Tensors to be compared, and ranks that compare them. For tests alone.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/judge/compare/compare.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {

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
        visit_float(dtype, [&, from = from, to = to](auto zero) {
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

inline Case case_on(int ranks, Tier tier = Tier::f64, DType dtype = DType::f64) {
  Case c;
  c.tier = tier;
  c.request.problem.dtype = dtype;
  c.request.mesh = {{ranks}, {"tp"}};
  return c;
}

// Every rank's comparison is the same, or the test fails.
inline Comparison judged(const Case& c, const Answers& answers, const Held& held) {
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

inline Answers y_answers() { return std::move(Answers().add("y", {8, 3})); }

inline void expect_failure(const Comparison& comparison, const std::string& words) {
  EXPECT_EQ(comparison.verdict, Verdict::fail);
  EXPECT_NE(comparison.message.find(words), std::string::npos) << comparison.message;
  EXPECT_GT(comparison.worst_ratio, 1);
}

}  // namespace tpc
