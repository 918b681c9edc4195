// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/mpi/session.hpp"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "reference/comm/mpi/api.hpp"

namespace tpc {

namespace {

constexpr std::chrono::seconds patience_to_finalize{3};

int usable_cores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

int announced_local_ranks() {
  const char* text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return text == nullptr ? 1 : std::atoi(text);
}

// What the user has set stays.
void set_up_open_mpi() {
  if (announced_local_ranks() > usable_cores()) setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
}

struct RankOnHost {
  int rank = 0;
  int size = 1;
};

RankOnHost rank_on_host() {
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  RankOnHost self;
  check_mpi(MPI_Comm_rank(host, &self.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(host, &self.size), "MPI_Comm_size");
  MPI_Comm_free(&host);
  return self;
}

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  set_up_open_mpi();
  int provided = 0;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED)
    throw EnvironmentError("MPI gives no thread support", "MPI_THREAD_FUNNELED is needed",
                           "use an MPI library built with threads");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  const RankOnHost self = rank_on_host();
  local_rank_ = self.rank;
  local_ranks_ = self.size;
}

MpiSession::~MpiSession() {
  if (!mpi_requests_abandoned()) MPI_Finalize();
}

CommunicatorPtr MpiSession::world(const std::string& name) { return make_mpi_root(MPI_COMM_WORLD, name); }

std::string MpiSession::library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  const std::string version(text.data());
  return version.substr(0, version.find_first_of("\n\r"));
}

// A process that leaves without MPI_Finalize makes the launcher complain and turn code 0 into 1; so even
// after abandoned calls it is tried, and where it hangs the process ends all the same.
void MpiSession::finish(int code) {
  std::fflush(nullptr);
  if (!mpi_requests_abandoned()) {
    MPI_Finalize();
    std::exit(code);
  }
  std::thread([code] {
    std::this_thread::sleep_for(patience_to_finalize);
    _exit(code);
  }).detach();
  MPI_Finalize();
  _exit(code);
}

}  // namespace tpc
