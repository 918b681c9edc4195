// SPDX-License-Identifier: Apache-2.0
// A program of somebody else's that is asked questions a line at a time. Nothing it does can harm more than
// the answer: it may end, hang, talk without end or answer nonsense.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "harness/values/machine/descriptor.hpp"

namespace tpc {

// Numbers under which the child finds its channels, also in the environment.
inline constexpr int child_request_fd = 3;
inline constexpr int child_response_fd = 4;

// This process's variables, less those of launchers (OMPI_*, PMIX_*, PMI_*, SLURM_*, ...) and LD_PRELOAD,
// which would make the child believe that it is a rank of this very job.
std::map<std::string, std::string> clean_environment();

class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;

  struct Answer {
    std::optional<std::string> line;  // without its end; nothing where the child failed
    std::string failure;              // "was ended by signal 9", with the end of its output
  };
  struct Patience {
    Clock::time_point deadline;
    // Looked at several times a second; a reason ends the waiting.
    std::function<std::string()> give_up;
  };

  // `command` for /bin/sh, in a session of its own. Throws EnvironmentError where nothing can be started.
  ChildProcess(const std::string& command, const std::map<std::string, std::string>& environment);
  // Closes the channel, waits a moment, then ends whatever is left.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  Answer ask(const std::string& line, const Patience& patience);
  void end_now();
  const std::string& output() const { return output_; }  // the end of what it said on stdout and stderr

 private:
  struct Exchange;
  std::string step(Exchange& exchange);
  std::string read_answer(Exchange& exchange);
  std::string read_output(Exchange& exchange);
  std::string how_it_ended();
  std::string with_output(const std::string& what) const;
  bool wait_for_end(std::chrono::milliseconds patience);

  int process_ = 0;
  int status_ = 0;
  Descriptor request_;
  Descriptor response_;
  Descriptor log_;
  std::string output_;
};

}  // namespace tpc
