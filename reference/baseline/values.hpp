// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tpc::baseline {

using Values = std::vector<double>;

// Whether somebody asks for the magnitudes of a result's terms; they cost as much as the result.
enum class Magnitudes { skipped, wanted };

// A result and what is known of the terms it sums.
struct Terms {
  Values value;
  Values magnitudes;  // per element the sum of the terms' absolute values; empty where skipped
  double unit = 0;    // a power of two that divides every term; only known where contractions are accounted
  Values units = {};  // per element, where sums differ in which terms they have
};

// What tolerances are made of: the Euclidean norm and the maximum of magnitudes, gathered part by part.
class Scale {
 public:
  Scale() = default;
  explicit Scale(const Values& magnitudes) { add(magnitudes); }
  void add(const Values& magnitudes);
  double norm() const;
  double max() const { return max_; }

 private:
  double squares_ = 0;
  double max_ = 0;
};

// The scale of a [rows, cols] matrix of magnitudes that is never in memory as a whole. `fill` adds the rows
// first, first + 1, ... to `part`, which comes zeroed and sized.
using FillRows = std::function<void(std::int64_t first, std::int64_t count, Values& part)>;
Scale scale_of_rows(std::int64_t rows, std::int64_t cols, const FillRows& fill);

Values absolute(const Values& values);
void accumulate(Values& sum, const Values& term);
Terms sum_of(Terms a, const Terms& b);
double largest_quanta(const Terms& terms);  // of magnitudes, in units of what divides their terms

// The largest power of two that divides every value: infinity where all are zero.
double lowest_bit(double value);
double lowest_bit(const Values& values);

}  // namespace tpc::baseline
