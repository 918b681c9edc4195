// SPDX-License-Identifier: Apache-2.0
// Bytes that a transformer block keeps for backward, per rank: from its tensors one by one, and from the
// closed forms of the literature. None of it is taken from the code that it judges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/request.hpp"

namespace tpc {

struct KeptTensor {
  std::string what;
  std::int64_t bytes;
};

// The activations of Operation::transformer_layer, tensor by tensor, without dropout.
std::vector<KeptTensor> kept_activations(const Request& request);
// Means and reciprocal deviations of its two norms, f32 (f64 for f64): 4 (8) bytes a row each.
std::int64_t kept_statistics(const Request& request);
std::int64_t total(const std::vector<KeptTensor>& kept);

// Korthikanti et al. (arXiv 2205.05198), section 4 and table 2, derived anew without dropout: 16-bit
// activations, GPT block with F = 4h and h = a·(head size). s sequence, b batch, h hidden, a heads, t ranks.
//   none        sbh(32 + 2as/h)              tensor parallel       sbh(8 + 24/t + 2as/(ht))
//   regathered  sbh·32/t + 2as²b/t           kept                  sbh(4 + 28/t) + 2as²b/t
struct BlockShape {
  std::int64_t s, b, h, a, t;
};
double gpt_block_bytes(const BlockShape& shape, SequenceParallel mode);

}  // namespace tpc
