// SPDX-License-Identifier: Apache-2.0
#include "bench/published/table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "reference/core/contract.hpp"

namespace tpc::bench {

namespace {

std::vector<std::string> split_line(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

}  // namespace

Table Table::read(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw UsageError(fmt::format("cannot read {}", file.string()));
  std::ostringstream text;
  text << in.rdbuf();
  return parse(file.stem().string(), text.str());
}

Table Table::parse(const std::string& name, const std::string& text) {
  Table table;
  table.name_ = name;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string> cells = split_line(line);
    if (table.columns_.empty()) {
      table.columns_ = std::move(cells);
      continue;
    }
    if (cells.size() != table.columns_.size())
      throw UsageError(fmt::format("line {} of table {} has {} cells, its header {}", number, name,
                                   cells.size(), table.columns_.size()));
    table.cells_.push_back(std::move(cells));
  }
  if (table.cells_.empty()) throw UsageError(fmt::format("table {} has no rows", name));
  return table;
}

std::size_t Table::index_of(const std::string& column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) throw UsageError(fmt::format("table {} has no column '{}'", name_, column));
  return static_cast<std::size_t>(found - columns_.begin());
}

const std::string& Table::text(std::size_t row, const std::string& column) const {
  return cells_.at(row)[index_of(column)];
}

void Table::set(std::size_t row, const std::string& column, const std::string& text) {
  cells_.at(row)[index_of(column)] = text;
}

Figure Table::figure(std::size_t row, const std::string& column) const {
  const std::string& printed = text(row, column);
  Figure figure;
  const auto [end, error] = std::from_chars(printed.data(), printed.data() + printed.size(), figure.value);
  if (error != std::errc{} || end != printed.data() + printed.size())
    throw UsageError(fmt::format("'{}' in column '{}' of table {} is no number", printed, column, name_));
  const std::size_t point = printed.find('.');
  const auto digits = point == std::string::npos ? 0 : static_cast<int>(printed.size() - point - 1);
  figure.half_unit = 0.5 * std::pow(10.0, -digits);
  return figure;
}

std::size_t Table::row_where(const std::string& column, const std::string& wanted) const {
  for (std::size_t row = 0; row < rows(); ++row)
    if (text(row, column) == wanted) return row;
  throw UsageError(fmt::format("table {} has no row whose '{}' is '{}'", name_, column, wanted));
}

Tables read_tables(const std::filesystem::path& folder) {
  std::error_code error;
  Tables tables;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".csv") tables.emplace(entry.path().stem(), Table::read(entry.path()));
  if (tables.empty()) throw UsageError(fmt::format("there are no tables in {}", folder.string()));
  return tables;
}

}  // namespace tpc::bench
