// SPDX-License-Identifier: Apache-2.0
#include "harness/values/machine/private_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "harness/values/machine/descriptor.hpp"
#include "reference/core/contract.hpp"

namespace tpc {

namespace {

namespace fs = std::filesystem;

EnvironmentError folder_error(const std::string& what, const fs::path& path) {
  return {fmt::format("cannot {} '{}'", what, path.string()), std::strerror(errno),
          "make /dev/shm writable, or TMPDIR where there is none"};
}

std::string folder_prefix() { return fmt::format("tp_conformance.{}.", ::getuid()); }

fs::path parent_folder() {
  if (::access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm";
  const char* temporary = std::getenv("TMPDIR");
  return temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
}

// A folder in use holds a locked file; the lock ends with the process, however it ended.
bool is_left_over(const fs::path& folder) {
  const Descriptor lock(::open((folder / "lock").c_str(), O_RDWR | O_CLOEXEC));
  return lock.get() >= 0 && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
}

void remove_left_over_folders(const fs::path& parent) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored))
    if (entry.path().filename().string().starts_with(folder_prefix()) && is_left_over(entry.path()))
      fs::remove_all(entry.path(), ignored);
}

}  // namespace

PrivateFolder::PrivateFolder() {
  const fs::path parent = parent_folder();
  remove_left_over_folders(parent);
  std::string pattern = (parent / fmt::format("{}{}.XXXXXX", folder_prefix(), ::getpid())).string();
  if (::mkdtemp(pattern.data()) == nullptr) throw folder_error("make the folder", pattern);  // mode 0700
  path_ = pattern;
  // Locked before it gets the name by which others look for it.
  Descriptor lock(::open((path_ / "new_lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 ||
      ::rename((path_ / "new_lock").c_str(), (path_ / "lock").c_str()) != 0) {
    const EnvironmentError error = folder_error("lock", path_);
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    throw error;
  }
  lock_ = lock.release();
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

}  // namespace tpc
