// SPDX-License-Identifier: Apache-2.0
#include "harness/run/records/record_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "reference/core/contract.hpp"

namespace tpc {

namespace {

constexpr mode_t readable_by_all = 0644;

std::string reason() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe)

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

[[noreturn]] void throw_unwritten(const std::string& path, const std::string& why) {
  throw EnvironmentError(fmt::format("cannot write {}", path), why, "free space or choose another path");
}

// A killed run may have left half a line.
bool ends_inside_a_line(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  char last = '\n';
  const bool read = ::lseek(descriptor, -1, SEEK_END) >= 0 && ::read(descriptor, &last, 1) == 1;
  ::close(descriptor);
  return read && last != '\n';
}

std::string sibling(const std::filesystem::path& path) {
  return fmt::format("{}.part{}", path.string(), ::getpid());
}

}  // namespace

RecordFile::RecordFile(const std::filesystem::path& path) : path_(path.string()) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, readable_by_all);
  if (descriptor_ < 0)
    throw UsageError(
        fmt::format("cannot write records to {}: {}; give --records a file in a folder that exists and may "
                    "be written",
                    path_, reason()));
  if (std::filesystem::is_regular_file(path) && ends_inside_a_line(path_)) append("");
}

RecordFile::RecordFile(RecordFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

RecordFile& RecordFile::operator=(RecordFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

RecordFile::~RecordFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RecordFile::append(std::string_view line) {
  if (descriptor_ < 0) return;
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  if (write_all(descriptor_, std::string(line) + "\n")) return;
  const std::string why = reason();
  if (end >= 0 && ::ftruncate(descriptor_, end) != 0) errno = 0;  // no regular file: nothing to take back
  throw_unwritten(path_, why);
}

void check_final_file(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw UsageError(fmt::format("cannot write {}: it exists and is no regular file", path.string()));
  const std::string trial = sibling(path);
  const int descriptor = ::open(trial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, readable_by_all);
  if (descriptor < 0)
    throw UsageError(
        fmt::format("cannot write {}: {}; give a file in a folder that exists and may be written",
                    path.string(), reason()));
  ::close(descriptor);
  ::unlink(trial.c_str());
}

void write_final_file(const std::filesystem::path& path, std::string_view content) {
  const std::string part = sibling(path);
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readable_by_all);
  if (descriptor < 0) throw_unwritten(part, reason());
  bool good = write_all(descriptor, content) && ::fsync(descriptor) == 0;
  std::string why = good ? "" : reason();
  ::close(descriptor);
  if (good && ::rename(part.c_str(), path.c_str()) != 0) {
    good = false;
    why = reason();
  }
  if (good) return;
  ::unlink(part.c_str());
  throw_unwritten(path.string(), why);
}

}  // namespace tpc
