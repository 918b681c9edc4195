// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/answer_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/values/machine/descriptor.hpp"
#include "harness/values/wire.hpp"

namespace tpc {

namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t magic = 0x31726e7374637074ULL;
constexpr std::uint64_t alignment = 64;

EnvironmentError file_error(const std::string& what, const fs::path& path) {
  return {fmt::format("cannot {} '{}'", what, path.string()), std::strerror(errno),
          "make room in /dev/shm, or ask for fewer --layers or a smaller --batch and --seq"};
}

void write_bytes(int fd, const void* data, std::size_t count, const fs::path& path) {
  const auto* bytes = static_cast<const char*>(data);
  while (count > 0) {
    const ssize_t written = ::write(fd, bytes, std::min<std::size_t>(count, std::size_t{1} << 26U));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw file_error("write", path);
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
}

std::string table_of(const OwnedTensors& answers) {
  Packer packer;
  std::uint64_t first = 0;
  packer.put_all(answers, [&](Packer& p, const auto& entry) {
    const Expected& e = entry.second.expected;
    p.put(std::string_view(entry.first));
    p.put_all(e.shape, [](Packer& q, std::int64_t extent) { q.put(extent); });
    p.put(e.norm).put(e.scale_norm).put(e.scale_max).put(e.perturbed).put(e.single).put(first);
    first += entry.second.values.size();
  });
  return packer.bytes();
}

struct TableRow {
  std::string name;
  Expected expected;
  std::uint64_t first = 0;  // of the file's values
};

TableRow table_row(Unpacker& unpacker) {
  TableRow row;
  row.name = unpacker.text();
  Expected& e = row.expected;
  e.shape = unpacker.all<std::int64_t>([](Unpacker& u) { return u.get<std::int64_t>(); });
  e.norm = unpacker.get<double>();
  e.scale_norm = unpacker.get<double>();
  e.scale_max = unpacker.get<double>();
  e.perturbed = unpacker.get<double>();
  e.single = unpacker.get<double>();
  row.first = unpacker.get<std::uint64_t>();
  return row;
}

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace

std::uint64_t free_bytes(const fs::path& folder) {
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0) throw file_error("look at", folder);
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

void write_answers(const fs::path& file, OwnedTensors answers) {
  const fs::path temporary = file.string() + ".part";
  const Descriptor fd(::open(temporary.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
  if (fd.get() < 0) throw file_error("create", temporary);
  std::string table = table_of(answers);
  table.resize(aligned(2 * sizeof(std::uint64_t) + table.size()) - 2 * sizeof(std::uint64_t));
  const std::uint64_t head[2] = {magic, table.size()};
  write_bytes(fd.get(), head, sizeof head, temporary);
  write_bytes(fd.get(), table.data(), table.size(), temporary);
  for (auto& entry : answers) {
    const std::vector<double> values = std::move(entry.second.values);
    write_bytes(fd.get(), values.data(), values.size() * sizeof(double), temporary);
  }
  if (::rename(temporary.c_str(), file.c_str()) != 0) throw file_error("rename", temporary);
}

MappedAnswers::MappedAnswers(const fs::path& file) {
  const Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) throw file_error("open", file);
  bytes_ = static_cast<std::uint64_t>(status.st_size);
  address_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (address_ == MAP_FAILED) throw file_error("map", file);
  const auto* start = static_cast<const char*>(address_);
  std::uint64_t head[2];
  std::memcpy(head, start, sizeof head);
  TPC_EXPECT(head[0] == magic && sizeof head + head[1] <= bytes_, "'{}' holds no answers", file.string());
  Unpacker unpacker(std::string_view(start + sizeof head, head[1]));
  const auto* values = reinterpret_cast<const double*>(start + sizeof head + head[1]);
  for (TableRow& row : unpacker.all<TableRow>(table_row)) {
    row.expected.values = values + row.first;
    tensors_.emplace(std::move(row.name), std::move(row.expected));
  }
}

MappedAnswers::~MappedAnswers() { ::munmap(address_, bytes_); }

}  // namespace tpc
