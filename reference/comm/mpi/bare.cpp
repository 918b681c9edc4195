// SPDX-License-Identifier: Apache-2.0
// A loop around bare MPI calls, as short as can be; shares nothing with the communicators that it is compared
// with.
#include "reference/comm/mpi/api.hpp"
#include "reference/comm/mpi/blocking.hpp"

namespace tpc {

struct BareMpi::State {
  MPI_Comm comm = MPI_COMM_NULL;
};

BareMpi::BareMpi(int ranks) : state_(std::make_unique<State>()) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &state_->comm),
            "MPI_Comm_split");
}

BareMpi::~BareMpi() {
  if (state_->comm != MPI_COMM_NULL) MPI_Comm_free(&state_->comm);
}

double BareMpi::seconds(const BareLoop& loop) const {
  const MPI_Comm comm = state_->comm;
  const std::size_t slots = loop.in.size();
  const MPI_Datatype type = mpi_type(loop.in.front().dtype());
  const MPI_Op sum = mpi_op(loop.in.front().dtype(), ReduceOp::sum);
  const int in_count = mpi_count(loop.in.front().count());
  const int out_count = mpi_count(loop.out.front().count());
  std::size_t turn = 0;
  const auto call = [&] {
    const void* from = loop.in[turn].raw();
    void* to = loop.out[turn].raw();
    turn = turn + 1 == slots ? 0 : turn + 1;
    if (loop.kind == CollectiveKind::all_reduce) MPI_Allreduce(from, to, in_count, type, sum, comm);
    if (loop.kind == CollectiveKind::all_gather)
      MPI_Allgather(from, in_count, type, to, in_count, type, comm);
    if (loop.kind == CollectiveKind::reduce_scatter)
      MPI_Reduce_scatter_block(from, to, out_count, type, sum, comm);
  };
  const double start = MPI_Wtime();
  for (int i = 0; i < loop.calls; ++i) call();
  const double own = (MPI_Wtime() - start) / loop.calls;
  double slowest = 0;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
  return slowest;
}

}  // namespace tpc
