// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/ending.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <thread>

#include "harness/run/runner/case_calls.hpp"
#include "harness/values/machine/machine.hpp"

namespace tpc {

namespace {

constexpr int rank_lost = 6;
constexpr int deadline_passed = 5;
constexpr int interrupted = 130;

// The others must still be there when the speaker counts who is.
constexpr std::chrono::milliseconds until_counted{600};
constexpr std::chrono::milliseconds until_reaped{100};

std::vector<int> gone(const std::vector<int>& processes) {
  std::vector<int> ranks;
  for (std::size_t r = 0; r < processes.size(); ++r)
    if (::kill(processes[r], 0) != 0 && errno == ESRCH) ranks.push_back(static_cast<int>(r));
  return ranks;
}

// mpirun may drop what a rank wrote just before it went.
constexpr std::chrono::milliseconds until_passed_on{500};

}  // namespace

void end_at_once(int code) {
  std::fflush(nullptr);
  ::_exit(code);
}

void say(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void note_exit_code(int code) {
  const auto folder = run_folder();
  if (!folder) return;
  try {
    write_final_file(*folder / exit_code_file, std::to_string(code));
  } catch (const std::exception& error) {
    say(fmt::format("tp_conformance: {}\n", error.what()));
  }
}

std::vector<int> processes_of(Communicator& ranks) {
  const Tensor own = host_tensor(DType::i64, {1}, "process");
  const Tensor all = host_tensor(DType::i64, {ranks.size()}, "processes");
  *own.data<std::int64_t>() = ::getpid();
  ranks.all_gather(all, own);
  const auto* ids = all.data<std::int64_t>();
  return {ids, ids + ranks.size()};
}

namespace {

LastWords of_log(RunLog& log) {
  return [&log](const std::string& what_happened) { return log.last_words(what_happened); };
}

}  // namespace

void end_by_signal(RunLog& log, const std::vector<int>& processes, int own_rank) {
  end_by_signal(of_log(log), processes, own_rank);
}

void end_overdue(RunLog& log, int own_rank) { end_overdue(of_log(log), own_rank); }

void end_by_signal(const LastWords& words, const std::vector<int>& processes, int own_rank) {
  std::this_thread::sleep_for(until_reaped);
  const std::vector<int> lost = gone(processes);
  int speaker = 0;
  for (const int rank : lost) speaker += rank == speaker ? 1 : 0;
  const int code = lost.empty() ? interrupted : rank_lost;
  if (own_rank == speaker) {
    say(words(lost.empty() ? "interrupted" : fmt::format("{} was lost", rank_list(lost))));
    note_exit_code(code);
  } else {
    std::this_thread::sleep_for(until_counted);
  }
  ::_exit(code);
}

void end_overdue(const LastWords& words, int own_rank) {
  say(words(
      fmt::format("the deadline passed; did not arrive: rank {}, which is in no collective", own_rank)));
  note_exit_code(deadline_passed);
  std::this_thread::sleep_for(until_passed_on);
  ::_exit(deadline_passed);
}

}  // namespace tpc
