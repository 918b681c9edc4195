// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/predict/calibration.hpp"

namespace tpc::bench {

std::vector<Device> read_devices(const std::filesystem::path& file) {
  std::ifstream in(file);
  const nlohmann::json all = nlohmann::json::parse(in, nullptr, false);
  if (!all.is_object() || all.value("schema", "") != "tp_bench.devices" || all.value("version", 0) != 1)
    throw UsageError(fmt::format(R"({} is no JSON of schema "tp_bench.devices", version 1)", file.string()));
  std::vector<Device> devices;
  try {
    for (const auto& entry : all.at("devices")) {
      Device d;
      d.name = entry.at("name");
      d.title = entry.at("title");
      d.source = entry.at("source");
      d.flops_per_s = entry.at("flops_per_s").get<std::map<std::string, double>>();
      d.memory_bytes_per_s = entry.at("memory_bytes_per_s");
      d.product_efficiency = entry.at("product_efficiency");
      d.memory_efficiency = entry.at("memory_efficiency");
      d.launch_s = entry.at("launch_s");
      if (d.product_efficiency <= 0 || d.product_efficiency > 1 || d.memory_efficiency <= 0 ||
          d.memory_efficiency > 1)
        throw UsageError(fmt::format("{}: efficiencies lie above 0 and not above 1", d.name));
      devices.push_back(std::move(d));
    }
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("device {} of {}: {}", devices.size() + 1, file.string(), error.what()));
  }
  return devices;
}

}  // namespace tpc::bench
