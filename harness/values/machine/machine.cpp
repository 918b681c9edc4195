// SPDX-License-Identifier: Apache-2.0
#include "harness/values/machine/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string_view>

namespace tpc {

namespace {

std::optional<std::string> environment(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets variables by then
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<int> environment_number(const char* variable) {
  const auto text = environment(variable);
  if (!text) return std::nullopt;
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return number;
}

int cores_of(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(process, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0) return "unknown";
  return buffer.data();
}

int usable_cores() { return std::max({1, cores_of(0), in_mpi_job() ? cores_of(::getppid()) : 0}); }

std::uint64_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (file >> key >> kibibytes && std::getline(file, unit))
    if (key == "MemAvailable:") return kibibytes * 1024;
  return std::numeric_limits<std::uint64_t>::max();
}

bool in_mpi_job() {
  constexpr std::array variables = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};
  return std::any_of(variables.begin(), variables.end(),
                     [](const char* variable) { return environment(variable).has_value(); });
}

std::optional<int> launched_local_ranks() {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"})
    if (const auto number = environment_number(variable)) return number;
  return std::nullopt;
}

int launched_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (const auto number = environment_number(variable)) return *number;
  return 0;
}

bool watched_by_a_person() {
  if (!in_mpi_job()) return ::isatty(STDOUT_FILENO) == 1;
  std::error_code error;
  const auto target =
      std::filesystem::read_symlink("/proc/" + std::to_string(::getppid()) + "/fd/1", error).string();
  return !error && (target.starts_with("/dev/pts/") || target.starts_with("/dev/tty"));
}

std::optional<std::filesystem::path> run_folder() {
  const auto value = environment(run_folder_variable);
  if (!value) return std::nullopt;
  return std::filesystem::path(*value);
}

}  // namespace tpc
