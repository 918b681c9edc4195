// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/heads.hpp"

#include "reference/baseline/product.hpp"

namespace tpc::baseline {

namespace {

// Where the parts of batch entry b and query head a lie.
struct HeadPlace {
  std::int64_t query_first;
  std::int64_t query_stride;
  std::int64_t key_first;
  std::int64_t key_stride;
  std::int64_t weight_first;
  std::int64_t sequence;
  std::int64_t dim;

  MatrixView queries(const Values& values) const {
    return {values.data() + query_first, sequence, dim, query_stride};
  }
  MatrixView keys(const Values& values) const {
    return {values.data() + key_first, sequence, dim, key_stride};
  }
  MatrixView weights(const Values& values) const {
    return {values.data() + weight_first, sequence, sequence, sequence};
  }
};

template <class F>
void for_each_head(const Scope& scope, F f) {
  const ModelConfig& config = scope.config();
  const std::int64_t dim = config.head_dim;
  const std::int64_t heads_per_key = config.heads / config.kv_heads;
  const std::int64_t square = scope.sequence() * scope.sequence();
  for (std::int64_t b = 0; b < scope.batch(); ++b)
    for (std::int64_t a = 0; a < config.heads; ++a)
      f(HeadPlace{.query_first = (b * config.heads + a) * dim,
                  .query_stride = scope.batch() * config.heads * dim,
                  .key_first = (b * config.kv_heads + a / heads_per_key) * dim,
                  .key_stride = scope.batch() * config.kv_heads * dim,
                  .weight_first = (b * config.heads + a) * square,
                  .sequence = scope.sequence(),
                  .dim = dim});
}

}  // namespace

Values pair_products(const Scope& scope, const Values& queries, const Values& keys) {
  Values weights(scope.batch() * scope.config().heads * scope.sequence() * scope.sequence());
  for_each_head(scope, [&](const HeadPlace& at) {
    add_product(at.queries(queries), transpose(at.keys(keys)),
                {weights.data() + at.weight_first, at.sequence});
  });
  return weights;
}

Values mix_keys(const Scope& scope, const Values& weights, const Values& keys) {
  Values queries(scope.tokens() * scope.config().heads * scope.config().head_dim);
  for_each_head(scope, [&](const HeadPlace& at) {
    add_product(at.weights(weights), at.keys(keys), {queries.data() + at.query_first, at.query_stride});
  });
  return queries;
}

Values mix_queries(const Scope& scope, const Values& weights, const Values& queries) {
  Values keys(scope.tokens() * scope.config().kv_heads * scope.config().head_dim);
  for_each_head(scope, [&](const HeadPlace& at) {
    add_product(transpose(at.weights(weights)), at.queries(queries),
                {keys.data() + at.key_first, at.key_stride});
  });
  return keys;
}

}  // namespace tpc::baseline
