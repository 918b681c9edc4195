// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/measure/row.hpp"
#include "bench/steps/station.hpp"

namespace tpc::bench {

// What is the same for all rows of one group of ranks.
struct GroupFacts {
  std::string transport = "none";
  int hosts = 1;
  bool oversubscribed = false;
};

struct StepSetting {
  StackShape shape;  // its form aside
  std::vector<Form> forms;
  Pass pass = Pass::step;
  std::string implementation = "reference";
  const std::vector<Signatures>* references = nullptr;  // by slot
  CommunicatorPtr overlapping;  // of the same ranks, whose calls return before they are over
  Plan plan;
  Loop loop;
};

// Collective over ranks. For each form (on one rank there is only one) the rows
// "step", "compute_only" and "communication_only"; and "products_only" and one "gemm" per shape of product.
std::vector<Row> measure_steps(const StepSetting& setting, const CommunicatorPtr& ranks, Compute& compute,
                               const GroupFacts& facts);

// Only the products: a row per shape that occurs on so many ranks.
std::vector<Row> measure_products(const StepSetting& setting, const CommunicatorPtr& ranks, Compute& compute,
                                  const GroupFacts& facts);

}  // namespace tpc::bench
