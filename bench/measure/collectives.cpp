// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/collectives.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "bench/measure/caches.hpp"
#include "reference/core/philox.hpp"

namespace tpc::bench {

namespace {

// Whole numbers of at most 8: sums over up to 32 ranks are exact even in bf16.
double value_at(int rank, int slot, std::int64_t element) {
  return static_cast<double>((element * 7 + rank * 5 + slot * 3) % 17 - 8);
}

void fill_with(const Tensor& tensor, const std::function<double(std::int64_t)>& at) {
  visit_float(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* data = tensor.data<T>();
    for (std::int64_t i = 0; i < tensor.count(); ++i) data[i] = static_cast<T>(static_cast<float>(at(i)));
  });
}

std::string first_difference(const Tensor& tensor, const std::function<double(std::int64_t)>& at) {
  std::string complaint;
  visit_float(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* data = tensor.data<T>();
    for (std::int64_t i = 0; i < tensor.count() && complaint.empty(); ++i)
      if (static_cast<double>(data[i]) != at(i))
        complaint = fmt::format("element {} is {}, not {}", i, static_cast<double>(data[i]), at(i));
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
      fill_with(in_.back(), [&](std::int64_t i) { return value_at(ranks_.rank(), slot, i); });
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
    const std::int64_t first = kind_ == CollectiveKind::reduce_scatter ? ranks_.rank() * shard_ : 0;
    const auto sum = [&](std::int64_t i) {
      double total = 0;
      for (int r = 0; r < ranks_.size(); ++r) total += value_at(r, slot, first + i);
      return total;
    };
    const auto gathered = [&](std::int64_t i) {
      return value_at(static_cast<int>(i / shard_), slot, i % shard_);
    };
    return kind_ == CollectiveKind::all_gather ? first_difference(out_[at(slot)], gathered)
                                               : first_difference(out_[at(slot)], sum);
  }

 private:
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
