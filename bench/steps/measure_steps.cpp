// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/measure_steps.hpp"

#include <algorithm>
#include <deque>

#include "bench/measure/texts.hpp"
#include "bench/steps/dry_step.hpp"
#include "bench/steps/replay.hpp"

namespace tpc::bench {

namespace {

Row base_row(const StepSetting& setting, const GroupFacts& facts, int tp) {
  Row row;
  row.pass = name(setting.pass);
  row.dtype = tpc::name(setting.shape.dtype);
  row.implementation = setting.implementation;
  row.transport = facts.transport;
  row.hosts = facts.hosts;
  row.oversubscribed = facts.oversubscribed;
  row.tp = tp;
  row.layers = setting.shape.model.layers;
  row.batch = setting.shape.batch;
  row.sequence = setting.shape.sequence;
  row.hidden = setting.shape.model.hidden;
  return row;
}

// A row in the making, and how its figures come about once it was timed.
struct Planned {
  Row row;
  Subject subject;
  Station* station = nullptr;
};

double mean_over(Communicator& ranks, double own) {
  const Tensor sum = host_tensor(DType::f64, {1});
  *sum.data<double>() = own;
  ranks.all_reduce(sum, sum, ReduceOp::sum);
  return *sum.data<double>() / ranks.size();
}

double median_part(const std::vector<Split>& splits, std::size_t last,
                   const std::function<double(const Split&)>& part) {
  std::vector<double> values;
  for (std::size_t i = splits.size() - std::min(last, splits.size()); i < splits.size(); ++i)
    values.push_back(part(splits[i]));
  return median(values);
}

void add_split(Communicator& ranks, const Station& station, const Series& series, Row& row) {
  const std::size_t calls = series.slowest.size() * static_cast<std::size_t>(series.calls);
  const auto part = [&](const std::function<double(const Split&)>& of) {
    return mean_over(ranks, median_part(station.splits(), calls, of));
  };
  row.figures["products_s"] = part([](const Split& s) { return s.products_s; });
  row.figures["other_compute_s"] = part([](const Split& s) { return s.other_s; });
  row.figures["exposed_communication_s"] = part([](const Split& s) { return s.communication_s; });
  row.figures["launch_s"] = part([](const Split& s) { return s.launch_s(); });
  // What a rank needs without waiting for others: the straggler has the largest.
  const double own =
      median_part(station.splits(), calls, [](const Split& s) { return s.total_s - s.communication_s; });
  const auto all = all_texts(ranks, fmt::format("{}", own));
  for (std::size_t r = 0; r < all.size(); ++r)
    row.figures[fmt::format("own_s_rank{}", r)] = std::stod(all[r]);
}

void add_volume(const StepSetting& setting, const Station& station, Row& row) {
  StackShape shape = setting.shape;
  shape.form = form_named(row.sequence_parallel);
  const ExpectedVolume expected = expected_volume(shape, setting.pass, row.tp);
  const std::vector<TraceRow> calls = station.calls();
  double payload = 0;
  double wire = 0;
  for (const TraceRow& call : calls) {
    payload += static_cast<double>(call.payload);
    wire += call.ring_wire;
  }
  row.figures["collectives"] = static_cast<double>(calls.size());
  row.figures["payload_counted_bytes"] = payload;
  row.figures["payload_formula_bytes"] = expected.payload_bytes;
  row.figures["ring_wire_bytes"] = wire;
  row.figures["kept_for_backward_bytes"] = static_cast<double>(station.saved_bytes());
  if (payload == expected.payload_bytes && static_cast<std::int64_t>(calls.size()) == expected.calls) return;
  row.status = "fail";
  row.reason = fmt::format("{} collectives of {} B were counted, the formula says {} of {} B", calls.size(),
                           payload, expected.calls, expected.payload_bytes);
}

void add_kernels(const Station& station, Row& row) {
  double flops = 0;
  double launches = 0;
  for (const auto& [shape, use] : station.kernels().products) {
    flops += shape.flops() * static_cast<double>(use.calls);
    launches += static_cast<double>(use.calls);
  }
  for (const auto& [kernel, use] : station.kernels().others) {
    launches += static_cast<double>(use.calls);
    const auto seconds = station.kernel_seconds().find(kernel);
    if (seconds != station.kernel_seconds().end())
      row.figures["s_per_byte_" + kernel] = median(seconds->second);
  }
  row.figures["flops"] = flops;
  row.figures["kernels"] = launches;
}

// Two stations per form: one as it is, one in silence.
class Stations {
 public:
  Stations(const StepSetting& setting, const CommunicatorPtr& ranks, Compute& compute,
           const GroupFacts& facts)
      : setting_(setting), ranks_(ranks), compute_(compute), facts_(facts) {}

  std::vector<Planned> plan() {
    std::vector<Planned> planned;
    for (const Form& form : forms()) {
      StackShape shape = setting_.shape;
      shape.form = form;
      const auto add = [&](const char* kind, Subject subject, Station* station) {
        Row row = base_row(setting_, facts_, ranks_->size());
        row.kind = kind;
        row.op = "transformer_layers";
        row.sequence_parallel = name(form);
        planned.push_back({std::move(row), std::move(subject), station});
      };
      Station& real = station(shape, false);
      add("step", real.subject("step"), &real);
      if (ranks_->size() == 1) continue;
      Station& silent = station(shape, true);
      add("compute_only", silent.subject("compute_only"), nullptr);
      const StepContent content = dry_step(shape, setting_.pass, ranks_->size());
      add("communication_only", communication_subject(*ranks_, content.calls), nullptr);
    }
    return planned;
  }

 private:
  std::vector<Form> forms() const {
    if (ranks_->size() == 1) return {Form{}};
    return setting_.forms;
  }

  Station& station(const StackShape& shape, bool silent) {
    const Planted planted = planted_in(setting_.implementation);
    const CommunicatorPtr& ranks =
        shape.form.overlaps() && setting_.overlapping ? setting_.overlapping : ranks_;
    return stations_.emplace_back(shape, setting_.pass, ranks, compute_, planted, silent,
                                  silent ? nullptr : setting_.references);
  }

  const StepSetting& setting_;
  CommunicatorPtr ranks_;
  Compute& compute_;
  const GroupFacts& facts_;
  std::deque<Station> stations_;
};

std::map<Product, KernelUse> products_of(const StepSetting& setting, int ranks) {
  StackShape shape = setting.shape;
  shape.form = {};  // the products are the same with it
  return dry_step(shape, setting.pass, ranks).kernels.products;
}

Planned plan_products_together(const StepSetting& setting, Communicator& ranks, Compute& compute,
                               const GroupFacts& facts) {
  Row row = base_row(setting, facts, ranks.size());
  row.kind = "products_only";
  row.op = "transformer_layers";
  row.sequence_parallel = "off";
  return {std::move(row), products_subject(compute, products_of(setting, ranks.size()))};
}

std::vector<Planned> plan_each_product(const StepSetting& setting, Communicator& ranks, Compute& compute,
                                       const GroupFacts& facts) {
  std::vector<Planned> planned;
  for (const auto& [shape, use] : products_of(setting, ranks.size())) {
    Row row = base_row(setting, facts, ranks.size());
    row.kind = "gemm";
    row.op = to_string(shape);
    row.pass = "";
    row.layers = row.batch = row.sequence = row.hidden = 0;
    row.figures["flops"] = shape.flops();
    row.figures["calls_per_step"] = static_cast<double>(use.calls);
    planned.push_back({std::move(row), product_subject(compute, shape)});
  }
  return planned;
}

std::vector<Row> timed(std::vector<Planned> planned, const StepSetting& setting, Communicator& ranks) {
  std::vector<Subject> subjects;
  for (Planned& p : planned) subjects.push_back(p.subject);
  Plan plan = setting.plan;
  plan.seconds /= static_cast<double>(std::max<std::size_t>(1, planned.size()));
  std::vector<Series> series = measure(ranks, subjects, plan, setting.loop);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    Row& row = planned[i].row;
    if (const Station* station = planned[i].station) {
      add_split(ranks, *station, series[i], row);
      add_kernels(*station, row);
      add_volume(setting, *station, row);
    }
    row.series = std::move(series[i]);
    summarise(row);
    if (row.kind == "gemm") row.figures["gflop_per_s"] = row.figures["flops"] / row.seconds.median / 1e9;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::vector<Row> measure_steps(const StepSetting& setting, const CommunicatorPtr& ranks, Compute& compute,
                               const GroupFacts& facts) {
  Stations stations(setting, ranks, compute, facts);
  std::vector<Planned> planned = stations.plan();
  planned.push_back(plan_products_together(setting, *ranks, compute, facts));
  std::vector<Row> rows = timed(std::move(planned), setting, *ranks);
  StepSetting rest = setting;
  constexpr double share_of_products = 0.25;
  rest.plan.seconds *= share_of_products;
  for (Row& row : measure_products(rest, ranks, compute, facts)) rows.push_back(std::move(row));
  return rows;
}

std::vector<Row> measure_products(const StepSetting& setting, const CommunicatorPtr& ranks, Compute& compute,
                                  const GroupFacts& facts) {
  return timed(plan_each_product(setting, *ranks, compute, facts), setting, *ranks);
}

}  // namespace tpc::bench
