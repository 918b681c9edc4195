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

// matrices: of x's rows and dtype; vectors: [width] of x's dtype; stats: one per row.
struct NormOperands {
  Operands matrices, vectors, stats;
};

Rows norm(std::string_view call, const Tensor& x, const NormOperands& operands) {
  expect_float(call, x);
  const Rows rows = rows_of(x);
  for (const Tensor& matrix : operands.matrices) expect_rows_like(call, matrix, x);
  for (const Tensor& vector : operands.vectors) expect_vector(call, vector, x);
  expect_stats(call, operands.stats, rows.count, statistics_dtype(x.dtype()));
  return rows;
}

Rows vocab_rows(std::string_view call, const Tensor& logits, const VocabSlice& slice) {
  expect_float(call, logits);
  const Rows rows = rows_of(logits);
  expect_slice(call, slice, rows.width);
  return rows;
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

Gemm gemm(const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb) {
  expect_float("gemm", c);
  const Matrix ma = matrix_of(a, ta);
  const Matrix mb = matrix_of(b, tb);
  const Matrix mc = matrix_of(c, Transpose::no);
  const bool shared_b = mb.leading.empty();
  const bool fits = a.dtype() == c.dtype() && b.dtype() == c.dtype() && ma.leading == mc.leading &&
                    (shared_b || mb.leading == mc.leading) && ma.rows == mc.rows && ma.columns == mb.rows &&
                    mb.columns == mc.columns;
  TPC_EXPECT(fits, "gemm: {} is not {}{} times {}{}", describe(c), describe(a),
             ta == Transpose::yes ? " transposed" : "", describe(b),
             tb == Transpose::yes ? " transposed" : "");
  return {element_count(mc.leading), mc.rows, mc.columns, ma.columns, shared_b};
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

std::int64_t elementwise(std::string_view call, Operands operands) {
  const Tensor& first = *operands.begin();
  expect_float(call, first);
  for (const Tensor& x : operands)
    TPC_EXPECT(x.dtype() == first.dtype() && x.shape() == first.shape(),
               "{}: operands {} and {} do not match", call, describe(x), describe(first));
  return first.count();
}

std::int64_t dropout(const Tensor& y, const Tensor& x, const Tensor& mask) {
  TPC_EXPECT(mask.dtype() == DType::u8 && mask.shape() == x.shape(),
             "dropout: a mask {} of {} for a tensor {}", to_string(mask.shape()), name(mask.dtype()),
             to_string(x.shape()));
  return elementwise("dropout", {y, x});
}

void rotary(const Tensor& y, const Tensor& x, const ModelConfig& config) {
  elementwise("rotary", {y, x});
  TPC_EXPECT(x.dims() == 4, "rotary: {} is not [S, B, heads, D]", describe(x));
  TPC_EXPECT(x.size(3) == config.head_dim && config.head_dim % 2 == 0,
             "rotary: {} with a head dim of {}, which must be even", describe(x), config.head_dim);
}

Rows add_rows(const Tensor& y, const Tensor& x, const Tensor& vector) {
  expect_float("add_rows", x);
  expect_rows_like("add_rows", y, x);
  expect_vector("add_rows", vector, x);
  return rows_of(x);
}

Rows sum_rows(const Tensor& vector, const Tensor& x) {
  expect_float("sum_rows", x);
  expect_vector("sum_rows", vector, x);
  return rows_of(x);
}

Rows softmax(const Tensor& p, const Tensor& scores, bool causal) {
  elementwise("softmax", {p, scores});
  const Rows rows = rows_of(scores);
  const std::int64_t queries = scores.dims() > 1 ? scores.size(-2) : 1;
  TPC_EXPECT(!causal || rows.width == 0 || queries % rows.width == 0,
             "softmax: causal needs rows for whole groups of {} positions, not {}", rows.width,
             describe(scores));
  return rows;
}

Rows softmax_backward(const Tensor& dscores, const Tensor& dp, const Tensor& p) {
  elementwise("softmax_backward", {dscores, dp, p});
  return rows_of(p);
}

Rows layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& gain,
                const Tensor& bias) {
  return norm("layer_norm", x, {{y}, {gain, bias}, {mean, rstd}});
}

Rows layer_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dbias, const Tensor& dy,
                         const Tensor& x, const Tensor& mean, const Tensor& rstd, const Tensor& gain) {
  return norm("layer_norm_backward", x, {{dx, dy}, {dgain, dbias, gain}, {mean, rstd}});
}

Rows rms_norm(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& gain) {
  return norm("rms_norm", x, {{y}, {gain}, {rstd}});
}

Rows rms_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dy, const Tensor& x,
                       const Tensor& rstd, const Tensor& gain) {
  return norm("rms_norm_backward", x, {{dx, dy}, {dgain, gain}, {rstd}});
}

Rows embedding(std::string_view call, const Tensor& rows, const Tensor& ids, const Tensor& weight,
               const VocabSlice& slice) {
  expect_float(call, rows);
  const Rows shape = rows_of(rows);
  expect_ids(call, ids, shape.count);
  TPC_EXPECT(weight.dims() == 2 && weight.dtype() == rows.dtype() && weight.size(1) == shape.width,
             "{}: weight {} against rows {}", call, describe(weight), describe(rows));
  expect_slice(call, slice, weight.size(0));
  return shape;
}

std::int64_t valid_width(const VocabSlice& slice) {
  return std::clamp<std::int64_t>(slice.valid - slice.first, 0, slice.width);
}

Rows cross_entropy_max(const Tensor& max, const Tensor& logits, const VocabSlice& slice) {
  const Rows rows = vocab_rows("cross_entropy_max", logits, slice);
  expect_stats("cross_entropy_max", {max}, rows.count, statistics_dtype(logits.dtype()));
  return rows;
}

Rows cross_entropy_sums(Operands terms, const Tensor& logits, const Tensor& targets,
                        const VocabSlice& slice) {
  const Rows rows = vocab_rows("cross_entropy_sums", logits, slice);
  expect_stats("cross_entropy_sums", terms, rows.count, statistics_dtype(logits.dtype()));
  expect_ids("cross_entropy_sums", targets, rows.count);
  return rows;
}

std::int64_t cross_entropy_loss(Operands terms, const Tensor& targets) {
  const Tensor& loss = *terms.begin();
  expect_float("cross_entropy_loss", loss);
  expect_stats("cross_entropy_loss", terms, loss.count(), statistics_dtype(loss.dtype()));
  expect_ids("cross_entropy_loss", targets, loss.count());
  return loss.count();
}

Rows cross_entropy_backward(const Tensor& dlogits, Operands terms, const Tensor& logits,
                            const Tensor& targets, const VocabSlice& slice) {
  const Rows rows = vocab_rows("cross_entropy_backward", logits, slice);
  expect_rows_like("cross_entropy_backward", dlogits, logits);
  expect_stats("cross_entropy_backward", terms, rows.count, statistics_dtype(logits.dtype()));
  expect_ids("cross_entropy_backward", targets, rows.count);
  return rows;
}

void loss_weights(const Tensor& weights, const Tensor& targets) {
  expect_float("loss_weights", weights);
  expect_stats("loss_weights", {weights}, targets.count(), statistics_dtype(weights.dtype()));
  expect_ids("loss_weights", targets, targets.count());
}

std::int64_t dot(const Tensor& scalar, const Tensor& a, const Tensor& b) {
  expect_float("dot", a);
  expect_stats("dot", {scalar}, 1, statistics_dtype(a.dtype()));
  TPC_EXPECT(b.dtype() == a.dtype() && b.count() == a.count(), "dot: {} and {} do not match", describe(a),
             describe(b));
  return a.count();
}

}  // namespace tpc::checks
