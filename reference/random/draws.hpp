// SPDX-License-Identifier: Apache-2.0
// Masks and weights made of the numbers that the streams assign.
#pragma once

#include <string>
#include <string_view>

#include "reference/compute/compute.hpp"
#include "reference/random/random_streams.hpp"

namespace tpc {

// An element is dropped when its number, of 32 bits, lies below this. Exactly round(p·2^32) of the 2^32
// numbers do. Throws Refusal unless 0 <= p < 1 and at least one number is kept.
std::uint32_t drop_below(double p);

// u8 of the layout's local shape: 1 kept, 0 dropped; on the device of `compute`. At p = 0 everything is kept
// and no stream moves. The mask is applied elsewhere: y = x·mask·1/(1-p) forward, dx = dy·mask·1/(1-p)
// backward, with the factor 1/(1-p) rounded once from f64 to the dtype of the arithmetic; the product with a
// mask of 0 is 0 even for an infinite x.
Tensor draw_mask(Compute& compute, RandomStreams& streams, const MaskSite& site, const DrawLayout& layout,
                 double p, std::string_view label = "mask");

struct Normal {
  double mean = 0;
  double std = 1;
};
// mean + std·gaussian, made in f64 and rounded to the dtype (bf16 by way of f32). `out`, on the host, has the
// layout's local shape; its elements outside all blocks are left alone. Without `out` the streams move on,
// that is all.
void draw_normal(RandomStreams& streams, const std::string& parameter, const DrawLayout& layout,
                 const Normal& normal, const Tensor& out);

}  // namespace tpc
