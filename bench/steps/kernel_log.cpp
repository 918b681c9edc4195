// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/kernel_log.hpp"

#include <chrono>
#include <ctime>

namespace tpc::bench {

namespace {

using Clock = std::chrono::steady_clock;

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

ProductShape shape_of(const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb) {
  ProductShape shape;
  shape.m = c.size(-2);
  shape.n = c.size(-1);
  shape.k = a.size(ta == Transpose::yes ? -2 : -1);
  const std::int64_t one = shape.m * shape.n;
  shape.batch = one == 0 ? 1 : c.count() / one;
  shape.a_transposed = ta == Transpose::yes;
  shape.b_transposed = tb == Transpose::yes;
  shape.b_shared = shape.batch > 1 && b.dims() == 2;
  shape.dtype = c.dtype();
  return shape;
}

// Each call is one line: note(name, operands, call).
class LoggedCompute : public Compute {
 public:
  LoggedCompute(Compute& inner, KernelLog& log, double drag) : inner_(inner), log_(log), drag_(drag) {}

  std::string_view device() const override { return inner_.device(); }
  std::size_t live_bytes() const override { return inner_.live_bytes(); }
  void forget_all_but(const std::vector<Tensor>& keep) override { inner_.forget_all_but(keep); }
  void synchronize() override { inner_.synchronize(); }
  Tensor allocate(DType dtype, Shape shape, std::string_view label) override {
    Tensor made;
    timed(log_.allocations, 0, [&] { made = inner_.allocate(dtype, std::move(shape), label); });
    log_.allocations.bytes += static_cast<double>(made.bytes());
    return made;
  }

  void gemm(const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb,
            bool accumulate) override {
    const auto bytes = static_cast<double>(c.bytes() + a.bytes() + b.bytes());
    timed(log_.products[shape_of(c, a, ta, b, tb)], bytes, [&] { inner_.gemm(c, a, ta, b, tb, accumulate); });
  }

  void fill(const Tensor& y, double value) override {
    note("fill", {y}, [&] { inner_.fill(y, value); });
  }
  void copy(const Tensor& y, const Tensor& x) override {
    note("copy", {y, x}, [&] { inner_.copy(y, x); });
  }
  void copy_block(const Tensor& y, const Shape& y_offset, const Tensor& x, const Shape& x_offset,
                  const Shape& extent) override {
    const double bytes =
        2.0 * static_cast<double>(element_count(extent)) * static_cast<double>(size_of(y.dtype()));
    timed(log_.others["copy_block"], bytes, [&] { inner_.copy_block(y, y_offset, x, x_offset, extent); });
  }
  void permute(const Tensor& y, const Tensor& x, const std::vector<int>& order) override {
    note("permute", {y, x}, [&] { inner_.permute(y, x, order); });
  }

  void add(const Tensor& y, const Tensor& a, const Tensor& b) override {
    note("add", {y, a, b}, [&] { inner_.add(y, a, b); });
  }
  void scale(const Tensor& y, const Tensor& x, double factor) override {
    note("scale", {y, x}, [&] { inner_.scale(y, x, factor); });
  }
  void gelu(const Tensor& y, const Tensor& x, GeluForm form) override {
    note("gelu", {y, x}, [&] { inner_.gelu(y, x, form); });
  }
  void gelu_backward(const Tensor& dx, const Tensor& dy, const Tensor& x, GeluForm form) override {
    note("gelu_backward", {dx, dy, x}, [&] { inner_.gelu_backward(dx, dy, x, form); });
  }
  void swiglu(const Tensor& y, const Tensor& gate, const Tensor& up) override {
    note("swiglu", {y, gate, up}, [&] { inner_.swiglu(y, gate, up); });
  }
  void swiglu_backward(const Tensor& dgate, const Tensor& dup, const Tensor& dy, const Tensor& gate,
                       const Tensor& up) override {
    note("swiglu_backward", {dgate, dup, dy, gate, up},
         [&] { inner_.swiglu_backward(dgate, dup, dy, gate, up); });
  }
  void rotary(const Tensor& y, const Tensor& x, const ModelConfig& config, Direction direction) override {
    note("rotary", {y, x}, [&] { inner_.rotary(y, x, config, direction); });
  }
  void dropout(const Tensor& y, const Tensor& x, const Tensor& mask, double factor) override {
    note("dropout", {y, x, mask}, [&] { inner_.dropout(y, x, mask, factor); });
  }

  void add_rows(const Tensor& y, const Tensor& x, const Tensor& vector) override {
    note("add_rows", {y, x, vector}, [&] { inner_.add_rows(y, x, vector); });
  }
  void sum_rows(const Tensor& vector, const Tensor& x) override {
    note("sum_rows", {vector, x}, [&] { inner_.sum_rows(vector, x); });
  }

  void softmax(const Tensor& p, const Tensor& scores, double factor, bool causal) override {
    note("softmax", {p, scores}, [&] { inner_.softmax(p, scores, factor, causal); });
  }
  void softmax_backward(const Tensor& dscores, const Tensor& dp, const Tensor& p, double factor) override {
    note("softmax_backward", {dscores, dp, p}, [&] { inner_.softmax_backward(dscores, dp, p, factor); });
  }

  void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x,
                  const Tensor& gain, const Tensor& bias, double eps) override {
    note("layer_norm", {y, x}, [&] { inner_.layer_norm(y, mean, rstd, x, gain, bias, eps); });
  }
  void layer_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dbias, const Tensor& dy,
                           const Tensor& x, const Tensor& mean, const Tensor& rstd,
                           const Tensor& gain) override {
    note("layer_norm_backward", {dx, dy, x},
         [&] { inner_.layer_norm_backward(dx, dgain, dbias, dy, x, mean, rstd, gain); });
  }
  void rms_norm(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& gain,
                double eps) override {
    note("rms_norm", {y, x}, [&] { inner_.rms_norm(y, rstd, x, gain, eps); });
  }
  void rms_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dy, const Tensor& x,
                         const Tensor& rstd, const Tensor& gain) override {
    note("rms_norm_backward", {dx, dy, x}, [&] { inner_.rms_norm_backward(dx, dgain, dy, x, rstd, gain); });
  }

  void embedding(const Tensor& y, const Tensor& ids, const Tensor& weight, const VocabSlice& slice) override {
    note("embedding", {y, y}, [&] { inner_.embedding(y, ids, weight, slice); });
  }
  void embedding_backward(const Tensor& dweight, const Tensor& dy, const Tensor& ids,
                          const VocabSlice& slice) override {
    note("embedding_backward", {dweight, dy}, [&] { inner_.embedding_backward(dweight, dy, ids, slice); });
  }

  void cross_entropy_max(const Tensor& max, const Tensor& logits, const VocabSlice& slice) override {
    note("cross_entropy_max", {max, logits}, [&] { inner_.cross_entropy_max(max, logits, slice); });
  }
  void cross_entropy_sums(const Tensor& sum_exp, const Tensor& target_logit, const Tensor& sum_logit,
                          const Tensor& logits, const Tensor& max, const Tensor& targets,
                          const VocabSlice& slice) override {
    note("cross_entropy_sums", {logits},
         [&] { inner_.cross_entropy_sums(sum_exp, target_logit, sum_logit, logits, max, targets, slice); });
  }
  void cross_entropy_loss(const Tensor& loss, const Tensor& max, const Tensor& sum_exp,
                          const Tensor& target_logit, const Tensor& sum_logit, const Tensor& targets,
                          const LossDefinition& definition, std::int64_t vocab) override {
    note("cross_entropy_loss", {loss, max, sum_exp}, [&] {
      inner_.cross_entropy_loss(loss, max, sum_exp, target_logit, sum_logit, targets, definition, vocab);
    });
  }
  void cross_entropy_backward(const Tensor& dlogits, const Tensor& logits, const Tensor& max,
                              const Tensor& sum_exp, const Tensor& targets, const Tensor& seeds,
                              const LossDefinition& definition, const VocabSlice& slice) override {
    note("cross_entropy_backward", {dlogits, logits}, [&] {
      inner_.cross_entropy_backward(dlogits, logits, max, sum_exp, targets, seeds, definition, slice);
    });
  }
  void loss_weights(const Tensor& weights, const Tensor& targets, const LossDefinition& definition) override {
    note("loss_weights", {weights, targets}, [&] { inner_.loss_weights(weights, targets, definition); });
  }
  void dot(const Tensor& scalar, const Tensor& a, const Tensor& b) override {
    note("dot", {scalar, a, b}, [&] { inner_.dot(scalar, a, b); });
  }

 private:
  template <class Call>
  void note(const char* kernel, std::initializer_list<Tensor> operands, const Call& call) {
    double bytes = 0;
    for (const Tensor& operand : operands) bytes += static_cast<double>(operand.bytes());
    timed(log_.others[kernel], bytes, call);
  }

  template <class Call>
  void timed(KernelUse& use, double bytes, const Call& call) {
    const auto start = Clock::now();
    const double cpu_start = drag_ > 0 ? cpu_seconds() : 0;
    call();
    if (drag_ > 0) {  // of what it computed, not of what others took from its core
      const double until = cpu_seconds() + drag_ * (cpu_seconds() - cpu_start);
      while (cpu_seconds() < until) continue;
    }
    const std::chrono::duration<double> took = Clock::now() - start;
    ++use.calls;
    use.bytes += bytes;
    use.seconds += took.count();
  }

  Compute& inner_;
  KernelLog& log_;
  double drag_;
};

}  // namespace

std::string to_string(const ProductShape& s) {
  const std::string batch = s.batch == 1 ? "" : fmt::format("{}x", s.batch);
  return fmt::format("{}{}x{}x{} {}{}", batch, s.m, s.n, s.k, s.a_transposed ? 't' : 'n',
                     s.b_transposed ? 't' : 'n');
}

double KernelLog::product_s() const {
  double sum = 0;
  for (const auto& [shape, use] : products) sum += use.seconds;
  return sum;
}

double KernelLog::other_s() const {
  double sum = 0;
  for (const auto& [kernel, use] : others) sum += use.seconds;
  return sum;
}

std::unique_ptr<Compute> make_logged_compute(Compute& inner, KernelLog& log, double drag) {
  return std::make_unique<LoggedCompute>(inner, log, drag);
}

}  // namespace tpc::bench
