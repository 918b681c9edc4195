// SPDX-License-Identifier: Apache-2.0
#include "harness/values/machine/data_path.hpp"

#include "reference/core/contract.hpp"

namespace tpc {

// Both are given by cmake/TpcInstall.cmake.
DataFolders data_folders(const std::filesystem::path& executable) {
  return {(executable.parent_path() / TPC_DATA_FROM_PROGRAM).lexically_normal(), TPC_SOURCE_FOLDER};
}

std::filesystem::path data_path(const std::string& name, const DataFolders& folders) {
  const std::filesystem::path installed = folders.installed / name;
  if (std::filesystem::exists(installed)) return installed;
  // The source tree keeps the models beside the suites that use them.
  const bool is_model = name.starts_with("models/");
  const std::filesystem::path source = folders.source / (is_model ? "suites/" + name : name);
  if (std::filesystem::exists(source)) return source;
  throw EnvironmentError(fmt::format("there is no file {}", name),
                         fmt::format("neither {} nor {} exists", installed.string(), source.string()),
                         "install with cmake --install, which puts programs and data under one prefix");
}

std::filesystem::path data_path(const std::string& name) {
  return data_path(name, data_folders(std::filesystem::read_symlink("/proc/self/exe")));
}

}  // namespace tpc
