// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/context.hpp"

#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

Context::Context(const CommunicatorPtr& world, const MeshSpec& spec, Compute& compute,
                 std::shared_ptr<const Parts> parts)
    : compute_(compute), parts_(std::move(parts)) {
  mesh_ = std::make_unique<DeviceMesh>(parts_->communicator(make_traced(world, site, trace_), site, compute),
                                       spec);
  position_ = mesh_->position();
}

Communicator& Context::kv_copies(int copies) {
  auto view = kv_views_.find(copies);
  if (view == kv_views_.end()) {
    const int heads = tp().size / copies;
    view =
        kv_views_.emplace(copies, mesh_->unflatten("tp", {heads, copies}, {"kv_heads", "kv_copies"})).first;
  }
  return view->second.group(Axis::kv_copies);
}

SiteScope::SiteScope(Context& ctx, std::string layer) : site_(ctx.site), before_(ctx.site) {
  if (!layer.empty()) site_.layer = std::move(layer);
}
SiteScope::SiteScope(Context& ctx, Phase phase) : site_(ctx.site), before_(ctx.site) { site_.phase = phase; }
SiteScope::~SiteScope() { site_ = std::move(before_); }

}  // namespace tpc
