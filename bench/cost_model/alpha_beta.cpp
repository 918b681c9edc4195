// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/alpha_beta.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace tpc::bench {

namespace {

std::vector<double> seconds_of(std::span<const Timing> timings) {
  std::vector<double> seconds;
  for (const Timing& timing : timings) seconds.push_back(timing.seconds);
  return seconds;
}

AlphaBeta fit_line(std::span<const Timing> timings) {
  std::vector<std::vector<double>> terms;
  for (const Timing& timing : timings) terms.push_back({1, timing.payload_bytes});
  const std::vector<double> c = fit_relative(terms, seconds_of(timings));
  return {c[0], c[1]};
}

double error_sum(const AlphaBeta& line, std::span<const Timing> timings) {
  double sum = 0;
  for (const Timing& timing : timings)
    sum += std::abs(line.seconds(timing.payload_bytes) / timing.seconds - 1);
  return sum;
}

using Pieces = std::vector<PiecewiseAlphaBeta::Piece>;

struct Fitted {
  Pieces pieces;
  double error = std::numeric_limits<double>::infinity();  // sum
};

constexpr std::size_t sizes_per_line = 3;

// The best `lines` lines through the timings, by trying every place to cut off the first.
Fitted fit_lines(std::span<const Timing> timings, int lines) {
  Fitted best;
  if (lines == 1) {
    const AlphaBeta line = fit_line(timings);
    return {{{std::numeric_limits<double>::infinity(), line}}, error_sum(line, timings)};
  }
  for (std::size_t cut = sizes_per_line; cut + sizes_per_line <= timings.size(); ++cut) {
    const auto low = timings.first(cut);
    const AlphaBeta line = fit_line(low);
    const double low_error = error_sum(line, low);
    if (low_error >= best.error) continue;
    Fitted rest = fit_lines(timings.subspan(cut), lines - 1);
    if (low_error + rest.error >= best.error) continue;
    const double limit = std::sqrt(timings[cut - 1].payload_bytes * timings[cut].payload_bytes);
    rest.pieces.insert(rest.pieces.begin(), {limit, line});
    rest.error += low_error;
    best = std::move(rest);
  }
  return best;
}

}  // namespace

AlphaBeta fit_alpha_beta(const std::vector<Timing>& timings) { return fit_line(timings); }

RelativeErrors errors_of(const AlphaBeta& model, const std::vector<Timing>& timings) {
  std::vector<double> predicted;
  for (const Timing& timing : timings) predicted.push_back(model.seconds(timing.payload_bytes));
  return relative_errors(predicted, seconds_of(timings));
}

double AlphaBetaGamma::seconds(CollectiveKind kind, Algorithm algorithm, int ranks,
                               double payload_bytes) const {
  const WireCost cost = wire_cost(kind, algorithm, ranks);
  return cost.steps * alpha_s +
         (cost.bytes_per_payload * beta_s_per_byte + cost.reduced_per_payload * gamma_s_per_byte) *
             payload_bytes;
}

AlphaBetaGamma fit_alpha_beta_gamma(Algorithm algorithm, const std::vector<CollectiveTiming>& timings) {
  std::vector<std::vector<double>> terms;
  std::vector<double> times;
  for (const CollectiveTiming& t : timings) {
    const WireCost cost = wire_cost(t.kind, algorithm, t.ranks);
    terms.push_back({cost.steps, cost.bytes_per_payload * t.timing.payload_bytes,
                     cost.reduced_per_payload * t.timing.payload_bytes});
    times.push_back(t.timing.seconds);
  }
  const std::vector<double> c = fit_relative(terms, times);
  return {c[0], c[1], c[2]};
}

double fit_in_switch_rate(const std::vector<CollectiveTiming>& timings) {
  std::vector<std::vector<double>> terms;
  std::vector<double> times;
  for (const CollectiveTiming& t : timings) {
    terms.push_back({wire_bytes(t.kind, Algorithm::in_switch, t.ranks, t.timing.payload_bytes)});
    times.push_back(t.timing.seconds);
  }
  return 1 / fit_relative(terms, times)[0];
}

PiecewiseAlphaBeta PiecewiseAlphaBeta::fit(std::vector<Timing> timings) {
  TPC_EXPECT(!timings.empty(), "a fit through nothing");
  std::sort(timings.begin(), timings.end(),
            [](const Timing& a, const Timing& b) { return a.payload_bytes < b.payload_bytes; });
  constexpr int most_lines = 3;
  // Another line always lowers the error a little; it must pay, and beyond noise there is nothing to gain.
  constexpr double worth_a_line = 0.75;
  const double noise = 0.01 * static_cast<double>(timings.size());
  Fitted best = fit_lines(timings, 1);
  for (int lines = 2; lines <= most_lines && best.error > noise; ++lines) {
    Fitted finer = fit_lines(timings, lines);
    if (finer.error < worth_a_line * best.error) best = std::move(finer);
  }
  return PiecewiseAlphaBeta(std::move(best.pieces));
}

double PiecewiseAlphaBeta::seconds(double payload_bytes) const {
  TPC_EXPECT(!pieces_.empty(), "a model of nothing");
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(),
                                  [&](const Piece& p) { return payload_bytes <= p.up_to_bytes; });
  return piece->line.seconds(payload_bytes);
}

}  // namespace tpc::bench
