// SPDX-License-Identifier: Apache-2.0
// The three products that attention consists of, head by head. `queries` are [S, B, A·D], `keys` [S, B, K·D],
// `weights` [B, A, S, S] with the query's position before the key's.
#pragma once

#include "reference/baseline/scope.hpp"

namespace tpc::baseline {

// weights[b,a,i,j] = Σ_d queries[i,b,a,d] · keys[j,b,kv(a),d]
Values pair_products(const Scope& scope, const Values& queries, const Values& keys);
// queries[i,b,a,d] = Σ_j weights[b,a,i,j] · keys[j,b,kv(a),d]
Values mix_keys(const Scope& scope, const Values& weights, const Values& keys);
// keys[j,b,k,d] = Σ_{a: kv(a)=k} Σ_i weights[b,a,i,j] · queries[i,b,a,d]
Values mix_queries(const Scope& scope, const Values& weights, const Values& queries);

}  // namespace tpc::baseline
