// SPDX-License-Identifier: Apache-2.0
// The C interface of MPI with its codes turned into exceptions: for the mpi*.cpp files alone.
#pragma once

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include "reference/comm/communicator.hpp"

namespace tpc {

// Throws EnvironmentError with MPI's own words.
void check_mpi(int code, const char* call);

MPI_Datatype mpi_type(DType dtype);
MPI_Op mpi_op(DType dtype, ReduceOp op);
// Whether a rank's operand lies where its part of the result goes to, so that MPI is to be told.
bool is_in_place(const Call& call, int rank);
int mpi_count(std::int64_t count);  // MPI counts are ints: larger ones are refused

// A new family over the ranks of a communicator. Collective.
CommunicatorPtr make_mpi_root(MPI_Comm over, const std::string& name);

// Frees itself at its end unless MPI is over or it was let go: requests that were abandoned may still use it.
class MpiHandle {
 public:
  explicit MpiHandle(MPI_Comm comm);  // sets the error handler
  MpiHandle(const MpiHandle&) = delete;
  MpiHandle& operator=(const MpiHandle&) = delete;
  ~MpiHandle();
  MPI_Comm get() const { return comm_; }
  void let_go() { owned_ = false; }

 private:
  MPI_Comm comm_;
  bool owned_ = true;
};

// Whether any request of this process was abandoned, so that finalising could hang.
bool mpi_requests_abandoned();
void note_abandoned_mpi_requests();

}  // namespace tpc
