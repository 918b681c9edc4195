// SPDX-License-Identifier: Apache-2.0
// Patterns by which a wrong tensor gives its cause away, without running anything. Each is a small function
// of what is right and what the ranks hold, and says in a sentence what it found, or nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/explain/diagnosis/evidence.hpp"

namespace tpc {

// What each rank adds to a tensor that is a sum over ranks, and what is no part of the sum (a bias).
struct Contributions {
  std::string meaning;                     // "the columns of out.weight that rank r holds"
  std::vector<std::vector<double>> terms;  // by rank, each the whole tensor
  std::vector<double> rest;
};

// Blocks of rows (dim 0) that belong to heads.
struct HeadRows {
  std::int64_t rows_per_head = 0;
  std::string heads;  // "heads", "kv heads"
};

// A tensor whose rows (along its last dim) are rows of a table that is cut over the ranks, by ids, and
// perhaps something added to them.
struct TableReads {
  std::vector<std::int64_t> ids;            // by row of the tensor
  std::vector<std::int64_t> rows_per_rank;  // as the table may be cut: with padding or without
  std::vector<double> table;                // row-major
};

using Finding = std::optional<std::string>;

// A hypothesis explains what the ranks hold where it is so much closer than what is right is.
bool explains(double residual, double error, double epsilon);

Finding find_not_finite(const TensorEvidence& tensor);
Finding find_zeros(const TensorEvidence& tensor);
Finding find_ratio(const TensorEvidence& tensor);             // T, 1/T, sqrt T, ..., or any other constant
Finding find_offset(const TensorEvidence& tensor);            // log T, or any other constant
Finding find_own_partials(const TensorEvidence& tensor);      // copies that add up to what each should be
Finding find_shards_elsewhere(const TensorEvidence& tensor);  // permuted, or all the same
Finding find_transposed(const TensorEvidence& tensor);
Finding find_wrong_ranks(const TensorEvidence& tensor);  // some hold it right
Finding find_wrong_heads(const TensorEvidence& tensor, const HeadRows& rows);
Finding find_contribution(const TensorEvidence& tensor, const Contributions& contributions);
Finding find_foreign_rows(const TensorEvidence& tensor, const TableReads& reads);
Finding find_rows_without_gradient(const TensorEvidence& tensor);  // of a table

// All of them that say something, the most telling first.
std::vector<std::string> fingerprints(const TensorEvidence& tensor, const std::vector<Contributions>& sums,
                                      const std::optional<HeadRows>& heads,
                                      const std::optional<TableReads>& reads = {});

}  // namespace tpc
