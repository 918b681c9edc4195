// SPDX-License-Identifier: Apache-2.0
#include "harness/run/process/child_family.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "harness/run/process/rank_place.hpp"
#include "harness/run/runner/ending.hpp"
#include "harness/values/implementation.hpp"

namespace tpc {

namespace {

namespace fs = std::filesystem;
using Clock = ChildProcess::Clock;
using std::chrono::milliseconds;

constexpr milliseconds look_interval{20};
// Those whose partner failed may find it out by themselves and say more than "the other one".
constexpr milliseconds patience_after_failure{1000};
constexpr milliseconds patience_after_error{3000};
constexpr int most_barren_generations = 3;
constexpr int most_attempts_to_start = 3;  // somebody else may have taken the port
constexpr std::size_t shown_output_bytes = 2048;

// Complete or absent, like a message.
void write_mark(const fs::path& file, const std::string& text) {
  const fs::path part = file.string() + ".part";
  std::ofstream(part) << text;
  std::error_code failed;
  fs::rename(part, file, failed);
  if (failed)
    throw EnvironmentError(fmt::format("cannot write '{}'", file.string()), failed.message(),
                           "make room in /dev/shm");
}

std::string read_mark(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

// One that nobody listens on just now.
int free_port() {
  const Descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw EnvironmentError("no free port", std::strerror(errno), "look at the network interface lo");
  return ntohs(address.sin_port);
}

}  // namespace

ChildFamily::ChildFamily(std::string command, RankPlace place)
    : command_(std::move(command)), place_(std::move(place)) {}

fs::path ChildFamily::mark(const std::string& what) const {
  return place_.folder / fmt::format("{}.{}", generation_, what);
}

fs::path ChildFamily::mark(const std::string& what, int rank) const {
  return mark(fmt::format("{}.{}", what, rank));
}

// The lowest rank with such a mark; -1: none.
int ChildFamily::first_marked(const std::string& what) const {
  for (int rank = 0; rank < place_.ranks; ++rank)
    if (is_there(mark(what, rank))) return rank;
  return -1;
}

void ChildFamily::make_ready() {
  ++round_;
  if (!given_up_.empty() || (generation_ > 0 && first_marked("failed") < 0)) return;
  if (generation_ > 0) consider_giving_up();
  if (child_) child_->end_now();
  child_.reset();
  if (!given_up_.empty()) return;
  for (int attempt = 0; attempt < most_attempts_to_start; ++attempt) {
    if (child_) child_->end_now();
    child_.reset();
    ++generation_;
    start();
    if (all_ready()) return;
  }
}

// One that failed to start never says that it is ready, so that all ranks see the same.
bool ChildFamily::all_ready() const {
  for (int rank = 0; rank < place_.ranks; ++rank)
    if (!is_there(mark("ready", rank))) return false;
  return true;
}

// All ranks come to the same end: the marks were made before they last agreed on a verdict.
void ChildFamily::consider_giving_up() {
  barren_ = first_marked("answered") >= 0 ? 0 : barren_ + 1;
  const int rank = first_marked("failed");
  const std::string why = read_mark(mark("failed", rank));
  if (!is_there(mark("ready", rank)))
    given_up_ = fmt::format("the implementation does not start: its process of rank {} {}", rank, why);
  else if (barren_ >= most_barren_generations)
    given_up_ = fmt::format(
        "the implementation failed {} times in a row without an answer; at last, its process "
        "of rank {} {}",
        barren_, rank, why);
}

void ChildFamily::start() {
  failure_.clear();
  const Clock::time_point deadline = Clock::now() + place_.start_deadline;
  try {
    start_own(deadline);
    if (child_) wait_for_others(deadline);
  } catch (const EnvironmentError& error) {
    fail(error.what());
  }
}

void ChildFamily::start_own(Clock::time_point deadline) {
  std::map<std::string, std::string> environment = clean_environment();
  environment["RANK"] = environment["LOCAL_RANK"] = std::to_string(place_.rank);
  environment["WORLD_SIZE"] = environment["LOCAL_WORLD_SIZE"] = std::to_string(place_.ranks);
  environment["MASTER_ADDR"] = "127.0.0.1";
  environment["MASTER_PORT"] = port(deadline);
  environment["TP_REQUEST_FD"] = std::to_string(child_request_fd);
  environment["TP_RESPONSE_FD"] = std::to_string(child_response_fd);
  child_ = std::make_unique<ChildProcess>(command_, environment);
  Clock::time_point first_seen{};
  const ChildProcess::Answer answer =
      child_->ask(fmt::format(R"({{"request":"capabilities","protocol":{}}})", protocol_version),
                  {deadline, [&] { return why_not_wait(first_seen); }});
  try {
    if (answer.line) {
      identity_ = identity_of(*answer.line);
      write_mark(mark("ready", place_.rank), "");
    } else {
      fail(answer.failure);
    }
  } catch (const MalformedAnswer& error) {
    fail(fmt::format("does not say who it is: {}", error.what()));
  }
}

void ChildFamily::wait_for_others(Clock::time_point deadline) {
  for (int rank = 0; rank < place_.ranks; ++rank)
    while (!is_there(mark("ready", rank)) && first_marked("failed") < 0) {
      if (Clock::now() > deadline) return;  // that rank says so itself
      std::this_thread::sleep_for(look_interval);
    }
}

std::string ChildFamily::port(Clock::time_point deadline) const {
  if (place_.rank == 0) write_mark(mark("port"), std::to_string(free_port()));
  while (!is_there(mark("port"))) {
    if (Clock::now() > deadline)
      throw EnvironmentError("rank 0 found no port in time", "it may be stuck", "raise --start-deadline");
    std::this_thread::sleep_for(look_interval);
  }
  return read_mark(mark("port"));
}

std::string ChildFamily::why_not_wait(Clock::time_point& first_seen) const {
  const int failed = first_marked("failed");
  const int unhappy = failed >= 0 ? failed : first_marked(fmt::format("error{}", round_));
  if (unhappy < 0 || unhappy == place_.rank) return {};
  const Clock::time_point now = Clock::now();
  if (first_seen == Clock::time_point{}) first_seen = now;
  if (now < first_seen + (failed >= 0 ? patience_after_failure : patience_after_error)) return {};
  return fmt::format("was ended, since that of rank {} {}", unhappy,
                     failed >= 0 ? read_mark(mark("failed", failed)) : "reported an error and it did not");
}

ChildProcess::Answer ChildFamily::ask(const std::string& line, bool with_others) {
  if (!child_) return {std::nullopt, failure_};
  ChildProcess::Patience patience{Clock::now() + place_.deadline, {}};
  Clock::time_point first_seen{};
  if (with_others) patience.give_up = [&] { return why_not_wait(first_seen); };
  ChildProcess::Answer answer = child_->ask(line, patience);
  if (!answer.line) answer.failure = fail(answer.failure);
  return answer;
}

std::string ChildFamily::fail(const std::string& reason) {
  if (child_) {
    child_->end_now();
    const std::string& output = child_->output();
    if (!output.empty() && reason.find("was ended, since") == std::string::npos)
      say(fmt::format(
          "tp_conformance: the implementation's process of rank {} {}\n--- the end of its output\n{}\n---\n",
          place_.rank, reason.substr(0, reason.find("; its output ends")),
          output.substr(output.size() - std::min(output.size(), shown_output_bytes))));
    child_.reset();
  }
  failure_ = reason;
  write_mark(mark("failed", place_.rank), reason);
  return reason;
}

void ChildFamily::note_error() { write_mark(mark(fmt::format("error{}", round_), place_.rank), ""); }

void ChildFamily::note_answer() {
  if (!is_there(mark("answered", place_.rank))) write_mark(mark("answered", place_.rank), "");
}

}  // namespace tpc
