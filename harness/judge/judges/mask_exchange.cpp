// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/judges/mask_exchange.hpp"

#include <fmt/format.h>

#include "harness/judge/compare/copies.hpp"
#include "harness/judge/compare/exchange.hpp"
#include "harness/values/texts.hpp"
#include "harness/values/wire.hpp"

namespace tpc {

namespace {

using MasksByName = std::map<std::string, HeldMask>;

void put_extents(Packer& packer, const Shape& shape) {
  packer.put_all(shape, [](Packer& p, std::int64_t extent) { p.put(extent); });
}
Shape get_extents(Unpacker& unpacker) {
  return unpacker.all<std::int64_t>([](Unpacker& u) { return u.get<std::int64_t>(); });
}

// Eight elements to the byte.
std::string as_bits(const std::vector<std::uint8_t>& kept) {
  std::string bits((kept.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < kept.size(); ++i)
    bits[i / 8] = static_cast<char>(static_cast<unsigned char>(bits[i / 8]) | kept[i] << (i % 8));
  return bits;
}
std::vector<std::uint8_t> from_bits(const std::string& bits, std::size_t count) {
  std::vector<std::uint8_t> kept(count);
  for (std::size_t i = 0; i < count; ++i)
    kept[i] = static_cast<std::uint8_t>(static_cast<unsigned char>(bits[i / 8]) >> (i % 8) & 1U);
  return kept;
}

void put_mask(Packer& packer, const HeldMask& mask) {
  packer.put_all(mask.boxes, [](Packer& p, const Box& box) {
    put_extents(p, box.offset);
    put_extents(p, box.extent);
  });
  packer.put(static_cast<std::uint64_t>(mask.kept.size())).put(std::string_view(as_bits(mask.kept)));
}
HeldMask get_mask(Unpacker& unpacker) {
  HeldMask mask;
  mask.boxes = unpacker.all<Box>([](Unpacker& u) {
    Box box;
    box.offset = get_extents(u);
    box.extent = get_extents(u);
    return box;
  });
  const auto count = unpacker.get<std::uint64_t>();
  mask.kept = from_bits(unpacker.text(), count);
  return mask;
}

MasksByName masks_here(const std::vector<LocalTensor>& got, const std::vector<MaskTensor>& wanted,
                       std::string& defect) {
  ExpectedTensors shapes;
  for (const MaskTensor& mask : wanted) shapes[mask.name].shape = mask.shape;
  const Catalogue catalogue(shapes);
  std::vector<LocalTensor> of_masks;
  for (const LocalTensor& local : got)
    if (catalogue.index_of(local.name) < catalogue.size()) of_masks.push_back(local);
  MasksByName masks;
  for (const Source& source : sources_of(of_masks, catalogue, nullptr, defect)) {
    HeldMask& mask = masks[catalogue.name(source.tensor)];
    mask.boxes.push_back(source.box());
    const DType dtype = source.local->data.dtype();
    for (const std::uint64_t bits : bits_of(source))
      mask.kept.push_back(value_of_bits(bits, dtype) != 0 ? 1 : 0);
  }
  return masks;
}

std::string hole_in(const MaskTensor& wanted, const std::vector<HeldMask>& masks) {
  std::vector<Box> boxes;
  for (const HeldMask& mask : masks) boxes.insert(boxes.end(), mask.boxes.begin(), mask.boxes.end());
  if (boxes.empty() && element_count(wanted.shape) > 0)
    return fmt::format("{}: no rank returned any part of this mask of shape {}", wanted.name,
                       to_string(wanted.shape));
  const auto hole = uncovered_element(wanted.shape, distinct(boxes));
  return hole ? fmt::format("{}{}: no rank holds this element", wanted.name, to_string(*hole)) : "";
}

}  // namespace

GatheredMasks gather_masks(const std::vector<LocalTensor>& got, const std::vector<MaskTensor>& wanted,
                           const MeshSpec& mesh, Communicator& ranks, const std::string& own_defect) {
  std::string defect = own_defect;
  MasksByName mine;
  if (defect.empty()) mine = masks_here(got, wanted, defect);
  Packer packer;
  packer.put(std::string_view(defect));
  for (const MaskTensor& mask : wanted) put_mask(packer, mine[mask.name]);

  GatheredMasks all;
  for (const MaskTensor& mask : wanted) all.by_name[mask.name].resize(static_cast<std::size_t>(ranks.size()));
  const std::vector<std::string> said = gather_bytes(ranks, packer.bytes());
  for (std::size_t r = 0; r < said.size(); ++r) {
    Unpacker unpacker(said[r]);
    const std::string there = unpacker.text();
    if (all.defect.empty() && !there.empty())
      all.defect = fmt::format("{}: {}", rank_label(mesh, static_cast<int>(r)), there);
    for (const MaskTensor& mask : wanted) all.by_name[mask.name][r] = get_mask(unpacker);
  }
  for (const MaskTensor& mask : wanted)
    if (all.defect.empty()) all.defect = hole_in(mask, all.by_name[mask.name]);
  return all;
}

std::vector<double> assembled(const Shape& shape, const std::vector<HeldMask>& masks) {
  std::vector<double> whole(static_cast<std::size_t>(element_count(shape)));
  for (const HeldMask& mask : masks) {
    std::size_t at = 0;
    for (const Box& box : mask.boxes)
      for_each_run_of(box, [&](const Shape& index, std::int64_t count) {
        const std::int64_t first = linear_index(shape, index);
        for (std::int64_t i = 0; i < count; ++i) whole[static_cast<std::size_t>(first + i)] = mask.kept[at++];
      });
  }
  return whole;
}

RelationFindings gathered(const RelationFindings& mine, Communicator& ranks) {
  Packer packer;
  packer.put(mine.equal_pairs).put(mine.independent_pairs).put(mine.free_pairs).put(mine.tests);
  packer.put(mine.largest_z).put(mine.largest_peak).put(mine.visible_share);
  packer.put(std::string_view(mine.alarm)).put(std::string_view(mine.rates));
  RelationFindings sum;
  for (const std::string& bytes : gather_bytes(ranks, packer.bytes())) {
    Unpacker unpacker(bytes);
    RelationFindings part;
    for (std::int64_t* count : {&part.equal_pairs, &part.independent_pairs, &part.free_pairs, &part.tests})
      *count = unpacker.get<std::int64_t>();
    for (double* value : {&part.largest_z, &part.largest_peak, &part.visible_share})
      *value = unpacker.get<double>();
    part.alarm = unpacker.text();
    part.rates = unpacker.text();
    add(sum, part);
  }
  return sum;
}

}  // namespace tpc
