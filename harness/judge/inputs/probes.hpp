// SPDX-License-Identifier: Apache-2.0
// Inputs that name the culprit instead of measuring it. The first dim of a probe is the contributor: a rank,
// later a microbatch or step.
//
// Contribution: where a is 0, element j of contributor r is 1 where j mod (contributors) is r, else 0; after
// a sum every element is 1, and one that is not tells whose part is missing or came twice. Where only sums
// survive a is 16: every element of contributor r is 16^r, so the digits of a sum count how often each took
// part, up to 15 times. f64 holds 13 contributors, f32 6, bf16 2. Provenance: a value tells contributor and
// index: 1 + (its place in the whole input) mod M, with M a prime that the dtype can count to. In bf16 places
// 251 apart look alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/values/request.hpp"

namespace tpc {

int contributors_in_a_sum(DType dtype);        // 13, 6, 2
std::int64_t provenance_modulus(DType dtype);  // M
double provenance_value(DType dtype, std::int64_t place);

// The base-16 digits of a sum of 16^r: how often each contributor took part. Empty where it is no such sum.
std::vector<int> counts_in_sum(double sum, int contributors);

// What a wrong value of a probe tells, e.g. "the part of rank 2 is missing"; empty where it tells nothing.
// The index is into the output without its first dim.
std::string read_probe(const Problem& problem, const InputSpec& input, std::int64_t index, double expected,
                       double got);

}  // namespace tpc
