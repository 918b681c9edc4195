// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/random/random_streams.hpp"

namespace tpc {

std::unique_ptr<RandomStreams> make_invariant_streams(const StreamSetup& setup);
std::unique_ptr<RandomStreams> make_megatron_streams(const StreamSetup& setup);
std::unique_ptr<RandomStreams> make_dtensor_streams(const StreamSetup& setup);

void expect_same_names(const StreamState& restored, const StreamState& mine);

}  // namespace tpc
