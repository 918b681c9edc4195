// SPDX-License-Identifier: Apache-2.0
// What fingerprints have to know of a request.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/explain/diagnosis/fingerprints.hpp"
#include "harness/values/request.hpp"

namespace tpc {

std::optional<HeadRows> head_rows(const ModelConfig& model, const std::string& tensor);

// Numbers by which a mean may be off, with what there is that many of.
std::vector<std::pair<std::string, double>> counts_of(const Request& request);

// Of the output of an embedding.
std::optional<TableReads> reads_of(const Request& request, const std::string& tensor);

}  // namespace tpc
