// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/communicator.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>

namespace tpc {

namespace {
constexpr std::array<std::string_view, 4> reduce_op_names = {"sum", "max", "min", "product"};
constexpr std::array<std::string_view, 6> collective_names = {"all_reduce", "all_gather", "reduce_scatter",
                                                              "all_to_all", "broadcast",  "point_to_point"};
}  // namespace

std::string_view name(ReduceOp op) { return reduce_op_names.at(static_cast<std::size_t>(op)); }
std::string_view name(CollectiveKind kind) { return collective_names.at(static_cast<std::size_t>(kind)); }

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

void Pending::wait() {
  if (!operation_) return;
  const std::unique_ptr<Operation> operation = std::move(operation_);
  try {
    operation->wait();
  } catch (...) {
    operation->abandon();
    throw;
  }
}

CommunicatorPtr Communicator::subgroup(const std::vector<int>& members, const std::string& name) {
  if (members.empty()) return split(-1, 0, name);
  const auto self = std::find(members.begin(), members.end(), rank());
  TPC_EXPECT(self != members.end(), "rank {} asks for a subgroup '{}' that it is not in", rank(), name);
  return split(members.front(), static_cast<int>(self - members.begin()), name);
}

}  // namespace tpc
