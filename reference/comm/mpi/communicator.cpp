// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "reference/comm/buffers.hpp"
#include "reference/comm/mpi/family.hpp"

namespace tpc {

namespace {

constexpr int message_tag = 1;

// What requests that were abandoned may still read or write. Never freed, but reachable.
void keep_forever(std::vector<Tensor> buffers) {
  static auto* kept = new std::vector<std::vector<Tensor>>();
  kept->push_back(std::move(buffers));
}

// A receive learns from its status whether it was sent what it expects.
struct Expected {
  std::size_t request;
  int peer;
  Tensor tensor;
};

struct MpiCall {
  std::shared_ptr<MpiFamily> family;
  std::string name;
  std::string what;
};

class MpiOperation : public Pending::Operation {
 public:
  MpiOperation(MpiCall call, std::vector<MPI_Request> requests, std::vector<Tensor> buffers,
               std::vector<Expected> expected)
      : call_(std::move(call)),
        requests_(std::move(requests)),
        buffers_(std::move(buffers)),
        expected_(std::move(expected)) {}

  void wait() override {
    std::vector<MPI_Status> statuses(requests_.size());
    try {
      call_.family->wait(requests_, statuses, call_.what);
    } catch (const std::runtime_error&) {
      call_.family->record()->log.waiting_on = call_.name;
      throw;
    }
    for (const Expected& e : expected_) {
      int count = 0;
      check_mpi(MPI_Get_count(&statuses[e.request], mpi_type(e.tensor.dtype()), &count), "MPI_Get_count");
      TPC_EXPECT(count == e.tensor.count(), "{}: rank {} sent {} elements, received as {} {}", call_.what,
                 e.peer, count, e.tensor.count(), tpc::name(e.tensor.dtype()));
    }
  }

  void abandon() override {
    call_.family->record()->log.unfinished = true;
    note_abandoned_mpi_requests();
    keep_forever(std::move(buffers_));
  }

 private:
  MpiCall call_;
  std::vector<MPI_Request> requests_;
  std::vector<Tensor> buffers_;
  std::vector<Expected> expected_;
};

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

class MpiCommunicator : public FamilyCommunicator {
 public:
  // Takes over `comm`.
  MpiCommunicator(std::shared_ptr<MpiFamily> family, MPI_Comm comm, const std::string& name)
      : FamilyCommunicator(family->record(), name, family->members_of(comm), rank_in(comm)),
        family_(std::move(family)),
        handle_(comm) {
    check_mpi(MPI_Comm_set_name(comm, this->name().c_str()), "MPI_Comm_set_name");
  }
  ~MpiCommunicator() override {
    if (log().unfinished) handle_.let_go();
  }

  std::string_view transport() const override { return "mpi"; }
  CommunicatorPtr split(int colour, int key, const std::string& name) override {
    meet("split");
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(handle_.get(), colour < 0 ? MPI_UNDEFINED : colour, key, &made),
              "MPI_Comm_split");
    if (made == MPI_COMM_NULL) return nullptr;
    return std::make_shared<MpiCommunicator>(family_, made, name);
  }
  CommunicatorPtr renew(const std::string& name) override {
    meet("renew");
    return make_mpi_root(handle_.get(), name);
  }
  void poll() override { family_->poll(); }
  void abort() override { family_->abort(); }

 protected:
  Pending transfer(const Call& call, const DeviceStream& after) override;

 private:
  MpiCall this_call() { return {family_, name(), log().last}; }

  template <class Start>
  Pending under_way(std::vector<Tensor> buffers, const Start& start_request) {
    family_->poll();
    std::vector<MPI_Request> requests(1, MPI_REQUEST_NULL);
    start_request(requests.data());
    return Pending(std::make_unique<MpiOperation>(this_call(), std::move(requests), std::move(buffers),
                                                  std::vector<Expected>()));
  }

  // MPI makes communicators by blocking calls that know no deadline: they are called once all have come.
  void meet(std::string_view what) {
    record({.what = what});
    under_way({}, [&](MPI_Request* request) {
      check_mpi(MPI_Ibarrier(handle_.get(), request), "MPI_Ibarrier");
    }).wait();
  }

  Pending exchange_messages(const std::vector<Message>& messages);

  std::shared_ptr<MpiFamily> family_;
  MpiHandle handle_;
};

Pending MpiCommunicator::transfer(const Call& call, const DeviceStream& /*after*/) {
  if (call.kind == CollectiveKind::point_to_point) return exchange_messages(call.messages);
  if (call.count() == 0) return {};
  const bool in_place = is_in_place(call, rank());
  const bool apart = in_place || call.kind == CollectiveKind::broadcast || !overlap(call.out, call.in);
  const Tensor in = apart ? call.in : copy_of(call.in);
  const void* const from = in_place ? MPI_IN_PLACE : in.raw();
  void* const to = call.out.raw();
  const int count = mpi_count(call.count());
  const MPI_Datatype type = mpi_type(call.dtype());
  const MPI_Comm comm = handle_.get();
  mpi_count(std::max(call.in.count(), call.out.count()));
  return under_way({call.out, in}, [&](MPI_Request* request) {
    switch (call.kind) {
      case CollectiveKind::all_reduce:
        return check_mpi(MPI_Iallreduce(from, to, count, type, mpi_op(call.dtype(), call.op), comm, request),
                         "MPI_Iallreduce");
      case CollectiveKind::all_gather:
        return check_mpi(MPI_Iallgather(from, count, type, to, count, type, comm, request), "MPI_Iallgather");
      case CollectiveKind::reduce_scatter:
        return check_mpi(
            MPI_Ireduce_scatter_block(from, to, count, type, mpi_op(call.dtype(), call.op), comm, request),
            "MPI_Ireduce_scatter_block");
      case CollectiveKind::all_to_all:
        return check_mpi(MPI_Ialltoall(from, count / size(), type, to, count / size(), type, comm, request),
                         "MPI_Ialltoall");
      case CollectiveKind::broadcast:
        return check_mpi(MPI_Ibcast(to, count, type, call.root, comm, request), "MPI_Ibcast");
      case CollectiveKind::point_to_point:
        return;
    }
  });
}

// Receives are posted first, so that no message is buffered for long.
Pending MpiCommunicator::exchange_messages(const std::vector<Message>& messages) {
  family_->poll();
  std::vector<MPI_Request> requests;
  std::vector<Tensor> buffers;
  std::vector<Expected> expected;
  const auto next = [&](const Tensor& tensor) {
    buffers.push_back(tensor);
    return &requests.emplace_back(MPI_REQUEST_NULL);
  };
  for (const auto& [way, peer, tensor] : messages) {
    if (way != Message::Way::receive) continue;
    expected.push_back({requests.size(), peer, tensor});
    check_mpi(MPI_Irecv(tensor.raw(), mpi_count(tensor.count()), mpi_type(tensor.dtype()), peer, message_tag,
                        handle_.get(), next(tensor)),
              "MPI_Irecv");
  }
  for (const auto& [way, peer, tensor] : messages) {
    if (way != Message::Way::send) continue;
    check_mpi(MPI_Isend(tensor.raw(), mpi_count(tensor.count()), mpi_type(tensor.dtype()), peer, message_tag,
                        handle_.get(), next(tensor)),
              "MPI_Isend");
  }
  if (requests.empty()) return {};
  return Pending(std::make_unique<MpiOperation>(this_call(), std::move(requests), std::move(buffers),
                                                std::move(expected)));
}

}  // namespace

CommunicatorPtr make_mpi_root(MPI_Comm over, const std::string& name) {
  MPI_Comm control = MPI_COMM_NULL;
  MPI_Comm root = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(over, &control), "MPI_Comm_dup");
  auto family = std::make_shared<MpiFamily>(control);
  check_mpi(MPI_Comm_dup(over, &root), "MPI_Comm_dup");
  return std::make_shared<MpiCommunicator>(std::move(family), root, name);
}

}  // namespace tpc
