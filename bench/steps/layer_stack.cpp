// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/layer_stack.hpp"

#include "harness/judge/inputs/inputs.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"
#include "reference/tensor_parallel/gradient_finalisation.hpp"
#include "reference/tensor_parallel/requirements.hpp"

namespace tpc::bench {

namespace {

MeshSpec tp_mesh(const CommunicatorPtr& ranks) { return {{ranks->size()}, {"tp"}}; }

}  // namespace

namespace {
constexpr std::string_view overlap_label = "_overlap";
}

std::string name(const Form& form) {
  const std::string base(name(form.sequence_parallel));
  return form.overlaps() ? fmt::format("{}{}{}", base, overlap_label, form.overlap_chunks) : base;
}

Form form_named(std::string_view text) {
  Form form;
  const std::size_t label = text.find(overlap_label);
  for (const SequenceParallel sp : {SequenceParallel::kept, SequenceParallel::regathered})
    if (name(sp) == text.substr(0, label)) form.sequence_parallel = sp;
  if (label != std::string_view::npos)
    form.overlap_chunks = std::stoi(std::string(text.substr(label + overlap_label.size())));
  return form;
}

Problem problem_of(const StackShape& shape, Operation operation) {
  Problem problem;
  problem.asked = operation;
  problem.model = shape.model;
  problem.batch = shape.batch;
  problem.sequence = shape.sequence;
  problem.dtype = shape.dtype;
  problem.seed = 1;
  return problem;
}

Problem stack_problem(const StackShape& shape) {
  Problem problem = problem_of(shape, Operation::model);
  for (InputSpec& input : inputs_for(problem, InputRecipe::gaussian))
    if (input.name.starts_with("blocks.")) problem.inputs.push_back(std::move(input));
  for (const char* name : {"x", "dy"})
    problem.inputs.push_back(
        {name, {shape.sequence, shape.batch, shape.model.hidden}, {Generator::Kind::gaussian, 0.25, 1}});
  return problem;
}

namespace {

Sharding sharding_of(const Form& form) {
  return {.sequence_parallel = form.sequence_parallel, .overlap_chunks = form.overlap_chunks};
}

Stage stack_of(const StackShape& shape, const Context& ctx) {
  const Sharding sharding = sharding_of(shape.form);
  require_splittable(Operation::transformer_layer, shape.model, sharding, shape.sequence, ctx.tp().size);
  return make_stage({shape.model, sharding, ctx.position(), ctx.parts()}, {.end = shape.model.layers});
}

}  // namespace

LayerStack::LayerStack(const StackShape& shape, const CommunicatorPtr& ranks, Compute& compute)
    : shape_(shape),
      problem_(stack_problem(shape)),
      ctx_(ranks, tp_mesh(ranks), compute),
      compute_(compute),
      stage_(stack_of(shape, ctx_)),
      specs_(stage_.parameters()),
      gradients_(specs_) {
  const bool dry = compute.place() == Place::nowhere;
  parameters_ = HeldParameters(
      load_parameters(compute, specs_, shape.dtype, [&](const std::string& name, const Block& block) {
        return dry ? compute.allocate(shape.dtype, block.extent, name)
                   : draw_tensor(problem_, input_named(problem_, name), block.global_offset, block.extent);
      }));
  for (int slot = 0; slot < slots; ++slot) {
    x_.push_back(drawn("x", token_layout(), slot));
    dy_.push_back(drawn("dy", token_layout(), slot));
  }
}

Placement LayerStack::token_layout() const {
  const Shape global = {shape_.sequence, shape_.batch, shape_.model.hidden};
  return shape_.form.sequence_parallel == SequenceParallel::off ? replicate(global)
                                                                : tpc::shard(global, 0, ctx_.tp());
}

Tensor LayerStack::drawn(const std::string& name, const Placement& placement, int slot) {
  const Block& block = placement.blocks.at(0);
  const Tensor local = compute_.allocate(shape_.dtype, block.extent, name);
  if (local.place() == Place::nowhere) return local;
  Problem problem = problem_;
  problem.seed += static_cast<std::uint64_t>(slot);
  compute_.copy(local, draw_tensor(problem, input_named(problem, name), block.global_offset, block.extent));
  return local;
}

void LayerStack::forward(int slot) {
  result_ = {};
  result_ = stage_.forward(ctx_, parameters_, x_.at(static_cast<std::size_t>(slot)));
}

void LayerStack::backward(int slot) {
  gradients_ = Gradients(specs_);
  dx_ = stage_.backward(ctx_, parameters_, dy_.at(static_cast<std::size_t>(slot)), std::move(result_.saved),
                        gradients_);
}

void LayerStack::finalise() { finalise_gradients(ctx_, gradients_); }

std::vector<PlacedTensor> LayerStack::outputs() const {
  std::vector<PlacedTensor> all = {{"y", result_.y, token_layout()}};
  if (!dx_) return all;
  all.push_back({"dx", dx_, token_layout()});
  for (const ParameterSpec& spec : specs_)
    for (const ParameterPart& part : spec.parts)
      all.push_back({part.canonical, gradients_.at(spec.name), part.placement});
  return all;
}

}  // namespace tpc::bench
