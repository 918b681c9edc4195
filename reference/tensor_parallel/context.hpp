// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reference/comm/trace.hpp"
#include "reference/compute/compute.hpp"
#include "reference/faults/fault_set.hpp"
#include "reference/mesh/device_mesh.hpp"

namespace tpc {

class RandomStreams;
struct DrawLayout;

// What a rank computes with. Nothing of it is process-wide: two contexts live side by side.
class Context {
 public:
  // Collective over world, whose size is the mesh's. The mesh has an axis "tp".
  Context(const CommunicatorPtr& world, const MeshSpec& spec, Compute& compute, const FaultSet& faults = {});
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Compute& compute() const { return compute_; }
  DeviceMesh& mesh() const { return *mesh_; }
  const Trace& trace() const { return trace_; }

  int tp_rank() const { return mesh_->coordinate("tp"); }
  int tp_size() const { return mesh_->size("tp"); }

  // Collective over the mesh at the first call, free afterwards: `axis` seen as several.
  void unflatten(const std::string& axis, const std::vector<int>& sizes,
                 const std::vector<std::string>& names);
  // Of a mesh axis or of one that unflatten made.
  Communicator& group(const std::string& axis) const;

  // Random numbers for dropout, and whether it is on. Without streams nothing is dropped.
  RandomStreams* streams = nullptr;
  bool training = true;
  // Sees every mask that is drawn, recomputation aside, e.g. to hand it out.
  std::function<void(const std::string& name, const Tensor& mask, const DrawLayout& layout)> on_mask;

  Site site;

  // Whether a layer is to go wrong this way.
  bool planted(Fault fault) const { return faults_.contains(fault); }
  const FaultSet& faults() const { return faults_; }
  // What faults remember from call to call, by name.
  std::map<std::string, Tensor> fault_memory;

 private:
  Compute& compute_;
  FaultSet faults_;
  Trace trace_;
  std::unique_ptr<DeviceMesh> mesh_;
  std::vector<DeviceMesh> views_;
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
