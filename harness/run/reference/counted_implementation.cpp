// SPDX-License-Identifier: Apache-2.0
#include "harness/run/reference/counted_implementation.hpp"

#include "reference/comm/mpi/profile.hpp"

namespace tpc {

namespace {

class CountedImplementation : public Implementation {
 public:
  explicit CountedImplementation(std::unique_ptr<Implementation> inner) : inner_(std::move(inner)) {}

  std::string name() const override { return inner_->name(); }
  void make_ready() override { inner_->make_ready(); }
  Response stand_by(const Request& request, int members) override {
    return inner_->stand_by(request, members);
  }

  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    const MpiCounts before = mpi_counts();
    Response response = inner_->run(request, ranks);
    if (ranks->transport() != "mpi" || response.status != Response::Status::result) return response;
    response.counted.emplace();
    for (const auto& [call, count] : difference(before, mpi_counts()))
      (*response.counted)[call] = {count.calls, count.payload};
    return response;
  }

 private:
  std::unique_ptr<Implementation> inner_;
};

}  // namespace

std::unique_ptr<Implementation> with_counted_calls(std::unique_ptr<Implementation> inner) {
  return std::make_unique<CountedImplementation>(std::move(inner));
}

}  // namespace tpc
