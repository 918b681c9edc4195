// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/outside_step.hpp"

#include <algorithm>
#include <cmath>

#include "bench/measure/texts.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"

namespace tpc::bench {

namespace {

constexpr int rounds = 3;
constexpr int trial_samples = 3;
constexpr int most_samples = 60;  // of a round

Request layer_request(const StepSetting& setting, const Form& form, int members) {
  Request request;
  request.problem = problem_of(setting.shape, Operation::transformer_layer);
  request.problem.inputs = inputs_for(request.problem, InputRecipe::gaussian);
  request.sharding.sequence_parallel = form.sequence_parallel;
  request.mesh = {{members}, {"tp"}};
  if (setting.pass == Pass::forward) request.script = {Action::forward};
  return request;
}

Row row_of(const StepSetting& setting, const Form& form, int tp, const GroupFacts& facts) {
  Row row;
  row.kind = "outside_step";
  row.op = "transformer_layer";
  row.pass = name(setting.pass);
  row.dtype = tpc::name(setting.shape.dtype);
  row.sequence_parallel = name(form);
  row.transport = "its own";
  row.hosts = facts.hosts;
  row.oversubscribed = facts.oversubscribed;
  row.tp = tp;
  row.layers = 1;
  row.batch = setting.shape.batch;
  row.sequence = setting.shape.sequence;
  row.hidden = setting.shape.model.hidden;
  return row;
}

// What keeps an answer from being timed: nothing, or a status with its reason.
struct Obstacle {
  std::string status;
  std::string reason;
};

Obstacle obstacle_in(const Response& response, int samples) {
  switch (response.status) {
    case Response::Status::refused:
    case Response::Status::unsupported:
      return {"skip", response.reason};
    case Response::Status::error:
      return {"fail", response.reason};
    case Response::Status::result:
      break;
  }
  if (response.seconds.empty()) return {"skip", "it answers without times"};
  if (static_cast<int>(response.seconds.size()) != samples)
    return {"fail",
            fmt::format("it was asked for {} samples and answers {}", samples, response.seconds.size())};
  const bool times = std::all_of(response.seconds.begin(), response.seconds.end(),
                                 [](double s) { return std::isfinite(s) && s > 0; });
  return times ? Obstacle{} : Obstacle{"fail", "a time that it answers is none"};
}

// The first obstacle that any member met, on all ranks of the world.
Obstacle agreed(Communicator& world, const Obstacle& own) {
  const auto all = all_texts(world, own.status.empty() ? "" : own.status + " " + own.reason);
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (!all[rank].empty())
      return {all[rank].substr(0, 4), fmt::format("rank {}: {}", rank, all[rank].substr(5))};
  return {};
}

void append_round(Communicator& ranks, const std::vector<double>& own, Series& series) {
  const auto count = static_cast<std::int64_t>(own.size());
  const Tensor mine = host_tensor(DType::f64, {1, count});
  const Tensor all = host_tensor(DType::f64, {ranks.size(), count});
  std::copy(own.begin(), own.end(), mine.data<double>());
  ranks.all_gather(all, mine);
  series.by_rank.resize(static_cast<std::size_t>(ranks.size()));
  for (std::int64_t i = 0; i < count; ++i) {
    double slowest = 0;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      const double seconds = all.data<double>()[rank * count + i];
      series.by_rank[static_cast<std::size_t>(rank)].push_back(seconds);
      slowest = std::max(slowest, seconds);
    }
    series.slowest.push_back(slowest);
  }
  series.rounds.push_back(static_cast<int>(count));
}

// In the words of the suite; what the implementation calls a layer's weight is a part of it.
std::vector<PlacedTensor> placed(const std::vector<LocalTensor>& tensors) {
  std::vector<PlacedTensor> all;
  for (const LocalTensor& tensor : tensors) all.push_back({tensor.name, tensor.data, tensor.placement});
  std::sort(all.begin(), all.end(),
            [](const PlacedTensor& a, const PlacedTensor& b) { return a.name < b.name; });
  return all;
}

bool lies_within(const Shape& offset, const Shape& extent, const Shape& whole) {
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (offset[d] < 0 || extent[d] < 0 || offset[d] + extent[d] > whole[d]) return false;
  return true;
}

// What keeps a rank's tensors from being summed up.
std::string unusable(const std::vector<PlacedTensor>& tensors, DType dtype) {
  for (const PlacedTensor& tensor : tensors) {
    if (tensor.local.dtype() != dtype)
      return fmt::format("{} is {}, not {}", tensor.name, tpc::name(tensor.local.dtype()), tpc::name(dtype));
    if (!tensor.placement.partial_over.empty()) return tensor.name + " is still a pending sum";
    for (const Block& block : tensor.placement.blocks)
      if (!lies_within(block.local_offset, block.extent, tensor.local.shape()) ||
          !lies_within(block.global_offset, block.extent, tensor.placement.global_shape))
        return tensor.name + " has a block outside of it";
  }
  return "";
}

std::string names_of(const std::vector<PlacedTensor>& tensors) {
  std::string names;
  for (const PlacedTensor& tensor : tensors)
    names += fmt::format("{} {}\n", tensor.name, tpc::to_string(tensor.placement.global_shape));
  return names;
}

// Alike on all ranks, so that none waits for another in a sum.
std::string first_defect(Communicator& ranks, const std::vector<PlacedTensor>& tensors, DType dtype) {
  const auto defects = all_texts(ranks, unusable(tensors, dtype));
  const auto names = all_texts(ranks, names_of(tensors));
  for (std::size_t rank = 0; rank < defects.size(); ++rank) {
    if (!defects[rank].empty()) return fmt::format("rank {}: {}", rank, defects[rank]);
    if (names[rank] != names[0]) return fmt::format("ranks 0 and {} answer different tensors", rank);
  }
  return "";
}

std::string missing_in(const Signatures& got, const Signatures& wanted) {
  for (const auto& [name, signature] : wanted)
    if (!got.contains(name)) return fmt::format("{} is missing from its answer", name);
  return "";
}

int samples_of_round(const StepSetting& setting, double one) {
  if (setting.plan.samples > 0) return std::max(1, setting.plan.samples / rounds);
  const double each = setting.plan.seconds / rounds;
  return std::clamp(static_cast<int>(each / one), trial_samples, most_samples);
}

}  // namespace

std::vector<Row> OutsideSteps::measure(const StepSetting& setting, const CommunicatorPtr& ranks, int members,
                                       const GroupFacts& facts) {
  std::vector<Form> forms = {Form{}};
  if (members > 1) {
    forms = setting.forms;
    std::erase_if(forms, [](const Form& form) { return form.overlaps(); });
  }
  StepSetting each = setting;
  each.plan.seconds /= static_cast<double>(std::max<std::size_t>(1, forms.size()));
  std::vector<Row> rows;
  for (const Form& form : forms) {
    Row row = measured(each, form, ranks, members, facts);
    if (ranks) rows.push_back(std::move(row));
  }
  return rows;
}

Response OutsideSteps::ask(const Request& request, const CommunicatorPtr& ranks, int members) {
  implementation_.make_ready();
  Response response =
      ranks ? implementation_.run(request, ranks) : implementation_.stand_by(request, members);
  rest_();
  return response;
}

Row OutsideSteps::measured(const StepSetting& setting, const Form& form, const CommunicatorPtr& ranks,
                           int members, const GroupFacts& facts) {
  Request request = layer_request(setting, form, members);
  Row row = row_of(setting, form, members, facts);
  const auto fails = [&](const Obstacle& own) {
    const Obstacle obstacle = agreed(world_, own);
    row.status = obstacle.status.empty() ? row.status : obstacle.status;
    row.reason = obstacle.reason;
    return !obstacle.status.empty();
  };
  if (setting.shape.model.layers != 1 || setting.pass == Pass::backward) {
    fails({"skip", "an outside implementation is timed on one layer, forward or the whole step"});
    return row;
  }
  request.timing = {.warm_up = 2, .samples = trial_samples};
  Response response = ask(request, ranks, members);
  const auto obstacle = [&] { return ranks ? obstacle_in(response, request.timing.samples) : Obstacle{}; };
  if (fails(obstacle())) return row;
  const double one = largest(world_, ranks ? median(response.seconds) : 0);
  request.timing.samples = samples_of_round(setting, one);
  for (int round = 0; round < rounds; ++round) {
    response = ask(request, ranks, members);
    if (fails(obstacle())) return row;
    if (ranks) append_round(*ranks, response.seconds, row.series);
  }
  row.implementation = implementation_.identity().substr(0, implementation_.identity().find(' '));
  const Signatures& wanted = reference(request.problem);
  if (!ranks) return row;
  row.series.wrong = wanted.empty() ? "" : judge(setting, request.problem, response, *ranks);
  summarise(row);
  double payload = 0;
  for (const TraceRow& call : response.trace) payload += static_cast<double>(call.payload);
  if (response.reports_calls) row.figures["payload_counted_bytes"] = payload;
  return row;
}

std::string OutsideSteps::judge(const StepSetting& setting, const Problem& problem, const Response& response,
                                Communicator& ranks) {
  const std::vector<PlacedTensor> tensors = placed(response.tensors);
  const std::string defect = first_defect(ranks, tensors, setting.shape.dtype);
  if (!defect.empty()) return defect;
  const Signatures got = signatures_of(ranks, tensors);
  Signatures wanted = reference(problem);
  if (setting.pass == Pass::forward) std::erase_if(wanted, [](const auto& s) { return s.first != "y"; });
  const std::string missing = missing_in(got, wanted);
  return missing.empty() ? difference(got, wanted, signature_tolerance(setting.shape)) : missing;
}

const Signatures& OutsideSteps::reference(const Problem& problem) {
  if (!reference_.empty()) return reference_;
  if (world_.rank() == 0) reference_ = baseline_signatures(problem);
  rest_();
  share(world_, reference_, 0);
  return reference_;
}

}  // namespace tpc::bench
