// SPDX-License-Identifier: Apache-2.0
// The baseline of each problem, computed once per run and host by one rank and mapped read-only by all,
// within a byte budget. Answers travel through files of named tensors in a private folder in memory
// (/dev/shm) that lasts only as long as `prepare`: a file loses its name once every rank has mapped it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "harness/judge/compare/compare.hpp"

namespace tpc {

class BaselineStore {
 public:
  // The ranks are all on one host.
  BaselineStore(CommunicatorPtr ranks, std::uint64_t byte_budget);
  ~BaselineStore();
  BaselineStore(const BaselineStore&) = delete;
  BaselineStore& operator=(const BaselineStore&) = delete;

  // Collective, same arguments on all ranks. Makes sure that the first of `wanted` is there, and as many of
  // the others as fit the budget, each computed by one rank; drops what is not wanted. In the f32 and bf16
  // tiers each problem is also put to `implementation` on a mesh of size 1 (e_1), and solved again with
  // inputs moved by one rounding (e_p). Throws EnvironmentError, on all ranks, where the budget or /dev/shm
  // is too small for the first.
  void prepare(std::span<const Case* const> wanted, Implementation& implementation);

  bool has(const Case& c) const;
  // Not empty where the case cannot be judged: the suite's own error, e.g. a contraction beyond the exact
  // range.
  std::string defect(const Case& c) const;
  const ExpectedTensors& expected(const Case& c) const;

  // Bytes of memory that the answers of a problem and the work of solving it take, without doing it.
  static std::uint64_t bytes_needed(const Problem& problem);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tpc
