// SPDX-License-Identifier: Apache-2.0
#include "harness/run/process/child_start.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "harness/run/process/child_process.hpp"
#include "reference/core/contract.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): unistd.h has it under _GNU_SOURCE alone

namespace tpc {

namespace {

namespace fs = std::filesystem;

constexpr std::array launcher_variables = {"OMPI_", "PMIX_", "PMI_",  "PRTE_",  "ORTE_",
                                           "OPAL_", "MPI_",  "HYDRA", "SLURM_", "LD_PRELOAD"};
constexpr int above_all_fixed = 10;

EnvironmentError cannot_start(const std::string& what, int error) {
  return {fmt::format("cannot start the implementation under test: {}", what), std::strerror(error),
          "look at the limits of processes and open files (ulimit -a)"};
}

// Moved out of the way of the numbers that the child's ends get.
Descriptor moved_up(int fd) {
  Descriptor old(fd);
  Descriptor moved(::fcntl(fd, F_DUPFD_CLOEXEC, above_all_fixed));
  if (moved.get() < 0) throw cannot_start("no descriptor is left", errno);
  return moved;
}

struct Ends {
  Descriptor ours;
  Descriptor childs;
};

Ends pipe_from_child() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) throw cannot_start("no pipe", errno);
  Ends ends{moved_up(fds[0]), moved_up(fds[1])};
  ::fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK);
  return ends;
}

// A socket rather than a pipe: writing to a child that is gone is an error then, and no signal.
Ends channel_to_child() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) throw cannot_start("no socket", errno);
  return {moved_up(fds[0]), moved_up(fds[1])};
}

// Beside this program, as installed; else where the build put it.
std::string guard() {
  std::error_code ignored;
  const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "tp_child_guard";
  return fs::exists(beside, ignored) ? beside.string() : TPC_CHILD_GUARD;
}

class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  void give(const Descriptor& fd, int number) {
    ::posix_spawn_file_actions_adddup2(&actions, fd.get(), number);
  }

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

int spawn(const SpawnPlan& plan, std::vector<std::string> words,
          const std::map<std::string, std::string>& environment) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(fmt::format("{}={}", name, value));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> settings;
  for (std::string& variable : variables) settings.push_back(variable.data());
  settings.push_back(nullptr);
  pid_t process = 0;
  const int error = ::posix_spawn(&process, arguments[0], &plan.actions, &plan.attributes, arguments.data(),
                                  settings.data());
  if (error != 0) throw cannot_start(words[0], error);
  return process;
}

}  // namespace

std::map<std::string, std::string> clean_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    bool of_a_launcher = false;
    for (const std::string_view start : launcher_variables)
      of_a_launcher = of_a_launcher || text.starts_with(start);
    if (!of_a_launcher) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

StartedChild start_child(const std::string& command, const std::map<std::string, std::string>& environment) {
  Ends request = channel_to_child();
  Ends response = pipe_from_child();
  Ends log = pipe_from_child();
  const Descriptor nowhere = moved_up(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnPlan plan;
  plan.give(nowhere, STDIN_FILENO);
  plan.give(log.childs, STDOUT_FILENO);
  plan.give(log.childs, STDERR_FILENO);
  plan.give(request.childs, child_request_fd);
  plan.give(response.childs, child_response_fd);
  // What a library left open without close-on-exec is none of the child's business.
  ::posix_spawn_file_actions_addclosefrom_np(&plan.actions, child_response_fd + 1);
  const int process = spawn(plan, {guard(), std::to_string(::getpid()), command}, environment);
  return {process, std::move(request.ours), std::move(response.ours), std::move(log.ours)};
}

}  // namespace tpc
