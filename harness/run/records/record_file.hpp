// SPDX-License-Identifier: Apache-2.0
// Files that are complete or absent: records line by line, final files as a whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tpc {

// Append-only lines, each handed to the kernel by itself, so that what was finished outlives the process. A
// line that does not fit on the disk is taken back whole.
class RecordFile {
 public:
  RecordFile() = default;  // keeps nothing
  // Throws UsageError where the path cannot be written.
  explicit RecordFile(const std::filesystem::path& path);
  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&& other) noexcept;
  ~RecordFile();

  bool is_open() const { return descriptor_ >= 0; }
  // `line` has no line break. Throws EnvironmentError.
  void append(std::string_view line);

 private:
  int descriptor_ = -1;
  std::string path_;
};

// Throws UsageError where `path` cannot become a final file later on.
void check_final_file(const std::filesystem::path& path);
// Write beside, fsync, rename. Throws EnvironmentError.
void write_final_file(const std::filesystem::path& path, std::string_view content);

}  // namespace tpc
