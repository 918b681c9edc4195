// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/context.hpp"

#include <utility>

#include "reference/faults/faulty_communicator.hpp"

namespace tpc {

Context::Context(const CommunicatorPtr& world, const MeshSpec& spec, Compute& compute, const FaultSet& faults)
    : compute_(compute), faults_(faults) {
  mesh_ = std::make_unique<DeviceMesh>(make_faulty(make_traced(world, site, trace_), site, faults_), spec);
}

void Context::unflatten(const std::string& axis, const std::vector<int>& sizes,
                        const std::vector<std::string>& names) {
  for (const DeviceMesh& view : views_)
    if (view.has(names.front())) {
      for (std::size_t i = 0; i < names.size(); ++i)
        TPC_EXPECT(view.size(names[i]) == sizes[i], "axis '{}' was unflattened with other sizes before",
                   axis);
      return;
    }
  views_.push_back(mesh_->unflatten(axis, sizes, names));
}

Communicator& Context::group(const std::string& axis) const {
  for (const DeviceMesh& view : views_)
    if (view.has(axis) && !mesh_->has(axis)) return view.group(axis);
  return mesh_->group(axis);
}

SiteScope::SiteScope(Context& ctx, std::string layer) : site_(ctx.site), before_(ctx.site) {
  if (!layer.empty()) site_.layer = std::move(layer);
}
SiteScope::SiteScope(Context& ctx, Phase phase) : site_(ctx.site), before_(ctx.site) { site_.phase = phase; }
SiteScope::~SiteScope() { site_ = std::move(before_); }

}  // namespace tpc
