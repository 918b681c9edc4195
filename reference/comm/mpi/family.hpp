// SPDX-License-Identifier: Apache-2.0
// What the MPI communicators of one family share on a rank: how to wait, and how to hear that a rank gave up.
#pragma once

#include <optional>
#include <span>

#include "reference/comm/family.hpp"
#include "reference/comm/mpi/api.hpp"

namespace tpc {

class MpiFamily {
 public:
  // Takes over `control`, a communicator of all ranks of the family that carries news of aborts alone.
  explicit MpiFamily(MPI_Comm control);
  ~MpiFamily();
  MpiFamily(const MpiFamily&) = delete;
  MpiFamily& operator=(const MpiFamily&) = delete;

  const std::shared_ptr<Family>& record() const { return record_; }
  // Ranks of a communicator in the family's root.
  std::vector<int> members_of(MPI_Comm comm) const;

  // Until all requests are complete. Throws DeadlineExceeded naming `what`, Abandoned or EnvironmentError.
  void wait(std::span<MPI_Request> requests, std::span<MPI_Status> statuses, const std::string& what);
  void poll();
  void abort() noexcept;

 private:
  void hear_of_aborts();

  MpiHandle control_;
  std::shared_ptr<Family> record_ = std::make_shared<Family>();
  int rank_ = 0;
  int size_ = 0;
  std::optional<int> aborted_by_;
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace tpc
