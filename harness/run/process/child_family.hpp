// SPDX-License-Identifier: Apache-2.0
// The children of all ranks, seen from one of them. They talk to each other, so they live and die together:
// when one has failed, none can be relied on, and all are started anew. Ranks tell each other through files
// in a folder that they share: a rank whose child is stuck cannot be reached by messages.
#pragma once

#include <memory>
#include <string>

#include "harness/run/process/child_process.hpp"
#include "harness/run/process/rank_place.hpp"
#include "harness/run/process/response_json.hpp"
#include "harness/values/implementation.hpp"

namespace tpc {

class ChildFamily {
 public:
  ChildFamily(std::string command, RankPlace place);

  // Called by every rank. Starts the children where there are none or one of them has failed; returns when
  // all of them are ready or one is known not to be.
  void make_ready();

  // Nothing where the child failed. `with_others`: it needs those of other ranks for its answer, so that
  // there is no use in waiting when one of them has failed.
  ChildProcess::Answer ask(const std::string& line, bool with_others);
  // What the child answered was no use: it is ended. Returns what is to be said of it.
  std::string fail(const std::string& reason);
  // The child itself says that it failed; those of other ranks may now wait for it in vain.
  void note_error();
  void note_answer();

  // Not empty where children are no longer started, and why.
  const std::string& given_up() const { return given_up_; }
  const RankPlace& place() const { return place_; }
  const ChildIdentity& identity() const { return identity_; }

 private:
  std::filesystem::path mark(const std::string& what) const;
  std::filesystem::path mark(const std::string& what, int rank) const;
  int first_marked(const std::string& what) const;
  void start();
  bool all_ready() const;
  void start_own(ChildProcess::Clock::time_point deadline);
  void wait_for_others(ChildProcess::Clock::time_point deadline);
  std::string port(ChildProcess::Clock::time_point deadline) const;
  void consider_giving_up();
  std::string why_not_wait(ChildProcess::Clock::time_point& first_seen) const;

  std::string command_;
  RankPlace place_;
  std::unique_ptr<ChildProcess> child_;
  ChildIdentity identity_;
  std::string failure_;  // of this rank's child
  int generation_ = 0;
  int round_ = 0;
  int barren_ = 0;  // generations in a row without any answer
  std::string given_up_;
};

}  // namespace tpc
