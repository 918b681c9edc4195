// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/order.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <tuple>

#include "harness/judge/inputs/masks.hpp"

namespace tpc {

namespace {

// The first number after the prefix, wherever it stands; -1 where it does not.
int number_after(std::string_view text, std::string_view prefix) {
  const std::size_t at = text.find(prefix);
  if (at == std::string_view::npos) return -1;
  int number = -1;
  const std::string_view rest = text.substr(at + prefix.size());
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return number;
}

int stage(const std::string& tensor) {
  if (is_mask(tensor)) return 0;
  constexpr std::array<std::string_view, 7> stages = {"out", "y",       "token_loss",   "loss",
                                                      "dx",  "dlogits", "gradient_norm"};
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (tensor == stages[i]) return static_cast<int>(i) + 1;
  return static_cast<int>(stages.size()) + 1;
}

// Of a parameter within its block, as backward meets them; parts of a block by the beginning of their names.
int depth(const std::string& tensor) {
  constexpr std::array<std::string_view, 18> backwards = {
      "head.", "final_norm.", "mlp.down.",      "mlp.fc2.", "down.",      "fc2.", "mlp.", "fc1.", "gate.",
      "up.",   "norm2.",      "attention.out.", "out.",     "attention.", "q.",   "k.",   "v.",   "norm1."};
  for (std::size_t i = 0; i < backwards.size(); ++i)
    if (tensor.find(backwards[i]) != std::string::npos) return static_cast<int>(i);
  return static_cast<int>(backwards.size());
}

// Blocks come after what stands above them and before the embedding, the last one first.
int block_from_the_top(const std::string& tensor) {
  const int block = number_after(tensor, "blocks.");
  if (block >= 0) return 1'000'000 - block;
  const bool above =
      tensor.find("head.") != std::string::npos || tensor.find("final_norm.") != std::string::npos;
  return above ? 0 : 2'000'000;
}

auto place(const std::string& tensor) {
  return std::tuple(std::max(0, number_after(tensor, "step")), stage(tensor), block_from_the_top(tensor),
                    depth(tensor), tensor);
}

}  // namespace

bool made_before(const std::string& one, const std::string& other) { return place(one) < place(other); }

std::vector<std::string> in_order_of_execution(std::vector<std::string> tensors) {
  std::sort(tensors.begin(), tensors.end(), made_before);
  return tensors;
}

}  // namespace tpc
