// SPDX-License-Identifier: Apache-2.0
// How each kind of generator makes its elements; inputs.cpp chooses among them.
#pragma once

#include <functional>

#include "harness/values/request.hpp"

namespace tpc {

// Writes the elements [first, first + count) of the global tensor, row-major. Knows all it needs by itself.
using RunFiller = std::function<void(std::int64_t first, std::int64_t count, double* out)>;

// From a function of a row (of the last dim) that writes all of it.
RunFiller filler_by_rows(std::int64_t width, std::function<void(std::int64_t row, double* out)> fill_row);
// From all elements at once: for small inputs whose elements depend on one another.
RunFiller filler_of(std::vector<double> elements);

RunFiller norm_rows_filler(const Problem& problem, const InputSpec& input);      // exact_rows.cpp
RunFiller paired_rows_filler(const Problem& problem, const InputSpec& input);    // exact_rows.cpp
RunFiller peaked_logits_filler(const Problem& problem, const InputSpec& input);  // exact_rows.cpp
RunFiller attention_filler(const Problem& problem, const InputSpec& input);      // exact_attention.cpp
RunFiller ids_filler(const Problem& problem, const InputSpec& input);            // inputs_ids.cpp
RunFiller probe_filler(const Problem& problem, const InputSpec& input);          // probes.cpp

// One element of the kinds `integers` and `sparse`.
double integer_at(const Generator& generator, std::uint64_t seed, std::uint64_t stream, std::int64_t index);
double sparse_at(const Generator& generator, std::uint64_t seed, std::uint64_t stream, std::int64_t index);
// Integers where the generator's share c is zero, else sparse.
double whole_number_at(const Generator& generator, std::uint64_t seed, std::uint64_t stream,
                       std::int64_t index);

}  // namespace tpc
