// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/compare/exchange.hpp"

#include <algorithm>
#include <cstring>

#include "harness/values/texts.hpp"
#include "harness/values/wire.hpp"

namespace tpc {

namespace {

void put_shape(Packer& packer, const Shape& shape) {
  packer.put_all(shape, [](Packer& p, std::int64_t extent) { p.put(extent); });
}

Shape get_shape(Unpacker& unpacker) {
  return unpacker.all<std::int64_t>([](Unpacker& u) { return u.get<std::int64_t>(); });
}

void put_part(Packer& packer, const Part& part) {
  packer.put(static_cast<std::uint64_t>(part.tensor));
  put_shape(packer, part.box.offset);
  put_shape(packer, part.box.extent);
  packer.put(part.hash).put(part.error.squares).put(part.error.largest).put(part.error.equal);
  packer.put(part.unequal).put(part.worst).put(part.got);
}

Part get_part(Unpacker& unpacker) {
  Part part;
  part.tensor = unpacker.get<std::uint64_t>();
  part.box.offset = get_shape(unpacker);
  part.box.extent = get_shape(unpacker);
  part.hash = unpacker.get<std::uint64_t>();
  part.error.squares = unpacker.get<double>();
  part.error.largest = unpacker.get<double>();
  part.error.equal = unpacker.get<bool>();
  part.unequal = unpacker.get<std::int64_t>();
  part.worst = unpacker.get<std::int64_t>();
  part.got = unpacker.get<double>();
  return part;
}

}  // namespace

std::vector<Holdings> exchange(Communicator& ranks, const Holdings& mine) {
  Packer packer;
  packer.put(std::string_view(mine.defect)).put_all(mine.parts, put_part);
  std::vector<Holdings> all;
  for (const std::string& bytes : gather_bytes(ranks, packer.bytes())) {
    Unpacker unpacker(bytes);
    Holdings holdings;
    holdings.defect = unpacker.text();
    holdings.parts = unpacker.all<Part>(get_part);
    all.push_back(std::move(holdings));
  }
  return all;
}

}  // namespace tpc
