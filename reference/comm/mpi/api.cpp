// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/mpi/api.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

#include "reference/comm/buffers.hpp"

namespace tpc {

namespace {

std::atomic<bool> abandoned_requests{false};  // MPI itself is one per process

MPI_Datatype bf16_type() {
  static const MPI_Datatype type = [] {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_contiguous(2, MPI_BYTE, &made), "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&made), "MPI_Type_commit");
    return made;
  }();
  return type;
}

// One hop of a reduction: rounds to bf16 each time.
template <ReduceOp op>
void reduce_bf16(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  const auto* from = static_cast<const bf16*>(in);
  auto* into = static_cast<bf16*>(inout);
  for (int i = 0; i < *length; ++i) {
    const float a = into[i];
    const float b = from[i];
    if constexpr (op == ReduceOp::sum) into[i] = bf16(a + b);
    if constexpr (op == ReduceOp::product) into[i] = bf16(a * b);
    if constexpr (op == ReduceOp::max) into[i] = bf16(std::max(a, b));
    if constexpr (op == ReduceOp::min) into[i] = bf16(std::min(a, b));
  }
}

MPI_Op user_op(MPI_User_function* function) {
  MPI_Op op = MPI_OP_NULL;
  check_mpi(MPI_Op_create(function, 1, &op), "MPI_Op_create");
  return op;
}

MPI_Op bf16_op(ReduceOp op) {
  static const std::array<MPI_Op, 4> ops = {
      user_op(reduce_bf16<ReduceOp::sum>), user_op(reduce_bf16<ReduceOp::max>),
      user_op(reduce_bf16<ReduceOp::min>), user_op(reduce_bf16<ReduceOp::product>)};
  return ops.at(static_cast<std::size_t>(op));
}

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw EnvironmentError(fmt::format("{} failed", call),
                         std::string(text.data(), static_cast<std::size_t>(length)),
                         "look at MPI's own messages above and at the launch line");
}

MPI_Datatype mpi_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return MPI_DOUBLE;
    case DType::f32:
      return MPI_FLOAT;
    case DType::bf16:
      return bf16_type();
    case DType::i64:
      return MPI_INT64_T;
    case DType::u8:
      return MPI_UINT8_T;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op mpi_op(DType dtype, ReduceOp op) {
  if (dtype == DType::bf16) return bf16_op(op);
  constexpr std::size_t kinds = 4;
  const std::array<MPI_Op, kinds> ops = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD};
  return ops.at(static_cast<std::size_t>(op));
}

int mpi_count(std::int64_t count) {
  if (count > std::numeric_limits<int>::max())
    throw EnvironmentError(fmt::format("a call of {} elements", count),
                           fmt::format("MPI counts end at {}", std::numeric_limits<int>::max()),
                           "use a smaller model, batch or sequence");
  return static_cast<int>(count);
}

MpiHandle::MpiHandle(MPI_Comm comm) : comm_(comm) {
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

MpiHandle::~MpiHandle() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (owned_ && finalized == 0) MPI_Comm_free(&comm_);
}

bool mpi_requests_abandoned() { return abandoned_requests; }
void note_abandoned_mpi_requests() { abandoned_requests = true; }

bool is_in_place(const Call& call, int rank) {
  if (call.kind == CollectiveKind::all_reduce) return call.in.raw() == call.out.raw();
  if (call.kind != CollectiveKind::all_gather) return false;
  const std::int64_t rows = call.in.size(0);
  return call.in.raw() == call.out.rows(rank * rows, rows).raw();
}

}  // namespace tpc
