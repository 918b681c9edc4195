// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/texts.hpp"

#include <algorithm>

namespace tpc::bench {

std::vector<std::string> all_texts(Communicator& ranks, const std::string& own) {
  const Tensor length = host_tensor(DType::i64, {1});
  *length.data<std::int64_t>() = static_cast<std::int64_t>(own.size());
  const Tensor longest = host_tensor(DType::i64, {1});
  ranks.all_reduce(longest, length, ReduceOp::max);
  const std::int64_t width = std::max<std::int64_t>(1, *longest.data<std::int64_t>());
  const Tensor mine = host_tensor(DType::u8, {1, width});
  std::copy(own.begin(), own.end(), mine.data<std::uint8_t>());
  const Tensor all = host_tensor(DType::u8, {ranks.size(), width});
  ranks.all_gather(all, mine);
  std::vector<std::string> texts;
  for (int r = 0; r < ranks.size(); ++r) {
    const auto* first = reinterpret_cast<const char*>(all.data<std::uint8_t>() + r * width);
    texts.emplace_back(first, std::find(first, first + width, '\0'));
  }
  return texts;
}

}  // namespace tpc::bench
