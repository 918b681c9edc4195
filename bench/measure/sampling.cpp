// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/sampling.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/measure/statistics.hpp"
#include "bench/measure/texts.hpp"

namespace tpc::bench {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int rounds_of(const Plan& plan) {
  return plan.samples > 0 ? std::min(plan.rounds, plan.samples) : plan.rounds;
}

// One subject on one rank, from warm-up to the last round.
class Timing {
 public:
  Timing(Communicator& ranks, const Subject& subject, const Plan& plan)
      : ranks_(ranks), subject_(subject), plan_(plan) {}

  // Until two blocks in a row agree to 5 %, on the path that is timed; then chooses calls and samples, on
  // every rank alike.
  void warm_up() {
    constexpr int most_blocks = 6;
    constexpr double same = 0.05;
    double before = 0;
    double one = 0;
    for (int block = 0; block < most_blocks; ++block) {
      one = trial();
      if (block > 0 && std::abs(one / before - 1) < same) break;
      if (block > 0 && one * subject_.slots > plan_.seconds / 10) break;
      before = one;
    }
    constexpr int most_calls = 10'000;
    series_.calls = std::clamp(static_cast<int>(std::ceil(plan_.least_sample_s / one)), 1,
                               subject_.before ? 1 : most_calls);
    if (subject_.rival) series_.calls += (subject_.slots - series_.calls % subject_.slots) % subject_.slots;
    const double sample = one * series_.calls;
    constexpr int fewest = 3;
    constexpr int most = 60;
    samples_ = plan_.samples > 0
                   ? (plan_.samples + rounds_of(plan_) - 1) / rounds_of(plan_)
                   : std::clamp(static_cast<int>(plan_.seconds / (plan_.rounds * sample)), fewest, most);
  }

  void round(const Loop& loop) {
    series_.rounds.push_back(samples_);
    fill_slots();
    loop(subject_.name, samples_, [this] { return sample(); });
    if (subject_.rival) fill_slots();  // the last results may have been the rival's
    for (int slot = 0; subject_.check && slot < subject_.slots; ++slot) {
      const std::string complaint =
          subject_.check(slot);  // every rank checks every slot: it may take all of them
      if (wrong_.empty()) wrong_ = complaint;
    }
  }

  Series result() {
    gather_ranks();
    const auto complaints = all_texts(ranks_, wrong_);
    for (std::size_t r = 0; r < complaints.size() && series_.wrong.empty(); ++r)
      if (!complaints[r].empty()) series_.wrong = fmt::format("rank {}: {}", r, complaints[r]);
    return std::move(series_);
  }

 private:
  // Every slot runs at least once, so that each is there to be checked.
  void fill_slots() {
    for (int slot = 0; slot < subject_.slots; ++slot)
      if (subject_.prepare) subject_.prepare(slot);
    for (int slot = 0; slot < subject_.slots; ++slot) call(slot);
  }

  // Seconds per call, of the slowest rank.
  double trial() {
    double own = 0;
    largest(ranks_, 0);
    for (int slot = 0; slot < subject_.slots; ++slot) own += call(slot);
    return std::max(1e-9, largest(ranks_, own / subject_.slots));
  }

  double call(int slot) {
    if (subject_.before) subject_.before(slot);
    const auto start = std::chrono::steady_clock::now();
    subject_.run(slot);
    return seconds_since(start);
  }

  // The rival goes first every other time.
  double sample() {
    if (!subject_.rival) return own_sample();
    const bool first = series_.slowest.size() % 2 == 0;
    if (first) rival_sample();
    const double seconds = own_sample();
    if (!first) rival_sample();
    return seconds;
  }

  void rival_sample() {
    largest(ranks_, 0);
    series_.rival.push_back(subject_.rival(series_.calls));
  }

  double own_sample() {
    if (subject_.before) subject_.before(turn_);
    largest(ranks_, 0);
    const auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < series_.calls; ++call) {
      subject_.run(turn_);
      turn_ = turn_ + 1 == subject_.slots ? 0 : turn_ + 1;
    }
    own_.push_back(seconds_since(start) / series_.calls);
    series_.slowest.push_back(largest(ranks_, own_.back()));
    return series_.slowest.back() * series_.calls;
  }

  void gather_ranks() {
    if (own_.empty()) return;
    const auto count = static_cast<std::int64_t>(own_.size());
    const Tensor mine = host_tensor(DType::f64, {1, count});
    const Tensor all = host_tensor(DType::f64, {ranks_.size(), count});
    std::copy(own_.begin(), own_.end(), mine.data<double>());
    ranks_.all_gather(all, mine);
    for (int r = 0; r < ranks_.size(); ++r)
      series_.by_rank.emplace_back(all.data<double>() + r * count, all.data<double>() + (r + 1) * count);
  }

  Communicator& ranks_;
  const Subject& subject_;
  const Plan& plan_;
  Series series_;
  std::vector<double> own_;
  std::string wrong_;
  int samples_ = 1;
  int turn_ = 0;
};

std::vector<std::vector<double>> cut(const std::vector<double>& samples, const std::vector<int>& counts) {
  std::vector<std::vector<double>> parts;
  auto at = samples.begin();
  for (const int count : counts) {
    parts.emplace_back(at, at + count);
    at += count;
  }
  return parts;
}

}  // namespace

std::vector<std::vector<double>> Series::by_round() const { return cut(slowest, rounds); }

std::vector<std::vector<double>> Series::by_launch() const {
  return cut(slowest, launches.empty() ? std::vector{static_cast<int>(slowest.size())} : launches);
}

Loop plain_loop() {
  return [](const std::string&, int iterations, const std::function<double()>& iteration) {
    for (int i = 0; i < iterations; ++i) iteration();
  };
}

double largest(Communicator& ranks, double own) {
  thread_local const Tensor cell = host_tensor(DType::f64, {1});
  *cell.data<double>() = own;
  ranks.all_reduce(cell, cell, ReduceOp::max);
  return *cell.data<double>();
}

std::vector<Series> measure(Communicator& ranks, const std::vector<Subject>& subjects, const Plan& plan,
                            const Loop& loop) {
  std::vector<Timing> timings;
  for (const Subject& subject : subjects) timings.emplace_back(ranks, subject, plan);
  for (Timing& timing : timings) timing.warm_up();
  // On a busy machine the fewest samples may take much longer than planned; two rounds tell a band.
  constexpr int fewest_rounds = 2;
  const double planned = plan.seconds * static_cast<double>(subjects.size());
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds_of(plan); ++round) {
    const bool may_stop = plan.samples == 0 && round >= fewest_rounds;
    if (may_stop && largest(ranks, seconds_since(start)) > planned) break;
    for (Timing& timing : timings) timing.round(loop);
  }
  std::vector<Series> all;
  for (Timing& timing : timings) all.push_back(timing.result());
  return all;
}

}  // namespace tpc::bench
