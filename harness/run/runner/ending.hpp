// SPDX-License-Identifier: Apache-2.0
// How a process ends that cannot wait for the others, and what it says before.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/run/records/run_log.hpp"
#include "reference/comm/communicator.hpp"

namespace tpc {

// Flushes and leaves. Nothing else of the process runs, so that no destructor waits for a rank that is gone.
[[noreturn]] void end_at_once(int code);

// Straight to standard error; usable while another thread holds the streams.
void say(const std::string& text);

// For the launcher, which cannot tell mpirun's own code 1 from a verdict: what the run itself ended with.
void note_exit_code(int code);

// Process ids by rank. Collective.
std::vector<int> processes_of(Communicator& ranks);

// What a rank does when it is told to end: mpirun tells all others when one is lost, and when it is
// interrupted itself. The lowest rank left says which it was. Does not return.
[[noreturn]] void end_by_signal(RunLog& log, const std::vector<int>& processes, int own_rank);
// The same for a program without a log, which makes a sentence of what happened.
using LastWords = std::function<std::string(const std::string& what_happened)>;
[[noreturn]] void end_by_signal(const LastWords& words, const std::vector<int>& processes, int own_rank);

// What a rank does that is stuck outside of every wait. Does not return.
[[noreturn]] void end_overdue(RunLog& log, int own_rank);
[[noreturn]] void end_overdue(const LastWords& words, int own_rank);

}  // namespace tpc
