// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/compare/holdings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>

#include "harness/judge/inputs/masks.hpp"

namespace tpc {

namespace {

// Calls use(first element in the local tensor, row-major index of it in the global tensor, count).
template <class Use>
void for_each_run(const Source& source, Use use) {
  const Block& block = source.block;
  const Shape& local_shape = source.local->data.shape();
  const Shape& global_shape = source.local->placement.global_shape;
  for_each_run_of(source.box(), [&](const Shape& index, std::int64_t count) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      at = at * local_shape[d] + index[d] - block.global_offset[d] + block.local_offset[d];
    use(at, linear_index(global_shape, index), count);
  });
}

template <class T>
std::uint64_t element_bits(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

void add_element(Part& part, double got, double want, std::int64_t index) {
  const double difference = got - want;
  const double error =
      std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::fabs(difference);
  part.error.equal = false;
  ++part.unequal;
  part.error.squares += error * error;
  if (error > part.error.largest) {
    part.error.largest = error;
    part.worst = index;
    part.got = got;
  }
}

template <class T>
void compare_elements(const Source& source, const Expected& expected, Part& part) {
  const T* local = source.local->data.data<T>();
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for_each_run(source, [&](std::int64_t at, std::int64_t index, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const T value = local[at + i];
      hash = (hash ^ element_bits(value)) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 32U;
      const auto got = static_cast<double>(value);
      if (!(got == expected.values[index + i])) add_element(part, got, expected.values[index + i], index + i);
    }
  });
  part.hash = hash;
}

bool is_loss(const std::string& name) { return name == "loss" || name == "token_loss"; }

// Losses of bf16 logits may stay in f32, as their terms do.
bool is_allowed(const Problem& problem, const std::string& name, DType dtype) {
  if (problem.mesh() != nullptr) return true;
  if (is_mask(name)) return dtype == DType::u8;
  return dtype == problem.dtype || (problem.dtype == DType::bf16 && dtype == DType::f32 && is_loss(name));
}

std::string defect_of_block(const LocalTensor& local, const Block& block) {
  const Placement& placement = local.placement;
  if (!lies_inside({block.global_offset, block.extent}, placement.global_shape))
    return fmt::format("a block of {} at {} leaves the global tensor of {}", to_string(block.extent),
                       to_string(block.global_offset), to_string(placement.global_shape));
  if (!lies_inside({block.local_offset, block.extent}, local.data.shape()))
    return fmt::format("a block of {} at local {} leaves the local tensor of {}", to_string(block.extent),
                       to_string(block.local_offset), to_string(local.data.shape()));
  return {};
}

std::string defect_of_blocks(const LocalTensor& local) {
  const std::vector<Block>& blocks = local.placement.blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::string defect = defect_of_block(local, blocks[i]);
    if (!defect.empty()) return defect;
    for (std::size_t j = 0; j < i; ++j)
      if (share_elements({blocks[i].local_offset, blocks[i].extent},
                         {blocks[j].local_offset, blocks[j].extent}))
        return fmt::format("two blocks, at local {} and {}, share elements of the local tensor",
                           to_string(blocks[j].local_offset), to_string(blocks[i].local_offset));
  }
  return {};
}

std::string defect_of(const LocalTensor& local, const Catalogue& catalogue, const Problem* problem) {
  const std::size_t index = catalogue.index_of(local.name);
  if (index == catalogue.size()) return "nobody asked for this tensor";
  if (!local.data) return "comes without data";
  if (problem != nullptr && !is_allowed(*problem, local.name, local.data.dtype()))
    return fmt::format("comes in {}, not {}", name(local.data.dtype()), name(problem->dtype));
  const Shape& wanted = catalogue.expected(index).shape;
  if (local.placement.global_shape != wanted)
    return fmt::format("has the global shape {}, not {}", to_string(local.placement.global_shape),
                       to_string(wanted));
  if (!local.placement.partial_over.empty())
    return fmt::format("is still a pending sum over {}", fmt::join(local.placement.partial_over, ", "));
  return defect_of_blocks(local);
}

// Local tensors that several entries share, as a fused weight does.
using Sharers = std::vector<const LocalTensor*>;
std::vector<Sharers> by_memory(const std::vector<LocalTensor>& got) {
  std::map<std::tuple<const std::byte*, std::int64_t, DType>, Sharers> shared;
  for (const LocalTensor& local : got)
    if (local.data.count() > 0)
      shared[{local.data.raw(), local.data.count(), local.data.dtype()}].push_back(&local);
  std::vector<Sharers> all;
  all.reserve(shared.size());
  for (auto& entry : shared) all.push_back(std::move(entry.second));
  return all;
}

std::string defect_of_padding(const Sharers& sharers) {
  const Tensor& data = sharers.front()->data;
  std::int64_t placed = 0;
  for (const LocalTensor* local : sharers)
    for (const Block& block : local->placement.blocks) placed += element_count(block.extent);
  const auto declares = [](const LocalTensor* local) { return local->placement.padding.has_value(); };
  const auto declared = std::find_if(sharers.begin(), sharers.end(), declares);
  if (placed >= data.count() || declared == sharers.end()) return {};
  std::vector<bool> is_placed(static_cast<std::size_t>(data.count()), false);
  for (const LocalTensor* local : sharers)
    for (const Block& block : local->placement.blocks)
      for_each_run({0, local, block}, [&](std::int64_t at, std::int64_t, std::int64_t count) {
        std::fill_n(is_placed.begin() + at, count, true);
      });
  const double padding = *(*declared)->placement.padding;
  return visit_any(data.dtype(), [&](auto zero) -> std::string {
    const auto* values = data.data<decltype(zero)>();
    for (std::int64_t i = 0; i < data.count(); ++i)
      if (!is_placed[static_cast<std::size_t>(i)] && !(static_cast<double>(values[i]) == padding))
        return fmt::format("{}: padding at local {} must hold {}, but holds {}", (*declared)->name,
                           to_string(index_at(data.shape(), i)), padding, static_cast<double>(values[i]));
    return {};
  });
}

}  // namespace

Catalogue::Catalogue(const ExpectedTensors& expected) {
  for (const auto& entry : expected) entries_.push_back(&entry);
}

std::size_t Catalogue::index_of(const std::string& name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto* e) { return e->first == name; });
  return static_cast<std::size_t>(found - entries_.begin());
}

std::vector<Source> sources_of(const std::vector<LocalTensor>& got, const Catalogue& catalogue,
                               const Problem* problem, std::string& defect) {
  std::vector<Source> sources;
  for (const LocalTensor& local : got) {
    const std::string found = defect_of(local, catalogue, problem);
    if (!found.empty()) {
      defect = fmt::format("{}: {}", local.name, found);
      return {};
    }
    for (const Block& block : local.placement.blocks)
      if (element_count(block.extent) > 0) sources.push_back({catalogue.index_of(local.name), &local, block});
  }
  for (const Sharers& sharers : by_memory(got)) {
    defect = defect_of_padding(sharers);
    if (!defect.empty()) return {};
  }
  return sources;
}

Part compared(const Source& source, const Catalogue& catalogue) {
  Part part;
  part.tensor = source.tensor;
  part.box = source.box();
  visit_any(source.local->data.dtype(), [&](auto zero) {
    compare_elements<decltype(zero)>(source, catalogue.expected(source.tensor), part);
  });
  return part;
}

std::vector<Source> cut_source(const Source& source, const std::vector<Box>& boxes) {
  std::vector<Source> parts;
  for (const Box& box : cut(source.box(), boxes)) {
    Source part = source;
    part.block.extent = box.extent;
    part.block.global_offset = box.offset;
    for (std::size_t d = 0; d < box.offset.size(); ++d)
      part.block.local_offset[d] += box.offset[d] - source.block.global_offset[d];
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<std::uint64_t> bits_of(const Source& source) {
  std::vector<std::uint64_t> bits;
  visit_any(source.local->data.dtype(), [&](auto zero) {
    const auto* local = source.local->data.data<decltype(zero)>();
    for_each_run(source, [&](std::int64_t at, std::int64_t, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) bits.push_back(element_bits(local[at + i]));
    });
  });
  return bits;
}

double value_of_bits(std::uint64_t bits, DType dtype) {
  return visit_any(dtype, [&](auto value) {
    std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return static_cast<double>(value);
  });
}

}  // namespace tpc
