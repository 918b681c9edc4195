// SPDX-License-Identifier: Apache-2.0
#include "harness/run/reference/reference_run.hpp"
#include "reference/tensor_parallel/naming.hpp"
#include "reference/tensor_parallel/recompute.hpp"

namespace tpc {

// Named and cut as in a model.
std::vector<ReferenceRun::DropoutPlace> ReferenceRun::dropout_places() const {
  std::vector<DropoutPlace> places;
  const auto add = [&](const std::string& layer, DropoutSite site, double rate, const DrawLayout& layout) {
    const std::string mask = "mask." + std::string(tpc::name(site));
    if (rate > 0) places.push_back({join(layer, mask), ctx_.parts().dropout(layer, site, rate), layout});
  };
  Shape local = activation(config_.hidden);
  if (sp_ != SequenceParallel::off) local[0] /= ctx_.tp().size;
  const DrawLayout tokens = token_draws(ctx_, sp_, host_tensor(DType::u8, local));
  const DrawLayout heads = head_draws(ctx_, problem_.batch, config_.heads, problem_.sequence);
  add("embedding", DropoutSite::embedding, config_.dropout.embedding, tokens);
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    const std::string block = "blocks." + std::to_string(i);
    add(join(block, "attention"), DropoutSite::attention_probabilities, config_.dropout.attention, heads);
    add(join(block, "attention"), DropoutSite::attention_output, config_.dropout.hidden, tokens);
    add(join(block, "mlp"), DropoutSite::mlp_output, config_.dropout.hidden, tokens);
  }
  return places;
}

Tensor ReferenceRun::ones(const DrawLayout& layout) {
  Tensor ones = ctx_.compute().allocate(problem_.dtype, layout.local, "ones");
  ctx_.compute().fill(ones, 1);
  return ones;
}

// Of ones, what is left is the mask times the scale. Two steps; in between the streams go to a checkpoint and
// back.
void ReferenceRun::run_dropout() {
  ctx_.on_mask = nullptr;
  const std::vector<DropoutPlace> places = dropout_places();
  std::vector<Tensor> masks;
  std::vector<StreamState> before;
  for (const DropoutPlace& place : places) {
    before.push_back(streams_->state());
    const Dropout::Dropped dropped = place.dropout->forward(ctx_, ones(place.layout), place.layout);
    masks.push_back(dropped.mask);
    give("forward." + place.name, dropped.y, place.layout.placement);
  }
  for (std::size_t i = places.size(); i-- > 0;) {
    const DropoutPlace& place = places[i];
    const RecomputeScope again(ctx_, before[i]);
    give("recomputed." + place.name, place.dropout->forward(ctx_, ones(place.layout), place.layout).y,
         place.layout.placement);
    const Tensor dx = ones(place.layout);
    place.dropout->backward(ctx_, dx, dx, masks[i]);
    give("backward." + place.name, dx, place.layout.placement);
  }
  ctx_.site.step = 1;
  const StreamState checkpoint = streams_->state();
  for (const char* which : {"next.", "resumed."}) {
    for (const DropoutPlace& place : places)
      give(which + place.name, place.dropout->forward(ctx_, ones(place.layout), place.layout).y,
           place.layout.placement);
    if (std::string(which) == "next.") give_streams();
    streams_->restore(checkpoint);
  }
}

// Row r is rank r's.
void ReferenceRun::give_streams() {
  const StreamState state = streams_->state();
  const auto width = static_cast<std::int64_t>(state.size());
  const Tensor seeds = host_tensor(DType::i64, {1, width});
  const Tensor positions = host_tensor(DType::i64, {1, width});
  for (std::size_t i = 0; i < state.size(); ++i) {
    seeds.data<std::int64_t>()[i] = static_cast<std::int64_t>(state[i].seed);
    positions.data<std::int64_t>()[i] = static_cast<std::int64_t>(state[i].position);
  }
  const Placement row = shard({ctx_.mesh().ranks(), width}, 0, ctx_.mesh().rank(), ctx_.mesh().ranks());
  response_.tensors.push_back({"streams.seed", seeds, row});
  response_.tensors.push_back({"streams.position", positions, row});
}

}  // namespace tpc
