// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/collectives.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>

#include "bench/measure/caches.hpp"
#include "reference/core/philox.hpp"

namespace tpc::bench {

namespace {

// Values that repeat: filled in and compared at the speed of memory, so that time is left for samples.
constexpr std::int64_t period = 17;
using Pattern = std::array<double, period>;

// Whole numbers of at most 8: sums over up to 32 ranks are exact even in bf16.
Pattern pattern_of(int rank, int slot) {
  Pattern pattern{};
  for (std::int64_t i = 0; i < period; ++i)
    pattern[static_cast<std::size_t>(i)] = static_cast<double>((i * 7 + rank * 5 + slot * 3) % period - 8);
  return pattern;
}

Pattern sum_of(int ranks, int slot) {
  Pattern sum{};
  for (int rank = 0; rank < ranks; ++rank) {
    const Pattern term = pattern_of(rank, slot);
    std::transform(sum.begin(), sum.end(), term.begin(), sum.begin(), std::plus<>());
  }
  return sum;
}

// Walks from element `first` of what the pattern continues to.
template <class Visit>
void along(const Pattern& pattern, std::int64_t first, std::int64_t count, const Visit& visit) {
  auto phase = static_cast<std::size_t>(first % period);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, pattern[phase]);
    phase = phase + 1 == period ? 0 : phase + 1;
  }
}

template <class At>
void fill_with(const Tensor& tensor, const At& at) {
  visit_float(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* data = tensor.data<T>();
    for (std::int64_t i = 0; i < tensor.count(); ++i) data[i] = static_cast<T>(static_cast<float>(at(i)));
  });
}

void fill_with(const Tensor& tensor, const Pattern& pattern) {
  visit_float(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* data = tensor.data<T>();
    along(pattern, 0, tensor.count(),
          [&](std::int64_t i, double value) { data[i] = static_cast<T>(static_cast<float>(value)); });
  });
}

std::string first_difference(const Tensor& tensor, const Pattern& pattern, std::int64_t first) {
  std::string complaint;
  visit_float(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* data = tensor.data<T>();
    along(pattern, first, tensor.count(), [&](std::int64_t i, double value) {
      if (static_cast<double>(data[i]) != value && complaint.empty())
        complaint = fmt::format("element {} is {}, not {}", i, static_cast<double>(data[i]), value);
    });
  });
  return complaint;
}

// All slots of one collective on one rank.
class Buffers {
 public:
  Buffers(Communicator& ranks, CollectiveKind kind, DType dtype, std::int64_t count)
      : ranks_(ranks), kind_(kind), shard_(count / ranks.size()) {
    TPC_EXPECT(kind == CollectiveKind::all_reduce || count % ranks.size() == 0, "{} elements over {} ranks",
               count, ranks.size());
    const std::int64_t in = kind == CollectiveKind::all_gather ? shard_ : count;
    const std::int64_t out = kind == CollectiveKind::reduce_scatter ? shard_ : count;
    const auto bytes = static_cast<std::size_t>(in + out) * size_of(dtype);
    for (int slot = 0; slot < slots_beyond_caches(bytes); ++slot) {
      in_.push_back(host_tensor(dtype, {in}, "in"));
      out_.push_back(host_tensor(dtype, {out}, "out"));
      fill_with(in_.back(), pattern_of(ranks_.rank(), slot));
    }
  }

  const std::vector<Tensor>& in() const { return in_; }
  const std::vector<Tensor>& out() const { return out_; }

  void poison(int slot) const {
    fill_with(out_[at(slot)], [](std::int64_t) { return std::numeric_limits<double>::quiet_NaN(); });
  }

  void run(int slot) const {
    if (kind_ == CollectiveKind::all_reduce) ranks_.all_reduce(out_[at(slot)], in_[at(slot)], ReduceOp::sum);
    if (kind_ == CollectiveKind::all_gather) ranks_.all_gather(out_[at(slot)], in_[at(slot)]);
    if (kind_ == CollectiveKind::reduce_scatter)
      ranks_.reduce_scatter(out_[at(slot)], in_[at(slot)], ReduceOp::sum);
  }

  std::string check(int slot) const {
    const Tensor& out = out_[at(slot)];
    if (kind_ == CollectiveKind::all_gather) return gathered_difference(out, slot);
    const std::int64_t first = kind_ == CollectiveKind::reduce_scatter ? ranks_.rank() * shard_ : 0;
    return first_difference(out, sum_of(ranks_.size(), slot), first);
  }

 private:
  std::string gathered_difference(const Tensor& out, int slot) const {
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const std::string complaint =
          first_difference(out.rows(rank * shard_, shard_), pattern_of(rank, slot), 0);
      if (!complaint.empty()) return fmt::format("of rank {}: {}", rank, complaint);
    }
    return "";
  }
  static std::size_t at(int slot) { return static_cast<std::size_t>(slot); }

  Communicator& ranks_;
  CollectiveKind kind_;
  std::int64_t shard_;
  std::vector<Tensor> in_;
  std::vector<Tensor> out_;
};

std::uint64_t hash_bytes(const Tensor& tensor) {
  return hash_name({reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()});
}

}  // namespace

TimedCollective timed_collective(Communicator& ranks, CollectiveKind kind, DType dtype, std::int64_t count) {
  const auto buffers = std::make_shared<Buffers>(ranks, kind, dtype, count);
  Subject subject;
  subject.name = fmt::format("collective/{}/{}/{}", tpc::name(kind), tpc::name(dtype), count);
  subject.slots = static_cast<int>(buffers->in().size());
  subject.prepare = [buffers](int slot) { buffers->poison(slot); };
  subject.run = [buffers](int slot) { buffers->run(slot); };
  subject.check = [buffers](int slot) { return buffers->check(slot); };
  return {std::move(subject), buffers->in(), buffers->out()};
}

std::vector<std::int64_t> collective_sizes(std::int64_t largest_bytes) {
  constexpr std::int64_t smallest = 8;
  // From here on libraries change their algorithms, which the fit only sees where there are sizes enough.
  constexpr std::int64_t dense_from = 32 << 10;
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = smallest; bytes < largest_bytes; bytes *= bytes < dense_from ? 4 : 2)
    sizes.push_back(bytes);
  sizes.push_back(largest_bytes);
  return sizes;
}

std::vector<Fingerprint> reduction_fingerprints(Communicator& ranks) {
  constexpr std::uint64_t seed = 20;
  std::vector<Fingerprint> fingerprints;
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const std::int64_t count : {16, 1024, 65536, 1048576}) {
      const Tensor in = host_tensor(dtype, {count});
      const Tensor out = host_tensor(dtype, {count});
      fill_with(in, [&](std::int64_t i) {
        return gaussian(
            philox(seed, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(ranks.rank())));
      });
      ranks.all_reduce(out, in, ReduceOp::sum);
      const std::uint64_t first = hash_bytes(out);
      ranks.all_reduce(out, in, ReduceOp::sum);
      const bool again = hash_bytes(out) == first;
      // Equal everywhere only if the largest and the smallest are equal, compared in halves that f64 holds
      // exactly.
      const auto low = static_cast<double>(first & 0xffffffffU);
      const auto high = static_cast<double>(first >> 32U);
      const bool same =
          largest(ranks, low) == -largest(ranks, -low) && largest(ranks, high) == -largest(ranks, -high);
      const bool all_again = largest(ranks, again ? 0 : 1) == 0;
      fingerprints.push_back(
          {fmt::format("all_reduce {} of {} on {} ranks", tpc::name(dtype), count, ranks.size()), first,
           same && all_again});
    }
  return fingerprints;
}

}  // namespace tpc::bench
