// SPDX-License-Identifier: Apache-2.0
// NCCL on tensors in device memory: all_reduce and split so far. Calls go to the default stream, which the
// compute backend's stream is ordered with; waiting is watching an event, so that it has a deadline.
#include "reference/comm/nccl/nccl.hpp"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <array>
#include <cstring>
#include <thread>

#include "reference/comm/family.hpp"

namespace tpc {

namespace {

constexpr cudaStream_t default_stream = nullptr;

void check_nccl(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return;
  throw EnvironmentError(fmt::format("{} failed", call), ncclGetErrorString(result),
                         "set NCCL_DEBUG=INFO and look at NCCL's own messages");
}

void check_cuda_call(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  throw EnvironmentError(fmt::format("{} failed", call), cudaGetErrorString(error),
                         "look at nvidia-smi and at the number of devices per host");
}

ncclDataType_t nccl_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return ncclFloat64;
    case DType::f32:
      return ncclFloat32;
    case DType::bf16:
      return ncclBfloat16;
    case DType::i64:
      return ncclInt64;
    case DType::u8:
      return ncclUint8;
  }
  return ncclFloat64;
}

ncclRedOp_t nccl_op(ReduceOp op) {
  constexpr std::array ops = {ncclSum, ncclMax, ncclMin, ncclProd};
  return ops.at(static_cast<std::size_t>(op));
}

struct NcclEnd {
  void operator()(ncclComm_t comm) const { ncclCommDestroy(comm); }
};
using NcclHandle = std::unique_ptr<std::remove_pointer_t<ncclComm_t>, NcclEnd>;

struct EventEnd {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, EventEnd>;

Event event_on_default_stream() {
  cudaEvent_t event = nullptr;
  check_cuda_call(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  Event owned(event);
  check_cuda_call(cudaEventRecord(event, default_stream), "cudaEventRecord");
  return owned;
}

struct NcclCall {
  CommunicatorPtr host;
  std::shared_ptr<Family> family;
  std::string name;
  std::string what;
};

class NcclOperation : public Pending::Operation {
 public:
  NcclOperation(NcclCall call, std::vector<Tensor> buffers)
      : call_(std::move(call)), buffers_(std::move(buffers)), done_(event_on_default_stream()) {}

  void wait() override {
    for (;;) {
      const cudaError_t state = cudaEventQuery(done_.get());
      if (state == cudaSuccess) return;
      if (state != cudaErrorNotReady) check_cuda_call(state, "waiting for NCCL");
      try {
        call_.host->poll();
        if (std::chrono::steady_clock::now() >= call_.family->deadline)
          throw DeadlineExceeded(fmt::format("the deadline passed in {}", call_.what));
      } catch (const std::runtime_error&) {
        call_.family->log.waiting_on = call_.name;
        throw;
      }
      std::this_thread::yield();
    }
  }

  void wait_in(const DeviceStream& stream) override {
    check_cuda_call(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream.handle), done_.get(), 0),
                    "cudaStreamWaitEvent");
  }

  void abandon() override {
    call_.family->log.unfinished = true;
    static auto* kept = new std::vector<std::vector<Tensor>>();  // the device may still touch them
    kept->push_back(std::move(buffers_));
  }

 private:
  NcclCall call_;
  std::vector<Tensor> buffers_;
  Event done_;
};

class NcclCommunicator : public FamilyCommunicator {
 public:
  NcclCommunicator(std::shared_ptr<Family> family, const std::string& name, CommunicatorPtr host,
                   NcclHandle handle)
      : FamilyCommunicator(std::move(family), name, host->log().groups.at(host->name()).members,
                           host->rank()),
        host_(std::move(host)),
        handle_(std::move(handle)) {}
  ~NcclCommunicator() override {
    if (log().unfinished) static_cast<void>(handle_.release());  // destroying it would wait for the others
  }

  std::string_view transport() const override { return "nccl"; }

  CommunicatorPtr split(int colour, int key, const std::string& name) override {
    record({.what = "split"});
    auto host = host_->split(colour, key, name);
    ncclComm_t made = nullptr;
    check_nccl(ncclCommSplit(handle_.get(), colour < 0 ? NCCL_SPLIT_NOCOLOR : colour, key, &made, nullptr),
               "ncclCommSplit");
    if (!host) return nullptr;
    return std::make_shared<NcclCommunicator>(family(), name, std::move(host), NcclHandle(made));
  }
  CommunicatorPtr renew(const std::string& name) override {
    record({.what = "renew"});
    int device = 0;
    check_cuda_call(cudaGetDevice(&device), "cudaGetDevice");
    return make_nccl_communicator(host_->renew(name), device);
  }
  void poll() override { host_->poll(); }
  void abort() override {
    host_->abort();
    log().unfinished = true;
  }

 protected:
  Pending transfer(const Call& call, const DeviceStream& /*after*/) override {
    if (call.kind != CollectiveKind::all_reduce)
      throw EnvironmentError(fmt::format("{} over NCCL", tpc::name(call.kind)),
                             "it is not built for NCCL yet", "use the mpi transport for this call");
    check_nccl(ncclAllReduce(call.in.raw(), call.out.raw(), static_cast<std::size_t>(call.count()),
                             nccl_type(call.dtype()), nccl_op(call.op), handle_.get(), default_stream),
               "ncclAllReduce");
    return Pending(std::make_unique<NcclOperation>(NcclCall{host_, family(), name(), log().last},
                                                   std::vector<Tensor>{call.out, call.in}));
  }
  Pending transfer_alone(const Call& call, const DeviceStream& /*after*/) override {
    if (call.out.raw() != call.in.raw())
      check_cuda_call(cudaMemcpyAsync(call.out.raw(), call.in.raw(), call.in.bytes(),
                                      cudaMemcpyDeviceToDevice, default_stream),
                      "cudaMemcpyAsync");
    return {};
  }

 private:
  CommunicatorPtr host_;  // the same ranks
  NcclHandle handle_;
};

}  // namespace

CommunicatorPtr make_nccl_communicator(const CommunicatorPtr& ranks, int device) {
  check_cuda_call(cudaSetDevice(device), "cudaSetDevice");
  ncclUniqueId id{};
  if (ranks->rank() == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  const Tensor bytes = host_tensor(DType::u8, {static_cast<std::int64_t>(sizeof(id))});
  std::memcpy(bytes.raw(), &id, sizeof(id));
  ranks->broadcast(bytes, 0);
  std::memcpy(&id, bytes.raw(), sizeof(id));
  ncclComm_t made = nullptr;
  check_nccl(ncclCommInitRank(&made, ranks->size(), id, ranks->rank()), "ncclCommInitRank");
  return std::make_shared<NcclCommunicator>(std::make_shared<Family>(), ranks->name(), ranks,
                                            NcclHandle(made));
}

}  // namespace tpc
