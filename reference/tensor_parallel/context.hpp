// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "reference/comm/trace.hpp"
#include "reference/compute/compute.hpp"
#include "reference/mesh/device_mesh.hpp"

namespace tpc {

class Parts;
class RandomStreams;
struct DrawLayout;

std::shared_ptr<const Parts> right_parts();

// What a rank computes with. Nothing of it is process-wide: two contexts live side by side.
class Context {
 public:
  // Collective over world, whose size is the mesh's.
  Context(const CommunicatorPtr& world, const MeshSpec& spec, Compute& compute,
          std::shared_ptr<const Parts> parts = right_parts());
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Compute& compute() const { return compute_; }
  const Parts& parts() const { return *parts_; }
  DeviceMesh& mesh() const { return *mesh_; }
  const Trace& trace() const { return trace_; }

  const Position& position() const { return position_; }
  const Coordinate& tp() const { return position_.tp(); }

  Communicator& group(Axis axis) const { return mesh_->group(axis); }
  // The neighbours on tp, `copies` of them, that hold copies of one kv head. Collective over the mesh at the
  // first call, free afterwards.
  Communicator& kv_copies(int copies);

  // Random numbers for dropout, and whether it is on. Without streams nothing is dropped.
  RandomStreams* streams = nullptr;
  bool training = true;
  // Sees every mask that is drawn, recomputation aside, e.g. to hand it out.
  std::function<void(const std::string& name, const Tensor& mask, const DrawLayout& layout)> on_mask;

  Site site;

 private:
  Compute& compute_;
  std::shared_ptr<const Parts> parts_;
  Trace trace_;
  std::unique_ptr<DeviceMesh> mesh_;
  Position position_;
  std::map<int, DeviceMesh> kv_views_;  // tp as kv heads and their copies, by number of copies
};

// Names the layer, phase or operation for as long as it lives, then restores what was there.
class SiteScope {
 public:
  SiteScope(Context& ctx, std::string layer);
  SiteScope(Context& ctx, Phase phase);
  SiteScope(const SiteScope&) = delete;
  SiteScope& operator=(const SiteScope&) = delete;
  ~SiteScope();

 private:
  Site& site_;
  Site before_;
};

}  // namespace tpc
