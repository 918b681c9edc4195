// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/compare/copies.hpp"

#include <algorithm>
#include <map>

#include "harness/values/texts.hpp"
#include "harness/values/wire.hpp"

namespace tpc {

namespace {

using Bits = std::vector<std::uint64_t>;
constexpr std::size_t chunks = 1024;

std::string pack(const Bits& words) {
  Packer packer;
  packer.put_all(words, [](Packer& p, std::uint64_t word) { p.put(word); });
  return packer.bytes();
}

std::size_t chunk_size(const Box& box) {
  return (static_cast<std::size_t>(element_count(box.extent)) + chunks - 1) / chunks;
}

Bits chunk_of(const Bits& bits, std::size_t size, std::size_t number) {
  const auto first = static_cast<std::ptrdiff_t>(std::min(number * size, bits.size()));
  const auto last = static_cast<std::ptrdiff_t>(std::min((number + 1) * size, bits.size()));
  return {bits.begin() + first, bits.begin() + last};
}

Bits hashes_of_chunks(const Bits& bits, std::size_t size) {
  Bits hashes;
  for (std::size_t number = 0; number * size < bits.size(); ++number) {
    std::uint64_t hash = 0;
    for (const std::uint64_t word : chunk_of(bits, size, number))
      hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL + 1;
    hashes.push_back(hash);
  }
  return hashes;
}

std::size_t first_difference(const Bits& a, const Bits& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// This rank's copies of the box; two where a rank holds it twice.
std::vector<const Source*> copies_here(const UnequalCopies& copies, const std::vector<Source>& sources) {
  std::vector<const Source*> here;
  for (const Source& source : sources)
    if (source.tensor == copies.tensor && source.box() == copies.box) here.push_back(&source);
  return here;
}

struct Difference {
  std::size_t at = 0;  // in the box, row-major
  std::uint64_t one = 0;
  std::uint64_t other = 0;
};

// The first element in which the two ranks differ: chunk hashes first, then one chunk.
Difference locate(const UnequalCopies& copies, const Bits& mine, const Bits& mine_again,
                  Communicator& ranks) {
  const std::size_t size = chunk_size(copies.box);
  const bool speaks_first = ranks.rank() == copies.one;
  const bool speaks_second = ranks.rank() == copies.other;
  const auto both = [&](const Bits& first, const Bits& second) {
    const Bits nothing;
    const std::vector<std::string> said =
        gather_bytes(ranks, pack(speaks_first ? first : nothing) + pack(speaks_second ? second : nothing));
    const auto part = [&](int rank, bool second_part) {
      Unpacker unpacker(said[static_cast<std::size_t>(rank)]);
      const auto get = [](Unpacker& u) { return u.get<std::uint64_t>(); };
      Bits words = unpacker.all<std::uint64_t>(get);
      return second_part ? unpacker.all<std::uint64_t>(get) : words;
    };
    return std::make_pair(part(copies.one, false), part(copies.other, true));
  };
  const auto hashes = both(hashes_of_chunks(mine, size), hashes_of_chunks(mine_again, size));
  const std::size_t number = first_difference(hashes.first, hashes.second);
  const auto elements = both(chunk_of(mine, size, number), chunk_of(mine_again, size, number));
  const std::size_t at = first_difference(elements.first, elements.second);
  TPC_EXPECT(at < elements.first.size() && at < elements.second.size(), "copies differ, but no element does");
  return {number * size + at, elements.first[at], elements.second[at]};
}

}  // namespace

std::optional<UnequalCopies> find_unequal_copies(const std::vector<Holdings>& all) {
  struct First {
    std::uint64_t hash;
    int rank;
  };
  std::map<std::pair<std::size_t, Box>, First> seen;
  for (std::size_t r = 0; r < all.size(); ++r)
    for (const Part& part : all[r].parts) {
      const auto [entry, is_new] =
          seen.try_emplace({part.tensor, part.box}, First{part.hash, static_cast<int>(r)});
      if (!is_new && entry->second.hash != part.hash)
        return UnequalCopies{part.tensor, part.box, entry->second.rank, static_cast<int>(r)};
    }
  return std::nullopt;
}

std::string describe(const UnequalCopies& copies, const std::vector<Source>& sources,
                     const Catalogue& catalogue, Communicator& ranks) {
  const std::vector<const Source*> here = copies_here(copies, sources);
  Bits mine;
  Bits mine_again;
  std::string dtype;
  if (!here.empty()) {
    mine = bits_of(*here.front());
    mine_again = bits_of(*here.back());
    dtype = name(here.front()->local->data.dtype());
  }
  const std::vector<std::string> dtypes = gather_bytes(ranks, dtype);
  const Difference difference = locate(copies, mine, mine_again, ranks);
  const auto value = [&](std::uint64_t bits, int rank) {
    return value_of_bits(bits, dtype_named(dtypes[static_cast<std::size_t>(rank)]));
  };
  Shape index = index_at(copies.box.extent, static_cast<std::int64_t>(difference.at));
  for (std::size_t d = 0; d < index.size(); ++d) index[d] += copies.box.offset[d];
  const Expected& expected = catalogue.expected(copies.tensor);
  return fmt::format("{}{}: expected {}, got {}, but rank {} got {}: copies must agree bit for bit",
                     catalogue.name(copies.tensor), to_string(index),
                     expected.values[linear_index(expected.shape, index)],
                     value(difference.other, copies.other), copies.one, value(difference.one, copies.one));
}

std::string rank_label(const MeshSpec& mesh, int rank) {
  std::string coordinates;
  int stride = mesh.ranks();
  for (std::size_t axis = 0; axis < mesh.shape.size() && axis < mesh.axes.size(); ++axis) {
    stride /= std::max(1, mesh.shape[axis]);
    if (stride == 0) break;
    coordinates += fmt::format("{}{} {} of {}", coordinates.empty() ? "" : ", ", mesh.axes[axis],
                               rank / stride % mesh.shape[axis], mesh.shape[axis]);
  }
  return coordinates.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} ({})", rank, coordinates);
}

}  // namespace tpc
