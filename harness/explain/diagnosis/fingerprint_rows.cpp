// SPDX-License-Identifier: Apache-2.0
// Rows of a table that were read by the wrong id, or by ranks that do not own it, or that got no gradient.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "harness/explain/diagnosis/fingerprints.hpp"
#include "harness/values/join.hpp"

namespace tpc {

namespace {

// Which row of its part of the table a rank reads for an id of another rank.
using ForeignRow = std::int64_t (*)(std::int64_t id, std::int64_t first, std::int64_t rows);
struct ForeignRead {
  const char* what;
  ForeignRow row;
};
constexpr std::array<ForeignRead, 4> foreign_reads = {{
    {"the first or the last, as where ids are clamped into it",
     [](std::int64_t id, std::int64_t first, std::int64_t rows) {
       return id < first ? first : first + rows - 1;
     }},
    {"the first", [](std::int64_t, std::int64_t first, std::int64_t) { return first; }},
    {"the last", [](std::int64_t, std::int64_t first, std::int64_t rows) { return first + rows - 1; }},
    {"the one at the remainder of the id",
     [](std::int64_t id, std::int64_t first, std::int64_t rows) { return first + id % rows; }},
}};

class Table {
 public:
  Table(const TensorEvidence& tensor, const TableReads& reads)
      : tensor_(tensor), reads_(reads), width_(tensor.shape.back()) {}

  std::int64_t rows() const { return static_cast<std::int64_t>(reads_.table.size()) / width_; }
  std::int64_t width() const { return width_; }

  void add(std::vector<double>& sum, std::int64_t row, double factor) const {
    for (std::int64_t i = 0; i < width_ && row < rows(); ++i)  // rows beyond are padding
      sum[static_cast<std::size_t>(i)] += factor * reads_.table[static_cast<std::size_t>(row * width_ + i)];
  }
  bool is_nothing(const std::vector<double>& rest, double error) const {
    return explains(norm(rest), error, tensor_.epsilon);
  }

  // What explains the error of a row, in words that are the same for rows of the same kind.
  std::string cause(const std::vector<double>& error, std::int64_t id) const {
    const double size = norm(error);
    std::vector<double> without = error;
    add(without, id, 1);
    if (is_nothing(without, size)) return "no row at all: no rank takes the id for its own";
    for (const ForeignRead& read : foreign_reads)
      if (is_read(read.row, error, id))
        return fmt::format(
            "besides its own row one of the part of another rank ({}): ids that are not a rank's own are not "
            "masked",
            read.what);
    for (std::int64_t row = 0; row < rows(); ++row) {
      std::vector<double> rest = without;
      add(rest, row, -1);
      if (is_nothing(rest, size))
        return fmt::format("the row that is {} further: the id is off by that", row - id);
    }
    return {};
  }

 private:
  bool is_read(ForeignRow row_of, const std::vector<double>& error, std::int64_t id) const {
    return std::any_of(reads_.rows_per_rank.begin(), reads_.rows_per_rank.end(), [&](std::int64_t each) {
      std::vector<double> rest = error;
      for (std::int64_t first = 0; first < each * tensor_.ranks; first += each)
        if (id < first || id >= first + each) add(rest, row_of(id, first, each), -1);
      return is_nothing(rest, norm(error));
    });
  }

  const TensorEvidence& tensor_;
  const TableReads& reads_;
  std::int64_t width_;
};

}  // namespace

Finding find_foreign_rows(const TensorEvidence& tensor, const TableReads& reads) {
  const Table table(tensor, reads);
  std::map<std::string, std::set<int>> ids;  // by cause
  for (const Piece& piece : tensor.pieces) {
    if (piece.box.extent.back() != table.width()) return {};
    const std::vector<double> right = right_part(tensor, piece.box);
    std::size_t next = 0;
    std::vector<std::int64_t> rows;
    for_each_run_of(piece.box, [&](const Shape& index, std::int64_t count) {
      const std::int64_t first = linear_index(tensor.shape, index) / table.width();
      for (std::int64_t r = 0; r < count / table.width(); ++r) rows.push_back(first + r);
    });
    for (const std::int64_t row : rows) {
      std::vector<double> error(static_cast<std::size_t>(table.width()));
      double largest = 0;
      for (double& e : error) {
        e = piece.values[next] - right[next];
        largest = std::max(largest, std::fabs(e));
        ++next;
      }
      if (!(largest > tensor.threshold)) continue;
      const std::int64_t id = reads.ids[static_cast<std::size_t>(row)];
      ids[table.cause(error, id)].insert(static_cast<int>(id));
    }
  }
  if (ids.size() != 1 || ids.begin()->first.empty()) return {};
  const std::set<int>& all = ids.begin()->second;
  std::vector<int> some(all.begin(), all.end());
  constexpr std::size_t most = 6;
  const std::size_t more = some.size() > most ? some.size() - most : 0;
  some.resize(some.size() - more);
  return fmt::format("each wrong id ({}{}) gets {}", joined(some, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "", ids.begin()->first);
}

// One row of each shard, at the same place in it: an index of the whole table was applied to its parts.
Finding find_rows_without_gradient(const TensorEvidence& tensor) {
  if (tensor.shape.size() != 2) return {};
  std::set<std::int64_t> local;
  std::set<int> rows;
  for (const Piece& piece : tensor.pieces) {
    const std::vector<double> right = right_part(tensor, piece.box);
    const std::int64_t width = piece.box.extent[1];
    if (piece.box.extent[0] < 2) return {};  // all of a part is no row of it
    for (std::int64_t r = 0; r < piece.box.extent[0]; ++r) {
      const auto in_row = [&](const std::vector<double>& values, auto holds) {
        const auto first = values.begin() + r * width;
        return std::all_of(first, first + width, holds);
      };
      bool wrong = false;
      for (std::int64_t i = r * width; i < (r + 1) * width; ++i)
        wrong |= std::fabs(piece.values[static_cast<std::size_t>(i)] - right[static_cast<std::size_t>(i)]) >
                 tensor.threshold;
      if (!wrong) continue;
      if (!in_row(piece.values, [](double value) { return value == 0; })) return {};
      local.insert(r);
      rows.insert(static_cast<int>(piece.box.offset[0] + r));
    }
  }
  if (local.size() != 1) return {};
  if (rows.size() == 1) return fmt::format("row {} alone gets no gradient", *rows.begin());
  return fmt::format(
      "the rows {} get no gradient: row {} of a rank's part, as where an index of padding (fault TP-55) is "
      "applied to each part of the table",
      joined(std::vector<int>(rows.begin(), rows.end()), ", "), *local.begin());
}

}  // namespace tpc
