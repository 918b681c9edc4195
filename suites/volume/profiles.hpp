// SPDX-License-Identifier: Apache-2.0
// What an operation is allowed to send: named lists of collectives, written down from the derivation and not
// from the code that they are compared with.
#pragma once

#include <string>

#include "harness/values/request.hpp"
#include "reference/comm/trace.hpp"

namespace tpc {

// "tp", "tp-sp-kept", "tp-sp-regather", with "-unfused" where q,k,v and gate,up are weights of their own.
// "-overlap2" where the calls beside products inside of blocks come in up to two chunks.
// (Unfused parts are summed before their one collective, so the calls are the same; what would differ is to
// sum them after.) "-full-recompute" where each block's forward, and with it what it sends, comes again in
// backward.
std::string profile_name(const Sharding& sharding);

// Every call of one forward, backward and gradient finalisation, in order, as any rank of the mesh (tp)
// issues it. P is the payload S·B·H·size. Per block and direction two calls: without sequence parallelism
// all_reduces of P (Shoeybi et al., arXiv 1909.08053, figure 4); with it an all_gather and a reduce_scatter
// of P each (Korthikanti et al., arXiv 2205.05198, section 4.2.2), and where the gathered input is not kept
// one more all_gather for each column linear in backward. T = 1 sends nothing.
Trace volume_profile(const Request& request);

}  // namespace tpc
