// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/measure/sampling.hpp"
#include "bench/steps/call_log.hpp"
#include "bench/steps/kernel_log.hpp"
#include "bench/steps/layer_stack.hpp"
#include "bench/steps/planted.hpp"
#include "bench/steps/signature.hpp"
#include "reference/core/words.hpp"

namespace tpc::bench {

enum class Pass { forward, backward, step };
constexpr auto words(Pass) { return spelling("forward", "backward", "step"); }

// Where the time of one call went, on this rank.
struct Split {
  double total_s = 0;
  double products_s = 0;
  double other_s = 0;                                                                   // every other kernel
  double communication_s = 0;                                                           // that nothing hides
  double launch_s() const { return total_s - products_s - other_s - communication_s; }  // and memory handling
};

// A stack with its watches, ready to be timed. Pinned: subjects refer to it.
class Station {
 public:
  // `references`: by slot, what the results must be; empty where nobody knows.
  Station(const StackShape& shape, Pass pass, const CommunicatorPtr& ranks, Compute& compute,
          const Planted& planted, bool silent, const std::vector<Signatures>* references);
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  Subject subject(const std::string& name);

  const std::vector<Split>& splits() const { return splits_; }  // of every call, warm-up included
  const KernelLog& kernels() const { return kernels_; }         // of the last call
  const std::map<std::string, std::vector<double>>& kernel_seconds() const {
    return kernel_seconds_;
  }                                                       // per byte
  std::vector<TraceRow> calls() const { return calls_; }  // of the last call
  std::size_t saved_bytes() const { return saved_bytes_; }
  const Signatures& last_signatures() const { return last_signatures_; }

 private:
  void run(int slot);
  std::string check(int slot);

  Pass pass_;
  CommunicatorPtr ranks_;
  StackShape shape_;
  Tampering tampering_;
  KernelLog kernels_;
  CommunicationLog communication_;
  Compute& compute_;
  double drag_;
  LayerStack stack_;
  const std::vector<Signatures>* references_;
  Signatures last_signatures_;
  std::vector<Split> splits_;
  std::map<std::string, std::vector<double>> kernel_seconds_;
  std::vector<TraceRow> calls_;
  std::size_t saved_bytes_ = 0;
  int last_slot_ = -1;
};

}  // namespace tpc::bench
