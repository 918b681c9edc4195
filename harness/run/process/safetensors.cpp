// SPDX-License-Identifier: Apache-2.0
#include "harness/run/process/safetensors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "harness/values/machine/descriptor.hpp"

namespace tpc {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uint64_t most_header_bytes = std::uint64_t{1} << 24U;
constexpr std::uint64_t header_alignment = 8;
constexpr std::size_t most_dims = 16;
constexpr std::array<std::pair<std::string_view, DType>, 5> dtypes = {{{"F64", DType::f64},
                                                                       {"F32", DType::f32},
                                                                       {"BF16", DType::bf16},
                                                                       {"I64", DType::i64},
                                                                       {"U8", DType::u8}}};

std::string_view format_name(DType dtype) {
  return std::find_if(dtypes.begin(), dtypes.end(), [&](const auto& d) { return d.second == dtype; })->first;
}

EnvironmentError cannot(const std::string& what, const fs::path& file) {
  return {fmt::format("cannot {} '{}'", what, file.string()), std::strerror(errno),
          "make room in /dev/shm, or run fewer cases or smaller ones"};
}

void write_bytes(int fd, const void* data, std::size_t count, const fs::path& file) {
  const auto* bytes = static_cast<const char*>(data);
  while (count > 0) {
    const ssize_t written = ::write(fd, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw cannot("write", file);
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
}

// The file must be there in full.
void read_bytes(int fd, void* data, std::size_t count) {
  auto* bytes = static_cast<char*>(data);
  while (count > 0) {
    const ssize_t got = ::read(fd, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw MalformedFile("the file became shorter while it was read");
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
}

struct Entry {
  std::string name;
  DType dtype = DType::f64;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Numbers of at most 2^48, so that no product of two overflows unseen.
std::uint64_t whole_number(const Json& json, const std::string& name, const char* what) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 48U;
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > largest)
    throw MalformedFile(fmt::format("the header's {} of '{}' is no number from 0 to 2^48", what, name));
  return json.get<std::uint64_t>();
}

Entry entry_of(const std::string& name, const Json& json) {
  Entry entry;
  entry.name = name;
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    throw MalformedFile(fmt::format("the header's '{}' lacks dtype, shape or data_offsets", name));
  const Json& dtype = json["dtype"];
  const auto* const known = std::find_if(
      dtypes.begin(), dtypes.end(), [&](const auto& d) { return dtype.is_string() && dtype == d.first; });
  if (known == dtypes.end())
    throw MalformedFile(fmt::format("the header's dtype of '{}' is none of F64, F32, BF16, I64, U8", name));
  entry.dtype = known->second;
  const Json& shape = json["shape"];
  const Json& offsets = json["data_offsets"];
  if (!shape.is_array() || shape.size() > most_dims || !offsets.is_array() || offsets.size() != 2)
    throw MalformedFile(fmt::format("the header's shape or data_offsets of '{}' are no list as due", name));
  std::uint64_t bytes = size_of(entry.dtype);
  for (const Json& extent : shape) {
    const std::uint64_t size = whole_number(extent, name, "shape");
    if (__builtin_mul_overflow(bytes, size, &bytes))
      throw MalformedFile(fmt::format("the header's shape of '{}' is beyond 2^64 bytes", name));
    entry.shape.push_back(static_cast<std::int64_t>(size));
  }
  entry.begin = whole_number(offsets[0], name, "data_offsets");
  entry.end = whole_number(offsets[1], name, "data_offsets");
  if (entry.end < entry.begin || entry.end - entry.begin != bytes)
    throw MalformedFile(fmt::format("the header gives '{}' {} bytes at [{}, {}], its shape {} needs {}", name,
                                    static_cast<std::int64_t>(entry.end - entry.begin), entry.begin,
                                    entry.end, to_string(entry.shape), bytes));
  return entry;
}

// In the order of their bytes, which they must fill without a hole and without sharing any.
std::vector<Entry> entries_of(const Json& header, std::uint64_t data_bytes) {
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items())
    if (name != "__metadata__") entries.push_back(entry_of(name, json));
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at)
      throw MalformedFile(
          fmt::format("the header puts '{}' at byte {}, where {} is due", entry.name, entry.begin, at));
    at = entry.end;
  }
  if (at != data_bytes)
    throw MalformedFile(
        fmt::format("the header speaks of {} bytes of elements, the file holds {}", at, data_bytes));
  return entries;
}

Json parsed_header(const std::string& text) {
  Json header = Json::parse(text, nullptr, false);
  if (!header.is_object()) throw MalformedFile("the header is no JSON object");
  return header;
}

}  // namespace

void write_safetensors(const fs::path& file, const NamedTensors& tensors) {
  Json header = Json::object();
  std::uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", format_name(tensor.dtype())},
                    {"shape", tensor.shape()},
                    {"data_offsets", {at, at + tensor.bytes()}}};
    at += tensor.bytes();
  }
  std::string text = header.dump();
  text.resize((text.size() + header_alignment - 1) / header_alignment * header_alignment, ' ');
  const std::uint64_t length = text.size();
  const Descriptor fd(::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.get() < 0) throw cannot("create", file);
  write_bytes(fd.get(), &length, sizeof length, file);
  write_bytes(fd.get(), text.data(), text.size(), file);
  for (const auto& entry : tensors)
    if (entry.second.bytes() > 0) write_bytes(fd.get(), entry.second.raw(), entry.second.bytes(), file);
}

NamedTensors read_safetensors(const fs::path& file, std::uint64_t most_bytes) {
  const Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0)
    throw MalformedFile(fmt::format("there is no file of answers: {}", std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) throw MalformedFile("the file of answers is no regular file");
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes > most_bytes)
    throw MalformedFile(fmt::format("the file has {} bytes, more than the {} allowed", bytes, most_bytes));
  std::uint64_t length = 0;
  if (bytes < sizeof length) throw MalformedFile(fmt::format("the file has only {} bytes", bytes));
  read_bytes(fd.get(), &length, sizeof length);
  if (length > most_header_bytes || length > bytes - sizeof length)
    throw MalformedFile(fmt::format("the header says it has {} bytes, the file has {}", length, bytes));
  std::string text(length, '\0');
  read_bytes(fd.get(), text.data(), text.size());
  NamedTensors tensors;
  for (const Entry& entry : entries_of(parsed_header(text), bytes - sizeof length - length)) {
    const Tensor tensor = host_tensor(entry.dtype, entry.shape, entry.name);
    if (tensor.bytes() > 0) read_bytes(fd.get(), tensor.raw(), tensor.bytes());
    tensors[entry.name] = tensor;
  }
  return tensors;
}

}  // namespace tpc
