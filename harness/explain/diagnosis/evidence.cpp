// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/evidence.hpp"

#include <cmath>
#include <limits>

#include "harness/judge/compare/exchange.hpp"
#include "harness/judge/compare/tiers.hpp"
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

std::vector<double> elements(const LocalTensor& local, const Block& block) {
  std::vector<double> values;
  const Box here{block.local_offset, block.extent};
  visit_any(local.data.dtype(), [&](auto zero) {
    const auto* data = local.data.data<decltype(zero)>();
    for_each_run_of(here, [&](const Shape& index, std::int64_t count) {
      const std::int64_t at = linear_index(local.data.shape(), index);
      for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(data[at + i]));
    });
  });
  return values;
}

std::string pack_pieces(const std::vector<LocalTensor>& mine, const std::string& tensor, std::int64_t most) {
  Packer packer;
  for (const LocalTensor& local : mine) {
    if (local.name != tensor || !local.data) continue;
    for (const Block& block : local.placement.blocks) {
      if (element_count(block.extent) == 0 || element_count(block.extent) > most) continue;
      put_shape(packer, block.global_offset);
      put_shape(packer, block.extent);
      const std::vector<double> values = elements(local, block);
      packer.put(
          std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)));
    }
  }
  return packer.bytes();
}

}  // namespace

std::vector<double> right_part(const TensorEvidence& tensor, const Box& box) {
  std::vector<double> part;
  for_each_run_of(box, [&](const Shape& index, std::int64_t count) {
    const auto* first = tensor.right.data() + linear_index(tensor.shape, index);
    part.insert(part.end(), first, first + count);
  });
  return part;
}

bool is_whole(const TensorEvidence& tensor, const Piece& piece) { return piece.box.extent == tensor.shape; }

std::vector<Piece> gather_pieces(const std::vector<LocalTensor>& mine, const std::string& tensor,
                                 Communicator& ranks, std::int64_t most) {
  std::vector<Piece> pieces;
  const std::vector<std::string> all = gather_bytes(ranks, pack_pieces(mine, tensor, most));
  for (std::size_t r = 0; r < all.size(); ++r)
    for (Unpacker unpacker(all[r]); !unpacker.done();) {
      Piece piece;
      piece.rank = static_cast<int>(r);
      piece.box.offset = get_shape(unpacker);
      piece.box.extent = get_shape(unpacker);
      const std::string bytes = unpacker.text();
      piece.values.resize(bytes.size() / sizeof(double));
      std::memcpy(piece.values.data(), bytes.data(), bytes.size());
      pieces.push_back(std::move(piece));
    }
  return pieces;
}

std::vector<double> assembled(const Shape& shape, const std::vector<Piece>& pieces) {
  std::vector<double> whole(static_cast<std::size_t>(element_count(shape)),
                            std::numeric_limits<double>::quiet_NaN());
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    const double* next = piece->values.data();
    for_each_run_of(piece->box, [&](const Shape& index, std::int64_t count) {
      std::copy(next, next + count, whole.begin() + linear_index(shape, index));
      next += count;
    });
  }
  return whole;
}

double element_threshold(const Case& c, const Expected& expected) {
  switch (c.tier) {
    case Tier::f32:
    case Tier::bf16:
      return rounding_tolerance(c.request.problem.dtype, c.request.mesh.ranks(), expected) *
             std::max(expected.scale_max, expected.norm);
    case Tier::f64:
      return f64_tolerance(c.request.problem) * std::max(expected.scale_max, expected.norm);
    default:
      return 0;
  }
}

}  // namespace tpc
