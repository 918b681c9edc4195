// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "bench/report/charts.hpp"
#include "harness/run/records/record_file.hpp"

namespace tpc::bench {

namespace {

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Its exit code; standard error goes to `errors`.
int run_gnuplot(const std::filesystem::path& script, const std::filesystem::path& errors) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int readable = 0644;
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   readable);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::string program = "gnuplot";
  std::string path = script.string();
  char* words[] = {program.data(), path.data(), nullptr};
  pid_t process = -1;
  const int error = ::posix_spawnp(&process, words[0], &files, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    throw EnvironmentError("cannot start gnuplot", std::strerror(error),
                           "install gnuplot-nox for charts");  // NOLINT
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string whole_script(const Chart& chart, const std::string& svg, const std::string& png) {
  const auto page = [&](const char* terminal, const std::string& output) {
    return fmt::format(
        "set terminal {} size {},{} font 'sans,12' background '#ffffff'\nset output '{}'\n{}\nunset output\n",
        terminal, chart.width, chart.height, output, chart.script);
  };
  return "set encoding utf8\n" + page("svg", svg) + "reset\n" + page("pngcairo", png);
}

}  // namespace

EmbeddedChart draw(const Chart& chart, const std::filesystem::path& folder) {
  const auto file = [&](const std::string& ending) { return folder / (chart.name + ending); };
  const std::filesystem::path errors = file(".errors");
  write_final_file(file(".gp"), whole_script(chart, file(".svg.part").string(), file(".png.part").string()));
  int code = 0;
  std::string words;
  try {
    code = run_gnuplot(file(".gp"), errors);
    words = content(errors);
  } catch (const EnvironmentError&) {
    std::filesystem::remove(errors);
    throw;
  }
  std::filesystem::remove(errors);
  if (code != 0) {
    for (const char* part : {".svg.part", ".png.part"}) std::filesystem::remove(file(part));
    throw EnvironmentError(fmt::format("gnuplot failed with code {} on {}", code, file(".gp").string()),
                           words.substr(0, 300), "run gnuplot on that file");
  }
  for (const char* ending : {".svg", ".png"})
    std::filesystem::rename(file(std::string(ending) + ".part"), file(ending));
  return {chart.name, chart.title, content(file(".svg"))};
}

}  // namespace tpc::bench
