// SPDX-License-Identifier: Apache-2.0
// Published tables: comma-separated files whose comments say what they are and where they come from.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tpc::bench {

// A figure as it was printed: how many digits it has says how exact it is.
struct Figure {
  double value = 0;
  double half_unit = 0;  // of the last printed digit
};

class Table {
 public:
  // Throws UsageError that names the file and the line.
  static Table read(const std::filesystem::path& file);
  static Table parse(const std::string& name, const std::string& text);

  const std::string& name() const { return name_; }
  std::size_t rows() const { return cells_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  const std::string& text(std::size_t row, const std::string& column) const;
  bool has(std::size_t row, const std::string& column) const { return !text(row, column).empty(); }
  Figure figure(std::size_t row, const std::string& column) const;
  double number(std::size_t row, const std::string& column) const { return figure(row, column).value; }
  std::size_t row_where(const std::string& column, const std::string& text) const;
  void set(std::size_t row, const std::string& column, const std::string& text);

 private:
  std::size_t index_of(const std::string& column) const;

  std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> cells_;
};

using Tables = std::map<std::string, Table>;  // by the file's stem

// All of results/published.
Tables read_tables(const std::filesystem::path& folder);

}  // namespace tpc::bench
