// SPDX-License-Identifier: Apache-2.0
#include "bench/predict/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace tpc::bench {

namespace {

struct MeasuredProduct {
  std::string shape;
  double flops = 0;
  double seconds = 0;
};

struct Measured {
  std::map<int, std::vector<MeasuredProduct>> products;  // by ranks
  std::map<std::string, double> s_per_byte;              // by kernel, on one rank
  int cores = 1;
  double crowding(int ranks) const { return std::max(1.0, static_cast<double>(ranks) / cores); }
};

double product_seconds(const Measured& measured, const Product& shape, int ranks) {
  const auto of_ranks = measured.products.find(ranks);
  const bool known = of_ranks != measured.products.end();
  const auto any = known ? of_ranks : measured.products.begin();
  TPC_EXPECT(any != measured.products.end() && !any->second.empty(), "no product was measured");
  const auto distance = [&](const MeasuredProduct& p) { return std::abs(std::log(p.flops / shape.flops())); };
  const std::string wanted = to_string(shape);
  const auto nearest =
      std::min_element(any->second.begin(), any->second.end(), [&](const auto& a, const auto& b) {
        if ((a.shape == wanted) != (b.shape == wanted)) return a.shape == wanted;
        return distance(a) < distance(b);
      });
  const double seconds = nearest->seconds * shape.flops() / nearest->flops;
  return known ? seconds : seconds * measured.crowding(ranks) / measured.crowding(any->first);
}

}  // namespace

ComputeModel compute_model(const Results& results) {
  const auto measured = std::make_shared<Measured>();
  measured->cores = results.run.provenance.cores;
  double launch = 0;
  for (const Row& row : results.rows) {
    if (row.status == "skip") continue;
    if (row.kind == "gemm")
      measured->products[row.tp].push_back({row.op, row.figures.at("flops"), row.seconds.median});
    if (row.kind != "step" || row.tp != 1) continue;
    const std::string prefix = "s_per_byte_";
    for (const auto& [name, value] : row.figures)
      if (name.starts_with(prefix)) measured->s_per_byte[name.substr(prefix.size())] = value;
    launch = row.figures.at("launch_s") / row.figures.at("kernels");
  }
  ComputeModel model;
  model.product_s = [measured](const Product& shape, int ranks) {
    return product_seconds(*measured, shape, ranks);
  };
  model.kernel_s = [measured](const std::string& kernel, double bytes, int ranks) {
    const auto rate = measured->s_per_byte.find(kernel);
    return rate == measured->s_per_byte.end() ? 0 : rate->second * bytes * measured->crowding(ranks);
  };
  model.launch_s = launch;
  return model;
}

const Device& device_named(const std::vector<Device>& devices, const std::string& name) {
  std::string known;
  for (const Device& device : devices) {
    if (device.name == name) return device;
    known += (known.empty() ? "" : ", ") + device.name;
  }
  throw UsageError(fmt::format("unknown device '{}'; known: {}", name, known));
}

ComputeModel compute_model(const Device& device, DType dtype) {
  const auto peak = device.flops_per_s.find(std::string(tpc::name(dtype)));
  if (peak == device.flops_per_s.end())
    throw UsageError(fmt::format("nothing is known of {} on {}", tpc::name(dtype), device.name));
  const double products = peak->second * device.product_efficiency;
  const double memory = device.memory_bytes_per_s * device.memory_efficiency;
  ComputeModel model;
  // A product is bound by arithmetic or by memory.
  model.product_s = [=](const Product& s, int) {
    const auto elements = static_cast<double>(s.batch * (s.m * s.n + s.m * s.k + s.k * s.n));
    return std::max(s.flops() / products, elements * static_cast<double>(size_of(s.dtype)) / memory);
  };
  model.kernel_s = [=](const std::string&, double bytes, int) { return bytes / memory; };
  model.launch_s = device.launch_s;
  return model;
}

CollectiveModel collective_model(const Results& results) {
  const auto fits = std::make_shared<std::map<std::pair<CollectiveKind, int>, PiecewiseAlphaBeta>>();
  for (const FittedCollective& fit : results.fits) (*fits)[{fit.kind, fit.ranks}] = fit.line;
  return [fits](CollectiveKind kind, int ranks, double payload_bytes) {
    if (ranks == 1) return 0.0;
    const auto fit = fits->find({kind, ranks});
    return fit == fits->end() ? std::numeric_limits<double>::quiet_NaN() : fit->second.seconds(payload_bytes);
  };
}

CollectiveModel collective_model(const std::vector<Interconnect>& all, const Interconnect& link) {
  return [&all, &link](CollectiveKind kind, int ranks, double payload_bytes) {
    return link_times(levels_of(all, link, ranks), kind, payload_bytes).expected_s;
  };
}

StepPrediction predict_step(const StepContent& content, int ranks, const ComputeModel& compute,
                            const CollectiveModel& collectives) {
  StepPrediction prediction;
  double kernels = 0;
  for (const auto& [shape, use] : content.kernels.products) {
    prediction.products_s += static_cast<double>(use.calls) * compute.product_s(shape, ranks);
    kernels += static_cast<double>(use.calls);
  }
  for (const auto& [kernel, use] : content.kernels.others) {
    prediction.other_compute_s += compute.kernel_s(kernel, use.bytes, ranks);
    kernels += static_cast<double>(use.calls);
  }
  prediction.launch_s = kernels * compute.launch_s;
  for (const TraceRow& call : content.calls)
    prediction.communication_s += collectives(call.kind, call.group_size, static_cast<double>(call.payload));
  return prediction;
}

}  // namespace tpc::bench
