// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace tpc {

// A folder of this process that nobody else may look into, /dev/shm/tp_conformance.<uid>.<pid>.<random>, or
// in TMPDIR where there is no /dev/shm. Gone with the object; folders that killed processes left are removed
// first.
class PrivateFolder {
 public:
  PrivateFolder();  // throws EnvironmentError
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace tpc
