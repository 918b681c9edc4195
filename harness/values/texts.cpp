// SPDX-License-Identifier: Apache-2.0
#include "harness/values/texts.hpp"

#include <algorithm>
#include <cstring>

#include "harness/values/wire.hpp"

namespace tpc {

std::vector<std::string> gather_bytes(Communicator& ranks, const std::string& mine) {
  const std::int64_t size = ranks.size();
  const Tensor length = host_tensor(DType::i64, {1}, "length");
  const Tensor lengths = host_tensor(DType::i64, {size}, "lengths");
  *length.data<std::int64_t>() = static_cast<std::int64_t>(mine.size());
  ranks.all_gather(lengths, length);

  const std::int64_t* each = lengths.data<std::int64_t>();
  const std::int64_t longest = *std::max_element(each, each + size);
  std::vector<std::string> all(static_cast<std::size_t>(size));
  if (longest == 0) return all;
  const Tensor part = host_tensor(DType::u8, {longest}, "bytes");
  const Tensor parts = host_tensor(DType::u8, {size * longest}, "bytes");
  std::memcpy(part.raw(), mine.data(), mine.size());
  ranks.all_gather(parts, part);
  for (std::int64_t r = 0; r < size; ++r)
    all[static_cast<std::size_t>(r)].assign(reinterpret_cast<const char*>(parts.raw() + r * longest),
                                            static_cast<std::size_t>(each[r]));
  return all;
}

std::vector<std::string> broadcast_lines(Communicator& ranks, const std::vector<std::string>& lines) {
  Packer packer;
  packer.put_all(lines, [](Packer& p, const std::string& line) { p.put(line); });
  const Tensor length = host_tensor(DType::i64, {1}, "length");
  *length.data<std::int64_t>() = static_cast<std::int64_t>(packer.bytes().size());
  ranks.broadcast(length, 0);
  const Tensor bytes = host_tensor(DType::u8, {*length.data<std::int64_t>()}, "lines");
  if (ranks.rank() == 0) std::memcpy(bytes.raw(), packer.bytes().data(), packer.bytes().size());
  ranks.broadcast(bytes, 0);
  const std::string text(reinterpret_cast<const char*>(bytes.raw()), bytes.bytes());
  return Unpacker(text).all<std::string>([](Unpacker& u) { return u.text(); });
}

}  // namespace tpc
