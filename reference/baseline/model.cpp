// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/model.hpp"

#include <algorithm>
#include <utility>

#include "reference/baseline/block.hpp"
#include "reference/baseline/embedding.hpp"
#include "reference/baseline/linear.hpp"
#include "reference/baseline/loss.hpp"
#include "reference/baseline/product.hpp"

namespace tpc::baseline {

namespace {

// The output projection: reads the word embedding's table where that is tied.
class Head {
 public:
  explicit Head(const Scope& scope)
      : scope_(scope),
        name_(scope.config().tied_head ? "embedding.weight" : "head.weight"),
        size_{scope.config().hidden, scope.config().vocab},
        weight_(scope.input(name_, {size_.out, size_.in})) {}

  Values forward(const Values& x) const {
    const auto logits = [this](const Values& a, const Values& w) {
      return product(matrix(a, scope_.tokens(), size_.in), transpose(matrix(w, size_.out, size_.in)));
    };
    return contracted(scope_, "head.y", logits, x, weight_);
  }

  Values backward_input(const Values& dlogits) const {
    const auto dx = [this](const Values& a, const Values& w) {
      return product(matrix(a, scope_.tokens(), size_.out), matrix(w, size_.out, size_.in));
    };
    return contracted(scope_, "head.dx", dx, dlogits, weight_);
  }

  void backward_untied(const Values& x, const Values& dlogits) const {
    const Scale scale = scale_of_rows(size_.out, size_.in, weight_gradient_magnitudes(dlogits, x, size_));
    file(weight_gradient(dlogits, x, size_), scale, scope_.unit(dlogits) * scope_.unit(x));
  }

  // The table's gradient has two sources: as head and as embedding.
  void backward_tied(const Values& x, const Values& dlogits, const Embedding& embedding,
                     const Values& dy) const {
    const FillRows as_head = weight_gradient_magnitudes(dlogits, x, size_);
    const FillRows as_embedding = embedding.weight_gradient_magnitudes(dy);
    const auto both = [&](std::int64_t first, std::int64_t count, Values& part) {
      as_head(first, count, part);
      as_embedding(first, count, part);
    };
    const Scale scale = scale_of_rows(size_.out, size_.in, both);
    Values gradient = weight_gradient(dlogits, x, size_);
    embedding.add_weight_gradient(dy, gradient);
    file(std::move(gradient), scale, std::min(scope_.unit(dlogits) * scope_.unit(x), scope_.unit(dy)));
  }

 private:
  void file(Values gradient, const Scale& scale, double unit) const {
    scope_.contraction("grad." + name_, scale.max(), unit);
    scope_.gradient(name_, {size_.out, size_.in}, std::move(gradient), scale);
  }

  Scope scope_;
  std::string name_;
  Linear::Size size_;
  const Values& weight_;
};

class Model {
 public:
  explicit Model(const Scope& scope)
      : scope_(scope),
        embedding_(scope, "embedding.weight"),
        final_norm_(scope.inner("final_norm"), scope.config().norm),
        head_(scope),
        cross_entropy_(scope) {
    for (std::int64_t i = 0; i < scope.config().layers; ++i)
      blocks_.emplace_back(scope.inner("blocks." + std::to_string(i)));
    states_.resize(blocks_.size());
  }

  void forward() {
    Values x = embedding_.forward().value;
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      x = blocks_[i].forward(x, states_[i], Magnitudes::skipped).value;
    last_ = final_norm_.forward(x, final_state_, Magnitudes::skipped).value;
    logits_ = head_.forward(last_);
    cross_entropy_.forward(logits_);
  }

  void backward(double dloss) {
    Values dlogits = cross_entropy_.backward(std::move(logits_), dloss, Magnitudes::skipped).value;
    Values dy = head_.backward_input(dlogits);
    if (!scope_.config().tied_head) {
      head_.backward_untied(last_, dlogits);
      dlogits = {};
    }
    dy = final_norm_.backward(dy, final_state_, Magnitudes::skipped).value;
    for (std::size_t i = blocks_.size(); i-- > 0;) {
      dy = blocks_[i].backward(dy, states_[i], Magnitudes::skipped).value;
      states_[i] = {};
    }
    dy = embedding_.backward_dropout(std::move(dy));
    if (!scope_.config().tied_head) {
      embedding_.backward(dy);
      return;
    }
    embedding_.backward_positions(dy);
    head_.backward_tied(last_, dlogits, embedding_, dy);
  }

 private:
  Scope scope_;
  Embedding embedding_;
  std::vector<Block> blocks_;
  Norm final_norm_;
  Head head_;
  CrossEntropy cross_entropy_;
  std::vector<Block::State> states_;
  Norm::State final_state_;
  Values last_;  // what the head reads
  Values logits_;
};

}  // namespace

void solve_model(const Scope& scope) {
  Model model(scope);
  model.forward();
  if (scope.has("dloss")) model.backward(scope.input("dloss", {1})[0]);
}

}  // namespace tpc::baseline
