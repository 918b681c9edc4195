// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/trace.hpp"

#include "reference/comm/intercept.hpp"

namespace tpc {

namespace {

TraceRow row_at(const Site& site, const Communicator& group, const Call& call) {
  return {.kind = call.kind,
          .op = reduces(call.kind) ? call.op : ReduceOp::sum,
          .axis = group.name(),
          .group_size = group.size(),
          .layer = site.layer,
          .operation = site.operation,
          .phase = site.phase,
          .count = call.count(),
          .dtype = call.dtype(),
          .payload = call.payload(),
          .ring_wire = ring_wire(call.kind, call.payload(), group.size()),
          .message = {}};
}

void write(Trace& trace, const Site& site, const Communicator& group, const Call& call) {
  if (call.kind != CollectiveKind::point_to_point) return trace.push_back(row_at(site, group, call));
  for (const Message& message : call.messages) {
    trace.push_back(row_at(site, group, Call::point_to_point({message})));
    trace.back().message = TraceRow::Direction{message.way, message.peer};
  }
}

}  // namespace

CommunicatorPtr make_traced(CommunicatorPtr inner, const Site& site, Trace& trace) {
  const auto traced = [&site, &trace](Communicator& group, const Call& call, const DeviceStream& after) {
    Pending pending = group.start(call, after);
    group.log().last += fmt::format(" ({}{}{})", site.layer, site.layer.empty() ? "" : ".", site.operation);
    if (group.size() > 1) write(trace, site, group, call);
    return pending;
  };
  return intercept(std::move(inner), {.start = traced});
}

}  // namespace tpc
