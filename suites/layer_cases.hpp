// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "suites/variants.hpp"

namespace tpc {

// Why a block or a model has no exact tier.
inline constexpr const char* no_exact_norm =
    "the backward of a norm inside a block meets gradients that no input can make exact; the f64 tier judges "
    "it";

// The problem of a variant in a tier, inputs included. It does not depend on the mesh.
Problem problem_of(const Variant& variant, Tier tier, DType dtype, std::uint64_t seed);
DType natural_dtype(Tier tier);  // f32 and bf16 of their tiers, else f64

// Every case of the variants that the options ask for, in the modes wanted by `modes`, ordered by problem.
std::vector<Case> layer_cases(const std::string& suite, const std::vector<Variant>& variants,
                              const std::vector<SequenceParallel>& modes, const SuiteOptions& options);

// A sentence: what the case holds to be true.
std::string statement_of(const Variant& variant, SequenceParallel mode, Tier tier, int tp);

}  // namespace tpc
