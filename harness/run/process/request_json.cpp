// SPDX-License-Identifier: Apache-2.0
#include "harness/run/process/request_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/values/members.hpp"

namespace tpc {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity.
Json json_of(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

template <class T>
Json json_of(const std::optional<T>& value);

template <class T>
Json json_of(const T& value) {
  if constexpr (Composed<T>) {
    Json json = Json::object();
    visit_members(value, [&json](const char* key, const auto& member) { json[key] = json_of(member); });
    return json;
  } else if constexpr (Spelt<T>) {
    return name(value);
  } else {
    return value;
  }
}
template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

Json json_of_model(const ModelConfig& model) {
  Json json = json_of(model);
  json["attention_scale"] = attention_scale(model);
  return json;
}

Json json_of_training(const TrainProblem& train) {
  Json json = json_of(train);
  json.erase("token_losses");  // asked of the reference alone
  return json;
}

// What the operation reads, and nothing else.
void add_problem(Json& json, const Problem& problem) {
  constexpr auto kinds = spelling("operation", "collective", "mesh");
  json["kind"] = kinds.at(problem.asked.index());
  if (const auto* call = problem.collective()) json["collective"] = json_of(*call);
  if (const auto* mesh = problem.mesh()) json["mesh_view"] = json_of(*mesh);
  json["dtype"] = name(problem.dtype);
  json["seed"] = problem.seed;
  if (!problem.is_operation()) return;
  json["operation"] = name(problem.operation());
  json["batch"] = problem.batch;
  json["sequence"] = problem.sequence;
  json["model"] = json_of_model(problem.model);
  json["random"] = json_of(problem.random);
  if (problem.asks(Operation::init)) json["init"] = json_of(problem.init);
  if (problem.asks(Operation::train)) json["train"] = json_of_training(problem.train);
}

}  // namespace

std::string to_json(const Request& request, const RequestEnvelope& envelope) {
  Json json = {{"request", "run"}, {"id", envelope.id}};
  json["mesh"] = json_of(request.mesh);
  json["mesh"]["ranks"] = envelope.ranks;
  json["rank"] = envelope.rank < 0 ? Json(nullptr) : Json(envelope.rank);
  add_problem(json, request.problem);
  json["sharding"] = json_of(request.sharding);
  for (const Action action : request.script) json["script"].push_back(name(action));
  if (request.timing.samples > 0)
    json["timing"] = {{"warm_up", request.timing.warm_up}, {"samples", request.timing.samples}};
  json["inputs"] = envelope.inputs;
  json["answer"] = envelope.answer;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tpc
