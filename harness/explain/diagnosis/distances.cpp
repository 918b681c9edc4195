// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/distances.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "harness/explain/diagnosis/right_answer.hpp"
#include "harness/judge/compare/exchange.hpp"
#include "harness/values/boxes.hpp"
#include "harness/values/texts.hpp"
#include "harness/values/wire.hpp"

namespace tpc {

namespace {

std::optional<Box> common_part(const Block& a, const Block& b) {
  if (a.extent.size() != b.extent.size()) return {};
  Box box{a.global_offset, a.extent};
  for (std::size_t d = 0; d < a.extent.size(); ++d) {
    box.offset[d] = std::max(a.global_offset[d], b.global_offset[d]);
    box.extent[d] =
        std::min(a.global_offset[d] + a.extent[d], b.global_offset[d] + b.extent[d]) - box.offset[d];
  }
  if (!has_elements(box)) return {};
  return box;
}

std::int64_t local_place(const LocalTensor& local, const Block& block, const Shape& global) {
  Shape index = global;
  for (std::size_t d = 0; d < index.size(); ++d) index[d] += block.local_offset[d] - block.global_offset[d];
  return linear_index(local.data.shape(), index);
}

double element(const LocalTensor& local, std::int64_t at) {
  return visit_any(local.data.dtype(),
                   [&](auto zero) { return static_cast<double>(local.data.data<decltype(zero)>()[at]); });
}

void add(Apart& apart, double one, double other) {
  ++apart.compared;
  if (one == other || (std::isnan(one) && std::isnan(other))) return;
  const double difference = one - other;
  const double error =
      std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::fabs(difference);
  apart.error.equal = false;
  apart.error.squares += error * error;
  apart.error.largest = std::max(apart.error.largest, error);
}

// Every block of a rank, with the tensor's entry counted.
template <class Use>
void for_each_block(const std::vector<LocalTensor>& mine, ApartByName& result, const Use& use) {
  for (const LocalTensor& local : mine) {
    if (!local.data) continue;
    for (const Block& block : local.placement.blocks) {
      if (element_count(block.extent) == 0) continue;
      Apart& entry = result[local.name];
      entry.held += element_count(block.extent);
      use(entry, local, block);
    }
  }
}

}  // namespace

ApartByName apart(const std::vector<LocalTensor>& mine, const ExpectedTensors& right) {
  ApartByName result;
  for_each_block(mine, result, [&](Apart& entry, const LocalTensor& local, const Block& block) {
    const auto expected = right.find(local.name);
    if (expected == right.end() || expected->second.shape != local.placement.global_shape) return;
    for_each_run_of({block.global_offset, block.extent}, [&](const Shape& index, std::int64_t count) {
      const std::int64_t at = local_place(local, block, index);
      const double* values = expected->second.values + linear_index(expected->second.shape, index);
      for (std::int64_t i = 0; i < count; ++i) add(entry, element(local, at + i), values[i]);
    });
  });
  return result;
}

ApartByName apart(const std::vector<LocalTensor>& mine, const std::vector<LocalTensor>& others) {
  ApartByName result;
  for_each_block(mine, result, [&](Apart& entry, const LocalTensor& local, const Block& block) {
    for (const LocalTensor& other : others) {
      if (other.name != local.name || !other.data) continue;
      for (const Block& theirs : other.placement.blocks) {
        const std::optional<Box> box = common_part(block, theirs);
        if (!box) continue;
        for_each_run_of(*box, [&](const Shape& index, std::int64_t count) {
          const std::int64_t here = local_place(local, block, index);
          const std::int64_t there = local_place(other, theirs, index);
          for (std::int64_t i = 0; i < count; ++i)
            add(entry, element(local, here + i), element(other, there + i));
        });
      }
    }
  });
  return result;
}

ApartByName over_ranks(const ApartByName& mine, const ExpectedTensors& shapes, Communicator& ranks) {
  Packer packer;
  packer.put_all(mine, [](Packer& p, const auto& entry) {
    const Apart& a = entry.second;
    p.put(std::string_view(entry.first)).put(a.error.squares).put(a.error.largest).put(a.error.equal);
    p.put(a.compared).put(a.held);
  });
  ApartByName sum;
  for (const std::string& bytes : gather_bytes(ranks, packer.bytes())) {
    Unpacker unpacker(bytes);
    for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left) {
      Apart& entry = sum[unpacker.text()];
      entry.error.squares += unpacker.get<double>();
      entry.error.largest = std::max(entry.error.largest, unpacker.get<double>());
      entry.error.equal = unpacker.get<bool>() && entry.error.equal;
      entry.compared += unpacker.get<std::int64_t>();
      entry.held += unpacker.get<std::int64_t>();
    }
  }
  for (auto& [name, entry] : sum) {
    const auto found = shapes.find(name);
    if (found == shapes.end() || element_count(found->second.shape) == 0) continue;
    const double copies =
        static_cast<double>(entry.held) / static_cast<double>(element_count(found->second.shape));
    if (copies > 0) entry.error.squares /= copies;
  }
  return sum;
}

ApartByName apart_from_answer(const std::vector<LocalTensor>& mine, const std::vector<LocalTensor>& others,
                              const ExpectedTensors& shapes, Communicator& ranks) {
  ApartByName found = over_ranks(apart(mine, others), shapes, ranks);
  std::vector<LocalTensor> elsewhere;
  for (const LocalTensor& other : others) {
    const auto entry = found.find(other.name);
    if (entry != found.end() && entry->second.compared < entry->second.held) elsewhere.push_back(other);
  }
  const bool all_there = std::all_of(found.begin(), found.end(), [](const auto& entry) {
    return entry.second.compared == entry.second.held;
  });
  if (all_there) return found;
  const RightAnswer whole(elsewhere, ranks);
  std::vector<LocalTensor> again;
  for (const LocalTensor& local : mine)
    if (whole.tensors().contains(local.name)) again.push_back(local);
  for (const auto& [name, entry] : over_ranks(apart(again, whole.tensors()), shapes, ranks))
    found[name] = entry;
  return found;
}

}  // namespace tpc
