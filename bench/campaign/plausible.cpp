// SPDX-License-Identifier: Apache-2.0
#include "bench/campaign/plausible.hpp"

#include <algorithm>
#include <map>

namespace tpc::bench {

namespace {

// Clocks move between two measurements of one thing; beyond this nothing explains it.
constexpr double slack = 1.1;

void refuse(Row& row, const std::string& why) {
  row.status = "fail";
  row.reason = "impossible: " + why;
}

void check_link(Row& row, double link_bytes_per_s) {
  const auto rate = row.figures.find("bus_bandwidth_gb_per_s");
  if (link_bytes_per_s == 0 || rate == row.figures.end() || row.transport.find("tcp") == std::string::npos)
    return;
  // Small messages may still fit into the buffers of the link.
  constexpr std::int64_t beyond_buffers = 4 << 20;
  if (row.payload_bytes >= beyond_buffers && rate->second * 1e9 > slack * link_bytes_per_s)
    refuse(row, fmt::format("{:.3g} GB/s on a link of {:.3g} GB/s", rate->second, link_bytes_per_s / 1e9));
}

double best_product_rate(const Results& results, int tp) {
  double best = 0;
  for (const Row& row : results.rows) {
    const auto rate = row.figures.find("gflop_per_s");
    if (row.kind == "gemm" && row.tp == tp && rate != row.figures.end())
      best = std::max(best, rate->second * 1e9);
  }
  return best;
}

void check_step(Row& row, double product_rate, double peak) {
  const auto flops = row.figures.find("flops");
  if (row.kind != "step" || flops == row.figures.end()) return;
  const double rate = flops->second / row.seconds.median;
  if (product_rate > 0) row.figures["share_of_product_rate"] = rate / product_rate;
  if (product_rate > 0 && rate > slack * product_rate)
    refuse(row, fmt::format("{:.3g} GFLOP/s in a step whose products reach {:.3g} alone", rate / 1e9,
                            product_rate / 1e9));
  if (peak > 0) row.figures["model_flops_utilisation"] = rate / peak;
  if (peak > 0 && rate > peak)
    refuse(row,
           fmt::format("{:.3g} GFLOP/s is {:.0f} % of the device's peak", rate / 1e9, 100 * rate / peak));
}

}  // namespace

void refuse_impossible(Results& results, const Limits& limits) {
  for (Row& row : results.rows) {
    if (row.status != "ok") continue;
    check_link(row, limits.link_bytes_per_s);
    check_step(row, best_product_rate(results, row.tp), limits.peak_flops_per_s);
  }
}

}  // namespace tpc::bench
