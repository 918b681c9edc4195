// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/mpi/family.hpp"

#include <sched.h>

#include <algorithm>
#include <numeric>
#include <thread>

namespace tpc {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int abort_tag = 1;
constexpr auto between_looks = std::chrono::microseconds(500);

// Ranks share cores: after a short while of asking again, a waiting rank sleeps, longer and longer, so that
// those with work get the core.
class Patience {
 public:
  void pause() {
    constexpr int spins = 60;
    if (count_ < spins) {
      ++count_;
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min(sleep_ + sleep_ / 4, longest);
  }

 private:
  static constexpr std::chrono::microseconds longest{200};
  int count_ = 0;
  std::chrono::microseconds sleep_{20};
};

int first_error(std::span<const MPI_Status> statuses) {
  for (const MPI_Status& status : statuses)
    if (status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING) return status.MPI_ERROR;
  return MPI_ERR_IN_STATUS;
}

// Reached for the rest of the process, so that no tool takes them for lost.
std::vector<std::unique_ptr<std::vector<int>>>& notices_of_aborts() {
  static auto* notices = new std::vector<std::unique_ptr<std::vector<int>>>();
  return *notices;
}

}  // namespace

MpiFamily::MpiFamily(MPI_Comm control) : control_(control) {
  check_mpi(MPI_Comm_rank(control, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(control, &size_), "MPI_Comm_size");
  check_mpi(MPI_Comm_set_name(control, "control"), "MPI_Comm_set_name");
}

MpiFamily::~MpiFamily() {
  if (record_->log.unfinished) control_.let_go();
}

std::vector<int> MpiFamily::members_of(MPI_Comm comm) const {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group root = MPI_GROUP_NULL;
  int size = 0;
  check_mpi(MPI_Comm_group(comm, &group), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(control_.get(), &root), "MPI_Comm_group");
  check_mpi(MPI_Group_size(group, &size), "MPI_Group_size");
  std::vector<int> own(static_cast<std::size_t>(size));
  std::vector<int> members(own.size());
  std::iota(own.begin(), own.end(), 0);
  check_mpi(MPI_Group_translate_ranks(group, size, own.data(), root, members.data()),
            "MPI_Group_translate_ranks");
  MPI_Group_free(&group);
  MPI_Group_free(&root);
  return members;
}

void MpiFamily::wait(std::span<MPI_Request> requests, std::span<MPI_Status> statuses,
                     const std::string& what) {
  Patience patience;
  for (;;) {
    int done = 0;
    const int code = MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, statuses.data());
    check_mpi(code == MPI_ERR_IN_STATUS ? first_error(statuses) : code, "MPI_Testall");
    if (done != 0) return;
    poll();
    if (Clock::now() >= record_->deadline)
      throw DeadlineExceeded(fmt::format("the deadline passed in {}", what));
    patience.pause();
  }
}

void MpiFamily::poll() {
  const auto now = Clock::now();
  if (!aborted_by_ && now >= next_look_) {
    next_look_ = now + between_looks;
    hear_of_aborts();
  }
  if (!aborted_by_) return;
  record_->log.unfinished = true;
  throw Abandoned(fmt::format("rank {} gave up", *aborted_by_));
}

void MpiFamily::hear_of_aborts() {
  int there = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, abort_tag, control_.get(), &there, &status), "MPI_Iprobe");
  if (there == 0) return;
  int who = 0;
  check_mpi(MPI_Recv(&who, 1, MPI_INT, status.MPI_SOURCE, abort_tag, control_.get(), MPI_STATUS_IGNORE),
            "MPI_Recv");
  aborted_by_ = who;
}

// Requests and payload are never taken back: a rank may read its notice at any later time, or never.
void MpiFamily::abort() noexcept {
  record_->log.unfinished = true;
  if (aborted_by_) return;
  aborted_by_ = rank_;
  note_abandoned_mpi_requests();
  auto& notice = notices_of_aborts().emplace_back(std::make_unique<std::vector<int>>(1, rank_));
  for (int peer = 0; peer < size_; ++peer) {
    MPI_Request request = MPI_REQUEST_NULL;
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): nobody waits for it
    if (peer != rank_) MPI_Isend(notice->data(), 1, MPI_INT, peer, abort_tag, control_.get(), &request);
  }
}

}  // namespace tpc
