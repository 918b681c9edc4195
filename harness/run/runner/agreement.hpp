// SPDX-License-Identifier: Apache-2.0
// How ranks come to one mind: everybody tells rank 0, rank 0 decides, everybody hears it. Point-to-point on a
// communicator of its own, so that a broken collective of a case cannot get in the way, and with a deadline,
// so that whoever is missing is known by name.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference/comm/communicator.hpp"

namespace tpc {

class Agreement {
 public:
  using Clock = std::chrono::steady_clock;
  // By rank; nothing from a rank that did not arrive. Only rank 0 is asked to decide.
  using Reports = std::vector<std::optional<std::string>>;
  using Decide = std::function<std::string(const Reports&)>;

  explicit Agreement(CommunicatorPtr ranks) : ranks_(std::move(ranks)) {}

  struct Patience {
    Clock::time_point reports;   // until when rank 0 waits for the others
    Clock::time_point decision;  // until when the others wait for rank 0
  };
  // Collective. Nothing where rank 0 did not answer. Ranks that did not arrive get no answer.
  std::optional<std::string> reach(const std::string& mine, const Decide& decide, const Patience& patience);

  Communicator& ranks() const { return *ranks_; }

 private:
  Reports gather(const std::string& mine, Clock::time_point deadline);
  void tell(const Reports& arrived, const std::string& decision, Clock::time_point deadline);
  std::optional<std::string> receive(int from, Clock::time_point deadline);

  CommunicatorPtr ranks_;
};

// The run cannot go on, for a reason that all ranks know, with this exit code.
class RunEnds : public std::runtime_error {
 public:
  RunEnds(int exit_code, const std::string& reason) : std::runtime_error(reason), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

// Collective. Every rank does its work; where it throws on any of them, all throw RunEnds with what the
// lowest of those said: 2 for a UsageError or Refusal, else 3.
void together(Agreement& agreement, const std::function<void()>& work);

}  // namespace tpc
