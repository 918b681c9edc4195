// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/communicator.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

namespace tpc {

void Pending::drop() noexcept {
  if (!operation_) return;
  if (std::uncaught_exceptions() == 0) {
    std::fputs("contract broken: a started collective or message was dropped without wait\n", stderr);
    std::terminate();
  }
  operation_->abandon();
  operation_.reset();
}

Pending& Pending::operator=(Pending&& other) noexcept {
  if (this != &other) {
    drop();
    operation_ = std::move(other.operation_);
  }
  return *this;
}

Pending::~Pending() { drop(); }

template <class Wait>
void Pending::finish(const Wait& wait) {
  if (!operation_) return;
  const std::unique_ptr<Operation> operation = std::move(operation_);
  try {
    wait(*operation);
  } catch (...) {
    operation->abandon();
    throw;
  }
}

void Pending::wait() {
  finish([](Operation& operation) { operation.wait(); });
}

void Pending::wait_in(const DeviceStream& stream) {
  finish([&](Operation& operation) { operation.wait_in(stream); });
}

CommunicatorPtr Communicator::subgroup(const std::vector<int>& members, const std::string& name) {
  if (members.empty()) return split(-1, 0, name);
  const auto self = std::find(members.begin(), members.end(), rank());
  TPC_EXPECT(self != members.end(), "rank {} asks for a subgroup '{}' that it is not in", rank(), name);
  return split(members.front(), static_cast<int>(self - members.begin()), name);
}

}  // namespace tpc
