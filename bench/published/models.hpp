// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/cost_model/formulas.hpp"
#include "bench/published/table.hpp"

namespace tpc::bench {

// A model of Korthikanti et al. (rows of activation_layer.csv), with its micro-batch.
struct PublishedModel {
  std::string name;
  TransformerShape shape;
};

inline PublishedModel published_model(const Tables& tables, const std::string& name) {
  constexpr double sequence = 2048;
  constexpr double vocab = 51200;
  const Table& table = tables.at("activation_layer");
  const std::size_t row = table.row_where("model", name);
  return {name,
          {table.number(row, "batch"), sequence, table.number(row, "hidden"), table.number(row, "heads"),
           table.number(row, "layers"), vocab}};
}

}  // namespace tpc::bench
