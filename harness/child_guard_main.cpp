// SPDX-License-Identifier: Apache-2.0
// tp_child_guard PARENT COMMAND: runs a command and sees to it that nothing of it outlives the rank that
// wants it, however that rank ends. Ends as the command did.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr int cannot_run = 126;

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

[[noreturn]] void become(const char* command, const sigset_t& mask) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // should the guard itself be killed
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  std::perror("tp_child_guard: cannot start /bin/sh");
  ::_exit(cannot_run);
}

// Whatever was left without a parent comes to the guard. Kills those that are there, until none is.
void end_descendants() {
  const std::string list = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
  for (;;) {
    std::FILE* children = std::fopen(list.c_str(), "re");
    if (children == nullptr) return;
    int process = 0;
    bool any = false;
    while (std::fscanf(children, "%d", &process) == 1) {  // NOLINT(cert-err34-c): the kernel's own numbers
      any = true;
      ::kill(process, SIGKILL);
      ::waitpid(process, nullptr, 0);
    }
    std::fclose(children);
    if (!any) return;
  }
}

[[noreturn]] void end_as(int status) {
  if (WIFSIGNALED(status)) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, nullptr);
    std::signal(WTERMSIG(status), SIG_DFL);
    ::prctl(PR_SET_DUMPABLE, 0);  // the command has left its core already
    ::raise(WTERMSIG(status));
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : cannot_run);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: tp_child_guard PARENT COMMAND; tp_conformance starts it\n", stderr);
    return 2;
  }
  const sigset_t awaited = awaited_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &awaited, &before);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != std::atoi(argv[1])) return cannot_run;  // NOLINT(cert-err34-c): gone already
  const pid_t child = ::fork();
  if (child < 0) {
    std::perror("tp_child_guard: cannot fork");
    return cannot_run;
  }
  if (child == 0) become(argv[2], before);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);  // the channels are the command's alone
  for (;;) {
    const int signal = sigwaitinfo(&awaited, nullptr);
    if (signal != SIGCHLD && signal > 0) {  // the rank is gone, or has had enough
      ::kill(-child, SIGKILL);
      end_descendants();
      return cannot_run;
    }
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended != child) continue;
      ::kill(-child, SIGKILL);
      end_descendants();
      end_as(status);
    }
  }
}
