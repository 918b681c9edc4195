// SPDX-License-Identifier: Apache-2.0
// Bytes that a transformer block keeps for backward, per rank: from its tensors one by one, and from the
// closed forms of the literature. None of it is taken from the code that it judges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/values/request.hpp"

namespace tpc {

struct KeptTensor {
  std::string what;
  std::int64_t bytes;
};

// The activations of Operation::transformer_layer, tensor by tensor: with the masks of dropout where the
// problem drops, and without what the sharding has computed again.
std::vector<KeptTensor> kept_activations(const Request& request);
// Means and reciprocal deviations of its two norms, f32 (f64 for f64): 4 (8) bytes a row each. None where the
// whole block is computed again.
std::int64_t kept_statistics(const Request& request);
std::int64_t total(const std::vector<KeptTensor>& kept);

// Korthikanti et al. (arXiv 2205.05198), section 4 and table 2: 16-bit activations, 1-byte masks, GPT block
// with F = 4h and h = a·(head size). s sequence, b batch, h hidden, a heads, t ranks. Without dropout derived
// anew.
//                with dropout                   without
//   none         sbh(34 + 5as/h)                sbh(32 + 2as/h)
//   off          sbh(10 + 24/t) + 5as²b/t       sbh(8 + 24/t) + 2as²b/t
//   regathered   sbh·34/t + 5as²b/t             sbh·32/t + 2as²b/t
//   kept         sbh(4 + 30/t) + 5as²b/t        sbh(4 + 28/t) + 2as²b/t
// Selective recomputation takes the as²b terms away; of full recomputation 2sbh is left, over t with the
// sequence.
struct BlockShape {
  std::int64_t s, b, h, a, t;
};
struct BlockForm {
  SequenceParallel mode = SequenceParallel::off;
  bool dropout = false;
  Recompute recompute = Recompute::none;
};
double gpt_block_bytes(const BlockShape& shape, const BlockForm& form);

}  // namespace tpc
