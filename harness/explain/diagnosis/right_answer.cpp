// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/right_answer.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/explain/diagnosis/evidence.hpp"
#include "harness/judge/compare/exchange.hpp"
#include "harness/values/texts.hpp"
#include "harness/values/wire.hpp"

namespace tpc {

namespace {

// Name and shape of what any rank has: ranks may hold different tensors.
std::map<std::string, Shape> shapes_of(const std::vector<LocalTensor>& mine, Communicator& ranks) {
  Packer packer;
  packer.put_all(mine, [](Packer& p, const LocalTensor& local) {
    p.put(std::string_view(local.name));
    p.put_all(local.placement.global_shape, [](Packer& q, std::int64_t extent) { q.put(extent); });
  });
  std::map<std::string, Shape> shapes;
  for (const std::string& bytes : gather_bytes(ranks, packer.bytes())) {
    Unpacker unpacker(bytes);
    for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left) {
      const std::string name = unpacker.text();
      shapes[name] = unpacker.all<std::int64_t>([](Unpacker& u) { return u.get<std::int64_t>(); });
    }
  }
  return shapes;
}

}  // namespace

RightAnswer::RightAnswer(const std::vector<LocalTensor>& answered, Communicator& ranks) {
  for (const auto& [name, shape] : shapes_of(answered, ranks)) {
    if (element_count(shape) > most_elements) continue;
    own_[name] = assembled(shape, gather_pieces(answered, name, ranks, most_elements));
    Expected& expected = expected_[name];
    expected.shape = shape;
    expected.values = own_[name].data();
    expected.norm = expected.scale_norm = norm(own_[name]);
    for (const double value : own_[name]) expected.scale_max = std::max(expected.scale_max, std::fabs(value));
  }
}

}  // namespace tpc
