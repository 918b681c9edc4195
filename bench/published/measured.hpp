// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/cost_model/alpha_beta.hpp"
#include "bench/published/table.hpp"

namespace tpc::bench {

// The measured all_reduces of allreduce_published.csv.
std::vector<Timing> published_all_reduces(const Tables& tables, const std::string& gpu, int ranks,
                                          double at_least_bytes);
double published_all_reduce_s(const Tables& tables, const std::string& gpu, int ranks, double bytes);

constexpr double large_message_bytes = 16.0 * 1024 * 1024;  // from here on a line is expected to fit

}  // namespace tpc::bench
