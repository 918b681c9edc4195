// SPDX-License-Identifier: Apache-2.0
#include "harness/run/process/request_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace tpc {

namespace {

using Json = nlohmann::ordered_json;

std::string_view word(Problem::Kind kind) {
  constexpr std::string_view words[] = {"operation", "collective", "mesh"};
  return words[static_cast<std::size_t>(kind)];
}
std::string_view word(NormKind kind) { return kind == NormKind::layer_norm ? "layer_norm" : "rms_norm"; }
std::string_view word(MlpKind kind) { return kind == MlpKind::gelu ? "gelu" : "swiglu"; }
std::string_view word(GeluForm form) { return form == GeluForm::erf ? "erf" : "tanh"; }
std::string_view word(PositionKind kind) {
  constexpr std::string_view words[] = {"none", "learned", "rotary"};
  return words[static_cast<std::size_t>(kind)];
}
std::string_view word(RotaryForm form) { return form == RotaryForm::halves ? "halves" : "interleaved"; }
std::string_view word(SequenceParallel sp) {
  constexpr std::string_view words[] = {"off", "kept", "regathered"};
  return words[static_cast<std::size_t>(sp)];
}
std::string_view word(Recompute recompute) {
  constexpr std::string_view words[] = {"none", "selective", "full"};
  return words[static_cast<std::size_t>(recompute)];
}
std::string_view word(Action action) { return action == Action::forward ? "forward" : "backward"; }
std::string_view word(MeshProblem::View view) {
  constexpr std::string_view words[] = {"whole", "sub", "flatten", "unflatten"};
  return words[static_cast<std::size_t>(view)];
}

// JSON has no infinity.
Json number(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json json_of(const LossDefinition& loss) {
  const bool all = loss.smoothing_over == SmoothingOver::all_classes;
  const bool valid = loss.mean_over == LossMean::valid_tokens;
  return {{"label_smoothing", loss.label_smoothing},
          {"smoothing_over", all ? "all_classes" : "other_classes"},
          {"z_loss", loss.z_loss},
          {"mean_over", valid ? "valid_tokens" : "all_tokens"},
          {"ignore_index", loss.ignore_index}};
}

Json json_of(const std::optional<RotaryScaling>& scaling) {
  if (!scaling) return nullptr;
  return {{"factor", scaling->factor},
          {"low_frequency_factor", scaling->low_frequency_factor},
          {"high_frequency_factor", scaling->high_frequency_factor},
          {"original_positions", scaling->original_positions}};
}

Json json_of(const ModelConfig& m) {
  return {{"layers", m.layers},
          {"hidden", m.hidden},
          {"heads", m.heads},
          {"kv_heads", m.kv_heads},
          {"head_dim", m.head_dim},
          {"ffn", m.ffn},
          {"vocab", m.vocab},
          {"positions", m.positions},
          {"norm", word(m.norm)},
          {"norm_eps", m.norm_eps},
          {"mlp", word(m.mlp)},
          {"gelu", word(m.gelu)},
          {"position", word(m.position)},
          {"rotary", word(m.rotary)},
          {"rotary_theta", m.rotary_theta},
          {"rotary_scaling", json_of(m.rotary_scaling)},
          {"causal", m.causal},
          {"attention_scale", attention_scale(m)},
          {"qkv_bias", m.qkv_bias},
          {"out_bias", m.out_bias},
          {"mlp_bias", m.mlp_bias},
          {"tied_head", m.tied_head},
          {"loss", json_of(m.loss)},
          {"dropout",
           {{"embedding", m.dropout.embedding},
            {"attention", m.dropout.attention},
            {"hidden", m.dropout.hidden}}}};
}

Json json_of(const Sharding& s) {
  return {{"sequence_parallel", word(s.sequence_parallel)},
          {"fused", s.fused},
          {"own_entries", s.own_entries},
          {"mlp_order", s.mlp_order == MlpOrder::row_first ? "row_first" : "column_first"},
          {"gather_output", s.gather_output},
          {"input_is_split", s.input_is_split},
          {"recompute", word(s.recompute)},
          {"padded_vocab", s.padded_vocab},
          {"overlap_chunks", s.overlap_chunks}};
}

Json json_of(const MeshSpec& mesh) { return {{"shape", mesh.shape}, {"axes", mesh.axes}}; }

Json json_of(const CollectiveProblem& c) {
  return {{"kind", name(c.kind)},   {"op", name(c.op)},     {"count", c.count},    {"root", c.root},
          {"in_place", c.in_place}, {"repeats", c.repeats}, {"members", c.members}};
}

Json json_of(const MeshProblem& m) {
  return {{"view", word(m.view)}, {"mesh", json_of(m.mesh)}, {"axes", m.axes}, {"into", json_of(m.into)}};
}

Json json_of(const TrainProblem& t) {
  return {{"optimizer", t.optimizer == TrainProblem::Optimizer::sgd ? "sgd" : "adamw"},
          {"lr", t.lr},
          {"momentum", t.momentum},
          {"beta1", t.beta1},
          {"beta2", t.beta2},
          {"eps", t.eps},
          {"weight_decay", t.weight_decay},
          {"max_norm", t.max_norm},
          {"norm", number(t.norm)},
          {"reports", t.reports}};
}

Json json_of(const Randomness& r) {
  return {{"profile", r.profile},
          {"training", r.training},
          {"seed_by_data_parallel_rank", r.seed_by_data_parallel_rank}};
}

// What the operation reads, and nothing else.
void add_problem(Json& json, const Problem& problem) {
  json["kind"] = word(problem.kind);
  if (problem.kind == Problem::Kind::collective) json["collective"] = json_of(problem.collective);
  if (problem.kind == Problem::Kind::mesh) json["mesh_view"] = json_of(problem.mesh);
  json["dtype"] = name(problem.dtype);
  json["seed"] = problem.seed;
  if (problem.kind != Problem::Kind::operation) return;
  json["operation"] = name(problem.operation);
  json["batch"] = problem.batch;
  json["sequence"] = problem.sequence;
  json["model"] = json_of(problem.model);
  json["random"] = json_of(problem.random);
  if (problem.operation == Operation::init)
    json["init"] = {{"inverse_root_fan_in", problem.init.inverse_root_fan_in}, {"std", problem.init.std}};
  if (problem.operation == Operation::train) json["train"] = json_of(problem.train);
}

}  // namespace

std::string to_json(const Request& request, const RequestEnvelope& envelope) {
  Json json = {{"request", "run"}, {"id", envelope.id}};
  json["mesh"] = json_of(request.mesh);
  json["mesh"]["ranks"] = envelope.ranks;
  json["rank"] = envelope.rank < 0 ? Json(nullptr) : Json(envelope.rank);
  add_problem(json, request.problem);
  json["sharding"] = json_of(request.sharding);
  for (const Action action : request.script) json["script"].push_back(word(action));
  if (request.timing.samples > 0)
    json["timing"] = {{"warm_up", request.timing.warm_up}, {"samples", request.timing.samples}};
  json["inputs"] = envelope.inputs;
  json["answer"] = envelope.answer;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tpc
