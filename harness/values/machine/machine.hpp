// SPDX-License-Identifier: Apache-2.0
// What a process can learn about the machine and about how it was started, before and without MPI.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tpc {

std::string host_name();

// Cores that this process and its siblings may use together. A launcher may have bound this very process to
// one of them, so its parent is asked too.
int usable_cores();

// Memory that could be had without swapping; the largest number where the machine does not say.
std::uint64_t available_memory_bytes();

// Started by mpirun, srun or the like; then the ranks on this host, where the launcher says how many.
bool in_mpi_job();
std::optional<int> launched_local_ranks();
// As the launcher says, 0 outside of a job.
int launched_rank();

// Whether a person watches standard output. Under mpirun it is mpirun's that counts: ranks get a
// pseudo-terminal of their own even where the output ends up in a file.
bool watched_by_a_person();

// Folder for what lives in memory and ends with the run; the launcher hands one down through the environment.
inline constexpr const char* run_folder_variable = "TPC_RUN_FOLDER";
inline constexpr const char* exit_code_file = "exit_code";
std::optional<std::filesystem::path> run_folder();

}  // namespace tpc
