// SPDX-License-Identifier: Apache-2.0
// Which masks of dropout a problem draws, and what they hold under the profile `invariant`: from the rule,
// not from the streams that are judged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/values/request.hpp"
#include "reference/core/tensor.hpp"

namespace tpc {

// One place where an operation drops.
struct MaskSpec {
  std::string name;   // "blocks.0.attention.mask.attention_probabilities"
  std::string layer;  // "blocks.0.attention"; empty for a layer on its own
  std::string site;   // "attention_probabilities"
  Shape shape;        // of the whole tensor
  double rate = 0;
  bool by_heads = false;  // cut over tp by heads, always; else tokens, which sequence parallelism cuts
};

// In the order in which forward meets them; those with a rate above 0 alone, and none in evaluation.
std::vector<MaskSpec> masks_of(const Problem& problem);

// Elements of a mask: 1 kept, 0 dropped. Element i of a tensor is kept where word 0 of Philox4x32-10 with key
// K(seed, "mask/LAYER/SITE") and counter (i, step·2^32 + microbatch) is at least round(p·2^32).
std::vector<double> invariant_mask(std::uint64_t seed, const MaskSpec& mask, std::int64_t step);

// K: words 1 and 0 of Philox4x32-10 with the seed as key and the FNV-1a hash of the name as counter.
std::uint64_t invariant_key(std::uint64_t seed, const std::string& name);

bool is_mask(const std::string& tensor);  // by its name
// Whether what is expected depends on the masks that the implementation drew, so that it is known only then.
bool depends_on_drawn_masks(const Problem& problem);

}  // namespace tpc
