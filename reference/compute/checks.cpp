// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/checks.hpp"

#include <algorithm>
#include <set>

namespace tpc::checks {

namespace {

bool is_float(DType dtype) { return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::bf16; }

std::string describe(const Tensor& x) { return fmt::format("{} {}", name(x.dtype()), to_string(x.shape())); }

void expect_float(std::string_view call, const Tensor& x) {
  TPC_EXPECT(is_float(x.dtype()), "{}: {} is not of a floating dtype", call, describe(x));
}

// `x` has the rows, width and dtype of `like`, whatever its leading dims.
void expect_rows_like(std::string_view call, const Tensor& x, const Tensor& like) {
  TPC_EXPECT(x.dtype() == like.dtype() && x.count() == like.count() && x.size(-1) == like.size(-1),
             "{}: operands {} and {} do not match", call, describe(x), describe(like));
}

void expect_vector(std::string_view call, const Tensor& vector, const Tensor& x) {
  TPC_EXPECT(vector.dtype() == x.dtype() && vector.count() == x.size(-1),
             "{}: vector {} does not match the rows of {}", call, describe(vector), describe(x));
}

void expect_stats(std::string_view call, Operands stats, std::int64_t rows, DType dtype) {
  for (const Tensor& x : stats)
    TPC_EXPECT(x.dtype() == dtype && x.count() == rows, "{}: {} should be {} numbers of {}", call,
               describe(x), rows, name(dtype));
}

void expect_ids(std::string_view call, const Tensor& ids, std::int64_t rows) {
  TPC_EXPECT(ids.dtype() == DType::i64 && ids.count() == rows, "{}: {} should be {} numbers of i64", call,
             describe(ids), rows);
}

void expect_slice(std::string_view call, const VocabSlice& slice, std::int64_t width) {
  TPC_EXPECT(slice.first >= 0 && slice.valid >= 0 && slice.width == width,
             "{}: the slice [{}, {} + {}) of a vocabulary of {} does not match a width of {}", call,
             slice.first, slice.first, slice.width, slice.valid, width);
}

void expect_inside(const Tensor& x, const Shape& offset, const Shape& extent) {
  const bool dims_match = offset.size() == x.shape().size() && extent.size() == x.shape().size();
  TPC_EXPECT(dims_match, "copy_block: offset {} and extent {} against {}", to_string(offset),
             to_string(extent), describe(x));
  for (std::size_t i = 0; i < extent.size(); ++i)
    TPC_EXPECT(offset[i] >= 0 && extent[i] >= 0 && offset[i] + extent[i] <= x.shape()[i],
               "copy_block: offset {} and extent {} leave {}", to_string(offset), to_string(extent),
               describe(x));
}

struct Matrix {
  Shape leading;
  std::int64_t rows, columns;
};

Matrix matrix_of(const Tensor& x, Transpose transpose) {
  TPC_EXPECT(x.dims() >= 2, "gemm: {} is not a matrix", describe(x));
  Matrix m{{x.shape().begin(), x.shape().end() - 2}, x.size(-2), x.size(-1)};
  if (transpose == Transpose::yes) std::swap(m.rows, m.columns);
  return m;
}

}  // namespace

Rows rows_of(const Tensor& x) {
  TPC_EXPECT(x.dims() > 0, "a scalar has no rows");
  const std::int64_t width = x.size(-1);
  if (width > 0) return {x.count() / width, width};
  return {element_count({x.shape().begin(), x.shape().end() - 1}), 0};
}

Product gemm(const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb) {
  expect_float("gemm", c);
  const Matrix ma = matrix_of(a, ta);
  const Matrix mb = matrix_of(b, tb);
  const Matrix mc = matrix_of(c, Transpose::no);
  const bool same_b = mb.leading.empty();
  const bool fits = a.dtype() == c.dtype() && b.dtype() == c.dtype() && ma.leading == mc.leading &&
                    (same_b || mb.leading == mc.leading) && ma.rows == mc.rows && ma.columns == mb.rows &&
                    mb.columns == mc.columns;
  TPC_EXPECT(fits, "gemm: {} is not {}{} times {}{}", describe(c), describe(a),
             ta == Transpose::yes ? " transposed" : "", describe(b),
             tb == Transpose::yes ? " transposed" : "");
  const std::int64_t batch = element_count(mc.leading);
  return {mc.rows, mc.columns, ma.columns, batch, ta, tb, same_b && batch > 1, c.dtype()};
}

void copy(const Tensor& y, const Tensor& x) {
  TPC_EXPECT(y.count() == x.count(), "copy: {} into {}", describe(x), describe(y));
}

void copy_block(const Tensor& y, const Shape& y_offset, const Tensor& x, const Shape& x_offset,
                const Shape& extent) {
  TPC_EXPECT(y.dtype() == x.dtype(), "copy_block: {} into {}", describe(x), describe(y));
  expect_inside(y, y_offset, extent);
  expect_inside(x, x_offset, extent);
}

void permute(const Tensor& y, const Tensor& x, const std::vector<int>& order) {
  std::set<int> seen;
  bool fits = y.dtype() == x.dtype() && y.dims() == x.dims() && static_cast<int>(order.size()) == x.dims();
  for (std::size_t i = 0; fits && i < order.size(); ++i)
    fits = order[i] >= 0 && order[i] < x.dims() && seen.insert(order[i]).second &&
           y.shape()[i] == x.size(order[i]);
  TPC_EXPECT(fits, "permute: {} into {} by order {}", describe(x), describe(y),
             to_string(Shape(order.begin(), order.end())));
}

void elementwise(std::string_view call, Operands operands) {
  const Tensor& first = *operands.begin();
  expect_float(call, first);
  for (const Tensor& x : operands)
    TPC_EXPECT(x.dtype() == first.dtype() && x.shape() == first.shape(),
               "{}: operands {} and {} do not match", call, describe(x), describe(first));
}

void dropout(const Tensor& y, const Tensor& x, const Tensor& mask) {
  TPC_EXPECT(mask.dtype() == DType::u8 && mask.shape() == x.shape(),
             "dropout: a mask {} of {} for a tensor {}", to_string(mask.shape()), name(mask.dtype()),
             to_string(x.shape()));
  elementwise("dropout", {y, x});
}

void rotary(const Tensor& y, const Tensor& x, const ModelConfig& config) {
  elementwise("rotary", {y, x});
  TPC_EXPECT(x.dims() == 4, "rotary: {} is not [S, B, heads, D]", describe(x));
  TPC_EXPECT(x.size(3) == config.head_dim && config.head_dim % 2 == 0,
             "rotary: {} with a head dim of {}, which must be even", describe(x), config.head_dim);
}

void add_rows(const Tensor& y, const Tensor& x, const Tensor& vector) {
  expect_float("add_rows", x);
  expect_rows_like("add_rows", y, x);
  expect_vector("add_rows", vector, x);
}

void sum_rows(const Tensor& vector, const Tensor& x) {
  expect_float("sum_rows", x);
  expect_vector("sum_rows", vector, x);
}

void softmax(const Tensor& p, const Tensor& scores, bool causal) {
  elementwise("softmax", {p, scores});
  const std::int64_t width = rows_of(scores).width;
  const std::int64_t queries = scores.dims() > 1 ? scores.size(-2) : 1;
  TPC_EXPECT(!causal || width == 0 || queries % width == 0,
             "softmax: causal needs rows for whole groups of {} positions, not {}", width, describe(scores));
}

void norm(std::string_view call, const Tensor& x, const NormOperands& operands) {
  expect_float(call, x);
  for (const Tensor& matrix : operands.matrices) expect_rows_like(call, matrix, x);
  for (const Tensor& vector : operands.vectors) expect_vector(call, vector, x);
  expect_stats(call, operands.stats, rows_of(x).count, statistics_dtype(x.dtype()));
}

void embedding(std::string_view call, const Tensor& rows, const Tensor& ids, const Tensor& weight,
               const VocabSlice& slice) {
  expect_float(call, rows);
  const Rows shape = rows_of(rows);
  expect_ids(call, ids, shape.count);
  TPC_EXPECT(weight.dims() == 2 && weight.dtype() == rows.dtype() && weight.size(1) == shape.width,
             "{}: weight {} against rows {}", call, describe(weight), describe(rows));
  expect_slice(call, slice, weight.size(0));
}

std::int64_t valid_width(const VocabSlice& slice) {
  return std::clamp<std::int64_t>(slice.valid - slice.first, 0, slice.width);
}

void cross_entropy(std::string_view call, Operands terms, const Tensor& logits, const VocabSlice& slice,
                   const Tensor& targets) {
  expect_float(call, logits);
  const Rows rows = rows_of(logits);
  expect_slice(call, slice, rows.width);
  expect_stats(call, terms, rows.count, statistics_dtype(logits.dtype()));
  if (targets) expect_ids(call, targets, rows.count);
}

void cross_entropy_loss(Operands terms, const Tensor& targets) {
  const Tensor& loss = *terms.begin();
  expect_float("cross_entropy_loss", loss);
  expect_stats("cross_entropy_loss", terms, loss.count(), statistics_dtype(loss.dtype()));
  expect_ids("cross_entropy_loss", targets, loss.count());
}

void loss_weights(const Tensor& weights, const Tensor& targets) {
  expect_float("loss_weights", weights);
  expect_stats("loss_weights", {weights}, targets.count(), statistics_dtype(weights.dtype()));
  expect_ids("loss_weights", targets, targets.count());
}

void dot(const Tensor& scalar, const Tensor& a, const Tensor& b) {
  expect_float("dot", a);
  expect_stats("dot", {scalar}, 1, statistics_dtype(a.dtype()));
  TPC_EXPECT(b.dtype() == a.dtype() && b.count() == a.count(), "dot: {} and {} do not match", describe(a),
             describe(b));
}

}  // namespace tpc::checks
