// SPDX-License-Identifier: Apache-2.0
// Times of a collective as a function of its size.
#pragma once

#include <utility>
#include <vector>

#include "bench/cost_model/least_squares.hpp"
#include "bench/cost_model/wire.hpp"

namespace tpc::bench {

struct Timing {
  double payload_bytes = 0;
  double seconds = 0;
};

// One collective on one number of ranks: t = alpha + payload/rate.
struct AlphaBeta {
  double alpha_s = 0;
  double s_per_byte = 0;  // of payload
  double seconds(double payload_bytes) const { return alpha_s + payload_bytes * s_per_byte; }
};
AlphaBeta fit_alpha_beta(const std::vector<Timing>& timings);
RelativeErrors errors_of(const AlphaBeta& model, const std::vector<Timing>& timings);

// Several collectives and numbers of ranks at once (Hockney's terms and a cost of reducing):
// t = steps·alpha + wire bytes·beta + reduced bytes·gamma.
struct AlphaBetaGamma {
  double alpha_s = 0;
  double beta_s_per_byte = 0;
  double gamma_s_per_byte = 0;
  double seconds(CollectiveKind kind, Algorithm algorithm, int ranks, double payload_bytes) const;
};
struct CollectiveTiming {
  CollectiveKind kind;
  int ranks;
  Timing timing;
};
AlphaBetaGamma fit_alpha_beta_gamma(Algorithm algorithm, const std::vector<CollectiveTiming>& timings);

// An all_reduce in the switch, by its wire rate alone: t = (ranks+1)/ranks·payload/rate.
double fit_in_switch_rate(const std::vector<CollectiveTiming>& timings);

// A transport changes its protocol with the size, so one line does not fit 8 B and 64 MiB: a few lines, each
// for payloads up to its limit. Where lines meet the times need not.
class PiecewiseAlphaBeta {
 public:
  // As many lines (three at most) as lower the mean error, each through at least three sizes.
  static PiecewiseAlphaBeta fit(std::vector<Timing> timings);

  struct Piece {
    double up_to_bytes;  // infinity for the last
    AlphaBeta line;
  };
  PiecewiseAlphaBeta() = default;
  explicit PiecewiseAlphaBeta(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}
  double seconds(double payload_bytes) const;
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
};

}  // namespace tpc::bench
