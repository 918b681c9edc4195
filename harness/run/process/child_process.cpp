// SPDX-License-Identifier: Apache-2.0
#include "harness/run/process/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <vector>

#include "harness/run/process/child_start.hpp"
#include "reference/core/contract.hpp"

namespace tpc {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_answer_bytes = std::size_t{1} << 24U;
constexpr std::size_t most_output_bytes = std::size_t{1} << 26U;  // in one request
constexpr std::size_t kept_output_bytes = std::size_t{1} << 14U;
constexpr std::size_t shown_output_bytes = 400;
constexpr milliseconds look_interval{50};
constexpr milliseconds patience_at_end{2000};

std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = c == '\n' ? '|' : ' ';
  return text;
}

}  // namespace

struct ChildProcess::Exchange {
  std::string_view to_send;
  std::string answer;
  std::size_t output_bytes = 0;
  bool answered = false;
};

ChildProcess::ChildProcess(const std::string& command,
                           const std::map<std::string, std::string>& environment) {
  StartedChild started = start_child(command, environment);
  process_ = started.process;
  request_ = std::move(started.request);
  response_ = std::move(started.response);
  log_ = std::move(started.log);
}

ChildProcess::~ChildProcess() {
  request_.close();
  if (!wait_for_end(patience_at_end)) end_now();
}

bool ChildProcess::wait_for_end(milliseconds patience) {
  const Clock::time_point until = Clock::now() + patience;
  Exchange exchange;
  while (process_ > 0) {
    if (::waitpid(process_, &status_, WNOHANG) != 0) {
      process_ = 0;
      break;
    }
    if (Clock::now() >= until) return false;
    read_output(exchange);  // a child that is still talking must not be stuck in it
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

// The guard ends everything below it; should it not come to that, the kernel does.
void ChildProcess::end_now() {
  if (process_ <= 0) return;
  ::kill(process_, SIGTERM);
  if (wait_for_end(patience_at_end)) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, &status_, 0);
  process_ = 0;
}

std::string ChildProcess::with_output(const std::string& what) const {
  if (output_.empty()) return what + "; it said nothing";
  const std::size_t begin = output_.size() - std::min(output_.size(), shown_output_bytes);
  std::string tail = output_.substr(begin);
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == '|')) tail.pop_back();
  return fmt::format("{}; its output ends: {}{}", what, begin > 0 ? "..." : "", one_line(tail));
}

std::string ChildProcess::how_it_ended() {
  if (!wait_for_end(patience_at_end)) return "closed its channel of answers";
  if (WIFSIGNALED(status_))
    return fmt::format("was ended by signal {} ({})", WTERMSIG(status_), ::strsignal(WTERMSIG(status_)));
  return fmt::format("exited with code {}", WEXITSTATUS(status_));
}

// Empty unless the child has failed.
std::string ChildProcess::read_output(Exchange& exchange) {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(log_.get(), buffer, sizeof buffer);
    if (got == 0) log_.close();
    if (got <= 0) return {};
    output_.append(buffer, static_cast<std::size_t>(got));
    if (output_.size() > kept_output_bytes) output_.erase(0, output_.size() - kept_output_bytes);
    exchange.output_bytes += static_cast<std::size_t>(got);
    if (exchange.output_bytes > most_output_bytes)
      return fmt::format("wrote more than {} MiB of output for one request", most_output_bytes >> 20U);
  }
}

std::string ChildProcess::read_answer(Exchange& exchange) {
  char buffer[1 << 16];
  const ssize_t got = ::read(response_.get(), buffer, sizeof buffer);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? "" : std::strerror(errno);
  if (got == 0) {
    read_output(exchange);
    return how_it_ended();
  }
  exchange.answer.append(buffer, static_cast<std::size_t>(got));
  const std::size_t end = exchange.answer.find('\n');
  if (end == std::string::npos)
    return exchange.answer.size() > most_answer_bytes
               ? fmt::format("answered a line of more than {} MiB", most_answer_bytes >> 20U)
               : "";
  if (end + 1 < exchange.answer.size()) return "answered more than one line";
  exchange.answer.pop_back();
  exchange.answered = true;
  return {};
}

// Waits for something to happen, and deals with it. Returns what is wrong, if anything.
std::string ChildProcess::step(Exchange& exchange) {
  const int request = exchange.to_send.empty() ? -1 : request_.get();
  pollfd fds[] = {{response_.get(), POLLIN, 0}, {log_.get(), POLLIN, 0}, {request, POLLOUT, 0}};
  if (::poll(fds, 3, static_cast<int>(look_interval.count())) < 0) return {};
  if (fds[1].revents != 0) {
    const std::string failure = read_output(exchange);
    if (!failure.empty()) return failure;
  }
  if (fds[0].revents != 0) return read_answer(exchange);
  if (fds[2].revents != 0) {
    const ssize_t sent =
        ::send(request, exchange.to_send.data(), exchange.to_send.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      read_output(exchange);
      return how_it_ended();
    }
    exchange.to_send.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  }
  return {};
}

ChildProcess::Answer ChildProcess::ask(const std::string& line, const Patience& patience) {
  if (process_ <= 0) return {std::nullopt, "is not running"};
  const std::string text = line + '\n';
  Exchange exchange;
  exchange.to_send = text;
  const Clock::time_point started = Clock::now();
  std::string failure;
  while (failure.empty() && !exchange.answered) {
    failure = step(exchange);
    if (failure.empty() && !exchange.answered && Clock::now() >= patience.deadline)
      failure = fmt::format("did not answer within {:.3g} s",
                            std::chrono::duration<double>(patience.deadline - started).count());
    if (failure.empty() && !exchange.answered && patience.give_up) failure = patience.give_up();
  }
  if (failure.empty()) return {exchange.answer, {}};
  end_now();
  return {std::nullopt, with_output(failure)};
}

}  // namespace tpc
