// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <fstream>

#include "bench/report/results.hpp"

namespace tpc::bench {

namespace {

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line))
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string kernel_name() {
  utsname names{};
  return ::uname(&names) == 0 ? fmt::format("{} {}", names.sysname, names.release) : "unknown";
}

bool is_allowed(std::string_view variable) {
  for (const char* prefix :
       {"NCCL_", "OMPI_MCA_", "UCX_", "CUDA_", "CUBLAS_", "OMP_", "BLIS_", "DNNL_", "ONEDNN_"})
    if (variable.starts_with(prefix)) return true;
  return false;
}

// Where this run happened to keep its files, and what mpirun tells its ranks, says nothing about speed.
bool is_housekeeping(std::string_view variable) {
  for (const char* part : {"tmpdir", "orte_", "ess_", "pmix", "backing_directory", "opal_", "mca_base_param"})
    if (variable.find(part) != std::string_view::npos) return true;
  return false;
}

}  // namespace

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

std::map<std::string, std::string> allowed_environment() {
  std::map<std::string, std::string> allowed;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    const std::string_view variable = text.substr(0, equals);
    if (equals != std::string_view::npos && is_allowed(variable) && !is_housekeeping(variable))
      allowed.emplace(variable, text.substr(equals + 1));
  }
  return allowed;
}

RunInfo describe_run(const std::string& command, const std::string& mpi_library) {
  RunInfo run;
  run.provenance = local_provenance();
  run.provenance.command = command;
  run.provenance.mpi = mpi_library;
  run.id = fmt::format("{}-{}-{}", run.provenance.started, run.provenance.host, ::getpid());
  run.cpu = cpu_name();
  run.kernel = kernel_name();
  run.environment = allowed_environment();
  return run;
}

std::string hardware_key(const RunInfo& run) {
  const std::string text =
      fmt::format("{} {} cores{}", run.cpu, run.provenance.cores, run.gpu == "none" ? "" : " " + run.gpu);
  std::string key;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain)
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!key.empty() && key.back() != '-')
      key += '-';
  }
  return key;
}

std::string libraries_key(const RunInfo& run) {
  const Provenance& p = run.provenance;
  return fmt::format("{}; {}; {}; NCCL {}; driver {}; {}", p.mpi, p.blas, p.onednn, run.nccl, run.driver,
                     p.compiler);
}

}  // namespace tpc::bench
