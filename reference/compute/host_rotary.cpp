// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "reference/compute/checks.hpp"
#include "reference/compute/host.hpp"
#include "reference/compute/host_loops.hpp"
#include "reference/compute/rotary_angles.hpp"

namespace tpc {

namespace {

// One position's rotation; a transposed one has the sines negated.
template <class W>
struct Rotation {
  std::vector<W> cosines, sines;

  void turn_to(std::int64_t position, const std::vector<double>& frequencies, Direction direction) {
    const double sign = direction == Direction::forward ? 1 : -1;
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      const double angle = static_cast<double>(position) * frequencies[i];
      cosines[i] = static_cast<W>(std::cos(angle));
      sines[i] = static_cast<W>(sign * std::sin(angle));
    }
  }
};

// Where the two members of pair i lie in a head: i·step and i·step + gap.
struct PairLayout {
  std::int64_t pairs, step, gap;
};

template <class T>
void rotate_head(T* to, const T* from, const Rotation<Wide<T>>& rotation, const PairLayout& layout) {
  const Wide<T>* cosine = rotation.cosines.data();
  const Wide<T>* sine = rotation.sines.data();
  for (std::int64_t i = 0; i < layout.pairs; ++i) {
    const std::int64_t first = i * layout.step;
    const std::int64_t second = first + layout.gap;
    const Wide<T> u = widen(from[first]);
    const Wide<T> v = widen(from[second]);
    to[first] = static_cast<T>(u * cosine[i] - v * sine[i]);
    to[second] = static_cast<T>(v * cosine[i] + u * sine[i]);
  }
}

}  // namespace

void HostKernels::rotary(const Tensor& y, const Tensor& x, const ModelConfig& config, Direction direction) {
  const std::vector<double> frequencies = rotary_frequencies(config);
  const auto pairs = static_cast<std::int64_t>(frequencies.size());
  const bool halves = config.rotary == RotaryForm::halves;
  const PairLayout layout = halves ? PairLayout{pairs, 1, pairs} : PairLayout{pairs, 2, 1};
  visit_float(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Rotation<Wide<T>> rotation{std::vector<Wide<T>>(frequencies.size()),
                               std::vector<Wide<T>>(frequencies.size())};
    const T* from = values<T>(x);
    T* to = values<T>(y);
    for (std::int64_t position = 0; position < x.size(0); ++position) {
      rotation.turn_to(position, frequencies, direction);
      for (std::int64_t head = 0; head < x.size(1) * x.size(2); ++head, from += 2 * pairs, to += 2 * pairs)
        rotate_head(to, from, rotation, layout);
    }
  });
}

}  // namespace tpc
