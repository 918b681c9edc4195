// SPDX-License-Identifier: Apache-2.0
// How something is timed on several ranks at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference/comm/communicator.hpp"

namespace tpc::bench {

// What is timed. Slots are sets of buffers that are taken in turn, so that caches do not flatter; `prepare`
// sees each slot before a block of samples and `check` after it, both outside of the time.
struct Subject {
  std::string name;
  int slots = 1;
  std::function<void(int slot)> prepare = {};  // e.g. poisons the output
  std::function<void(int slot)> before = {};   // ahead of every call; then a sample is one call
  std::function<void(int slot)> run = {};
  std::function<std::string(int slot)> check = {};  // what is wrong with the output, or nothing
  // What it is compared with, on the same buffers in a loop of its own, from slot 0 on: returns the slowest
  // rank's mean time of so many calls. The samples of the two take turns, each a whole number of times
  // through all slots.
  std::function<double(int calls)> rival = {};
};

// Seconds per call.
struct Series {
  std::vector<std::vector<double>> by_rank;  // [rank][sample]
  std::vector<double> slowest;               // the largest over the ranks, per sample
  std::vector<double> rival;                 // the rival's sample beside each of these
  std::vector<int> rounds;                   // samples of each round
  std::vector<int> launches;                 // samples of each start of the ranks; empty: there was one
  int calls = 1;                             // of which a sample is the mean
  std::string wrong;                         // the first complaint of any check on any rank
  std::vector<std::vector<double>> by_round() const;
  std::vector<std::vector<double>> by_launch() const;
};

struct Plan {
  int rounds = 5;      // fewer where there are fewer samples
  int samples = 0;     // in all; 0: as many as the time allows
  double seconds = 1;  // of a subject, over all rounds
  double least_sample_s =
      20e-6;  // a sample is as many calls as take so long: clocks and barriers are not free
};

// Runs `iterations` times what returns the seconds to account for. Google Benchmark in the program, a plain
// loop in tests.
using Loop =
    std::function<void(const std::string& name, int iterations, const std::function<double()>& iteration)>;
Loop plain_loop();

// Collective over ranks: all time the same subjects in the same order. Rounds go over all subjects, so that
// what drifts hits them alike.
std::vector<Series> measure(Communicator& ranks, const std::vector<Subject>& subjects, const Plan& plan,
                            const Loop& loop);

// Largest over the ranks, on every rank; also a barrier.
double largest(Communicator& ranks, double own);

}  // namespace tpc::bench
