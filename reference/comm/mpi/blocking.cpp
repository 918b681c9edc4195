// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/mpi/blocking.hpp"

#include <numeric>
#include <thread>

#include "reference/comm/buffers.hpp"
#include "reference/comm/family.hpp"
#include "reference/comm/mpi/api.hpp"

namespace tpc {

namespace {

int blocking_rank_in(MPI_Comm comm) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

// Messages are the exception that must not block at once: two ranks may send to each other first. `after` is
// what remains to be done once all have come.
class MessagesInFlight : public Pending::Operation {
 public:
  MessagesInFlight(std::vector<MPI_Request> requests, std::vector<Tensor> buffers,
                   std::function<void()> after = {})
      : requests_(std::move(requests)), buffers_(std::move(buffers)), after_(std::move(after)) {}
  void wait() override {
    check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
    if (after_) after_();
  }
  void abandon() override { MPI_Abort(MPI_COMM_WORLD, 1); }

 private:
  std::vector<MPI_Request> requests_;
  std::vector<Tensor> buffers_;
  std::function<void()> after_;
};

class BlockingMpiCommunicator : public FamilyCommunicator {
 public:
  // Takes over `comm`; `in_root` are its ranks in the family's root.
  BlockingMpiCommunicator(std::shared_ptr<Family> family, MPI_Comm comm, const std::string& name,
                          std::vector<int> in_root, OverAt over)
      : FamilyCommunicator(std::move(family), name, std::move(in_root), blocking_rank_in(comm)),
        handle_(comm),
        over_(over) {
    check_mpi(MPI_Comm_set_name(comm, this->name().c_str()), "MPI_Comm_set_name");
  }

  std::string_view transport() const override { return "mpi"; }

  CommunicatorPtr split(int colour, int key, const std::string& name) override {
    record({.what = "split"});
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(handle_.get(), colour < 0 ? MPI_UNDEFINED : colour, key, &made),
              "MPI_Comm_split");
    if (made == MPI_COMM_NULL) return nullptr;
    return std::make_shared<BlockingMpiCommunicator>(family(), made, name, root_ranks_of(made), over_);
  }
  CommunicatorPtr renew(const std::string& name) override {
    record({.what = "renew"});
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(handle_.get(), &made), "MPI_Comm_dup");
    std::vector<int> ranks(static_cast<std::size_t>(size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return std::make_shared<BlockingMpiCommunicator>(std::make_shared<Family>(), made, name, std::move(ranks),
                                                     over_);
  }

  void poll() override {
    if (over_ == OverAt::start) return;
    int there = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, handle_.get(), &there, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
  }
  void abort() override { MPI_Abort(MPI_COMM_WORLD, 1); }

 protected:
  Pending transfer(const Call& call, const DeviceStream& /*after*/) override {
    constexpr int tag = 1;
    if (call.kind == CollectiveKind::point_to_point) return under_way(call.messages, tag, {});
    const bool in_place = is_in_place(call, rank());
    const bool apart = in_place || call.kind == CollectiveKind::broadcast || !overlap(call.out, call.in);
    const Tensor in = apart ? call.in : copy_of(call.in);
    if (over_ == OverAt::wait && call.kind == CollectiveKind::all_gather)
      return gather_messages(call.out, in);
    if (over_ == OverAt::wait && call.kind == CollectiveKind::reduce_scatter)
      return scatter_messages(call.out, in, call.op);
    transfer_now(call, in_place ? MPI_IN_PLACE : in.raw());
    return {};
  }

 private:
  void transfer_now(const Call& call, const void* from) {
    void* const to = call.out.raw();
    const int count = mpi_count(call.count());
    const MPI_Datatype type = mpi_type(call.dtype());
    const MPI_Comm comm = handle_.get();
    switch (call.kind) {
      case CollectiveKind::all_reduce:
        return check_mpi(MPI_Allreduce(from, to, count, type, mpi_op(call.dtype(), call.op), comm),
                         "MPI_Allreduce");
      case CollectiveKind::all_gather:
        return check_mpi(MPI_Allgather(from, count, type, to, count, type, comm), "MPI_Allgather");
      case CollectiveKind::reduce_scatter:
        return check_mpi(MPI_Reduce_scatter_block(from, to, count, type, mpi_op(call.dtype(), call.op), comm),
                         "MPI_Reduce_scatter_block");
      case CollectiveKind::all_to_all:
        return check_mpi(MPI_Alltoall(from, count / size(), type, to, count / size(), type, comm),
                         "MPI_Alltoall");
      case CollectiveKind::broadcast:
        return check_mpi(MPI_Bcast(to, count, type, call.root, comm), "MPI_Bcast");
      case CollectiveKind::point_to_point:
        return;
    }
  }

  Pending under_way(const std::vector<Message>& messages, int tag, std::function<void()> after) {
    std::vector<MPI_Request> requests;
    std::vector<Tensor> buffers;
    for (const auto& [way, peer, tensor] : messages) {
      const int count = mpi_count(tensor.count());
      const MPI_Datatype type = mpi_type(tensor.dtype());
      MPI_Request& request = requests.emplace_back(MPI_REQUEST_NULL);
      buffers.push_back(tensor);
      if (way == Message::Way::send)
        check_mpi(MPI_Isend(tensor.raw(), count, type, peer, tag, handle_.get(), &request), "MPI_Isend");
      else
        check_mpi(MPI_Irecv(tensor.raw(), count, type, peer, tag, handle_.get(), &request), "MPI_Irecv");
    }
    return Pending(
        std::make_unique<MessagesInFlight>(std::move(requests), std::move(buffers), std::move(after)));
  }

  static constexpr int collective_tag = 2;

  Pending gather_messages(const Tensor& full, const Tensor& shard) {
    const std::int64_t rows = shard.size(0);
    const auto place_of = [&](int peer) { return full.rows(peer * rows, rows); };
    std::vector<Message> messages;
    for (int step = 1; step < size(); ++step) {
      const int from = (rank() - step + size()) % size();
      messages.push_back({Message::Way::receive, from, place_of(from)});
      messages.push_back({Message::Way::send, (rank() + step) % size(), shard});
    }
    if (shard.raw() != place_of(rank()).raw()) copy_elements(place_of(rank()), shard);
    return under_way(messages, collective_tag, {});
  }

  // Summands are added in the order of the ranks they come from, own first.
  Pending scatter_messages(const Tensor& shard, const Tensor& full, ReduceOp op) {
    const std::int64_t rows = shard.size(0);
    std::vector<Message> messages;
    std::vector<Tensor> parts;
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      parts.push_back(host_tensor(shard.dtype(), shard.shape(), "summand"));
      messages.push_back({Message::Way::receive, peer, parts.back()});
      messages.push_back({Message::Way::send, peer, full.rows(peer * rows, rows)});
    }
    copy_elements(shard, full.rows(rank() * rows, rows));
    return under_way(messages, collective_tag, [shard, op, parts = std::move(parts)] {
      for (const Tensor& part : parts)
        check_mpi(MPI_Reduce_local(part.raw(), shard.raw(), mpi_count(shard.count()), mpi_type(shard.dtype()),
                                   mpi_op(shard.dtype(), op)),
                  "MPI_Reduce_local");
    });
  }

  std::vector<int> root_ranks_of(MPI_Comm made) const {
    int size = 0;
    check_mpi(MPI_Comm_size(made, &size), "MPI_Comm_size");
    std::vector<int> ranks(static_cast<std::size_t>(size));
    const int own = members().at(static_cast<std::size_t>(rank()));
    check_mpi(MPI_Allgather(&own, 1, MPI_INT, ranks.data(), 1, MPI_INT, made), "MPI_Allgather");
    return ranks;
  }

  MpiHandle handle_;
  OverAt over_;
};

}  // namespace

CommunicatorPtr make_blocking_mpi_world(const std::string& name, OverAt over) {
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &made), "MPI_Comm_dup");
  int size = 0;
  check_mpi(MPI_Comm_size(made, &size), "MPI_Comm_size");
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return std::make_shared<BlockingMpiCommunicator>(std::make_shared<Family>(), made, name, std::move(ranks),
                                                   over);
}

void rest_until_all_arrive(std::chrono::milliseconds nap) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
  for (int done = 0;;) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace tpc
