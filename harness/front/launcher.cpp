// SPDX-License-Identifier: Apache-2.0
#include "harness/front/launcher.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "harness/values/machine/machine.hpp"
#include "reference/core/contract.hpp"

namespace tpc {

namespace {

// Mpirun needs a moment to take the ranks along; after that it is killed.
constexpr timespec patience_with_mpirun = {15, 0};

// Everything that Open MPI and the ranks leave in the file system goes into here, and away with it.
class RunFolder {
 public:
  RunFolder() {
    for (const char* base : {"/dev/shm", "/tmp"}) {
      std::string pattern = std::string(base) + "/tpc-run-XXXXXX";
      if (::mkdtemp(pattern.data()) != nullptr) {
        path_ = pattern;
        return;
      }
    }
    throw EnvironmentError("cannot make a folder for the run", std::strerror(errno),  // NOLINT
                           "make /dev/shm or /tmp writable");
  }
  ~RunFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// What the user has set stays.
void set_environment(const RunFolder& folder) {
  const std::string path = folder.path().string();
  const auto set = [](const char* variable, const char* value) { ::setenv(variable, value, 0); };  // NOLINT
  set("OMPI_MCA_orte_tmpdir_base", path.c_str());
  set("OMPI_MCA_btl_vader_backing_directory", path.c_str());
  ::setenv(run_folder_variable, path.c_str(), 1);  // NOLINT: no thread was started yet
  if (::geteuid() != 0) return;
  set("OMPI_ALLOW_RUN_AS_ROOT", "1");
  set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
}

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

// In a process group of its own: an interrupt at the terminal reaches this process alone, which passes it on
// in the way that makes mpirun end its ranks.
pid_t start_mpirun(const std::vector<std::string>& words) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  const sigset_t standard = awaited_signals();
  posix_spawnattr_setsigdefault(&attributes, &standard);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  pid_t process = -1;
  const int error = ::posix_spawnp(&process, pointers[0], &files, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw EnvironmentError("cannot start mpirun", std::strerror(error),  // NOLINT
                           "install Open MPI (openmpi-bin) and put mpirun on the PATH");
  return process;
}

// Until mpirun has ended. A request to end goes on to mpirun, and after a while is not asked for any more.
LaunchResult wait_for(pid_t mpirun) {
  const sigset_t awaited = awaited_signals();
  LaunchResult result;
  for (;;) {
    int status = 0;
    if (::waitpid(mpirun, &status, WNOHANG) == mpirun) {
      result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      return result;
    }
    const int signal = result.interrupted ? ::sigtimedwait(&awaited, nullptr, &patience_with_mpirun)
                                          : ::sigwaitinfo(&awaited, nullptr);
    if (signal == SIGCHLD || (signal < 0 && errno == EINTR)) continue;
    if (signal < 0) {
      ::kill(-mpirun, SIGKILL);
    } else {
      result.interrupted = true;
      ::kill(mpirun, SIGTERM);
    }
  }
}

std::optional<int> noted_code(const RunFolder& folder) {
  std::ifstream file(folder.path() / exit_code_file);
  int code = 0;
  if (file >> code) return code;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> without_ranks_option(const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--ranks")
      ++i;
    else if (!arguments[i].starts_with("--ranks="))
      rest.push_back(arguments[i]);
  }
  return rest;
}

int exit_code_of(const LaunchResult& result) {
  constexpr int environment = 3;
  constexpr int rank_lost = 6;
  constexpr int interrupted = 130;
  if (result.noted && (*result.noted != 0 || result.code == 0)) return *result.noted;
  if (result.interrupted) return interrupted;
  if (result.code > 128) return rank_lost;
  return result.code == 1 ? environment : result.code;  // 1 without a word from the run is mpirun's refusal
}

int launch(int ranks, const std::vector<std::string>& arguments) {
  const sigset_t awaited = awaited_signals();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &awaited, &before);
  const RunFolder folder;
  set_environment(folder);
  std::vector<std::string> words = {"mpirun", "--oversubscribe", "-np", std::to_string(ranks),
                                    std::filesystem::read_symlink("/proc/self/exe").string()};
  for (const std::string& argument : without_ranks_option(arguments)) words.push_back(argument);
  const pid_t mpirun = start_mpirun(words);
  LaunchResult result = wait_for(mpirun);
  ::kill(-mpirun, SIGKILL);  // whatever it may have left in its group
  result.noted = noted_code(folder);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return exit_code_of(result);
}

}  // namespace tpc
