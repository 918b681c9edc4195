// SPDX-License-Identifier: Apache-2.0
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "reference/comm/mpi/profile.hpp"

#include <mpi.h>

#include <array>

namespace tpc {

namespace {

MpiCounts& counts_of_this_process() {
  static MpiCounts counts;  // the process is what is counted
  return counts;
}

void count_call(const char* operation, MPI_Comm comm, std::int64_t count, MPI_Datatype type,
                bool times_size) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  int type_bytes = 0;
  int size = 1;
  PMPI_Comm_get_name(comm, name.data(), &length);
  PMPI_Type_size(type, &type_bytes);
  if (times_size) PMPI_Comm_size(comm, &size);
  MpiCount& entry = counts_of_this_process()[std::string(operation) + " " + name.data()];
  ++entry.calls;
  entry.payload += count * type_bytes * size;
}

}  // namespace

MpiCounts mpi_counts() { return counts_of_this_process(); }

MpiCounts difference(const MpiCounts& before, const MpiCounts& after) {
  MpiCounts added;
  for (const auto& [name, count] : after) {
    const auto old = before.find(name);
    const MpiCount base = old == before.end() ? MpiCount{} : old->second;
    if (!(count == base)) added[name] = {count.calls - base.calls, count.payload - base.payload};
  }
  return added;
}

}  // namespace tpc

// The names below are MPI's own: the library's are weak, and these stand before them. NOLINTBEGIN
extern "C" {

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  tpc::count_call("all_reduce", comm, count, type, false);
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  tpc::count_call("all_reduce", comm, count, type, false);
  return PMPI_Iallreduce(in, out, count, type, op, comm, request);
}

int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm) {
  tpc::count_call("all_gather", comm, out_count, out_type, true);
  return PMPI_Allgather(in, in_count, in_type, out, out_count, out_type, comm);
}

int MPI_Iallgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                   MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
  tpc::count_call("all_gather", comm, out_count, out_type, true);
  return PMPI_Iallgather(in, in_count, in_type, out, out_count, out_type, comm, request);
}

int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  tpc::count_call("reduce_scatter", comm, count, type, true);
  return PMPI_Reduce_scatter_block(in, out, count, type, op, comm);
}

int MPI_Ireduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, MPI_Request* request) {
  tpc::count_call("reduce_scatter", comm, count, type, true);
  return PMPI_Ireduce_scatter_block(in, out, count, type, op, comm, request);
}

int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                 MPI_Datatype out_type, MPI_Comm comm) {
  tpc::count_call("all_to_all", comm, in_count, in_type, true);
  return PMPI_Alltoall(in, in_count, in_type, out, out_count, out_type, comm);
}

int MPI_Ialltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
  tpc::count_call("all_to_all", comm, in_count, in_type, true);
  return PMPI_Ialltoall(in, in_count, in_type, out, out_count, out_type, comm, request);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  tpc::count_call("broadcast", comm, count, type, false);
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  tpc::count_call("broadcast", comm, count, type, false);
  return PMPI_Ibcast(data, count, type, root, comm, request);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request* request) {
  tpc::count_call("send", comm, count, type, false);
  return PMPI_Isend(data, count, type, peer, tag, comm, request);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
  tpc::count_call("send", comm, count, type, false);
  return PMPI_Send(data, count, type, peer, tag, comm);
}

}  // extern "C"
// NOLINTEND
