// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/misreadings/misread_weights.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/explain/configuration/relevance.hpp"
#include "harness/judge/inputs/inputs.hpp"

namespace tpc {

namespace {

using baseline::Dense;
using baseline::Inputs;
using Order = std::vector<std::int64_t>;  // what stands at each place instead

Dense& dense(Dense& input) { return input; }
Dense& dense(baseline::Answer& answer) { return answer.value; }

// Whether a name such as "grad.blocks.0.attention.k.weight" has a part.
std::size_t part_at(const std::string& name, const std::string& part) {
  return ("." + name).find("." + part + ".");
}
bool has_part(const std::string& name, const std::string& part) {
  return part_at(name, part) != std::string::npos;
}

template <class Tensors>
void exchange(Tensors& tensors, const std::string& one, const std::string& other) {
  for (auto& [name, tensor] : tensors) {
    if (!has_part(name, one)) continue;
    std::string partner = name;
    partner.replace(part_at(name, one), one.size(), other);
    const auto found = tensors.find(partner);
    if (found != tensors.end()) std::swap(tensor, found->second);
  }
}

bool are_of_one_shape(const Problem& problem, const std::string& one, const std::string& other) {
  for (const InputSpec& input : problem.inputs) {
    if (!has_part(input.name, one)) continue;
    std::string partner = input.name;
    partner.replace(part_at(input.name, one), one.size(), other);
    return has_input(problem, partner) && input_named(problem, partner).shape == input.shape;
  }
  return false;
}

Order inverse(const Order& order) {
  Order back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return back;
}

// Along a dim, in units of `width` entries.
void reorder(Dense& tensor, std::size_t dim, std::int64_t width, const Order& order) {
  std::int64_t inner = width;
  for (std::size_t d = dim + 1; d < tensor.shape.size(); ++d) inner *= tensor.shape[d];
  const auto units = static_cast<std::int64_t>(order.size());
  const std::vector<double> before = tensor.values;
  const auto outer = static_cast<std::int64_t>(before.size()) / (inner * units);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t u = 0; u < units; ++u)
      std::copy_n(before.begin() + (o * units + order[static_cast<std::size_t>(u)]) * inner, inner,
                  tensor.values.begin() + (o * units + u) * inner);
}

// Query heads come with the rows of q and the columns of out.
template <class Tensors>
void reorder_query_heads(Tensors& tensors, std::int64_t head_dim, const Order& order) {
  for (auto& [name, tensor] : tensors) {
    if (has_part(name, "q")) reorder(dense(tensor), 0, head_dim, order);
    if (has_part(name, "out") && name.ends_with("weight")) reorder(dense(tensor), 1, head_dim, order);
  }
}

// Heads of a rank that read its kv heads in turn: the order in which neighbours would read the same.
Order read_in_turn(std::int64_t heads, std::int64_t kv_heads, std::int64_t ranks) {
  const std::int64_t parts = kv_heads % ranks == 0 ? ranks : 1;
  const std::int64_t own = heads / parts;
  const std::int64_t own_kv = kv_heads / parts;
  Order order(static_cast<std::size_t>(heads));
  for (std::int64_t head = 0; head < heads; ++head) {
    const std::int64_t local = head % own;
    const std::int64_t place = head - local + local % own_kv * (own / own_kv) + local / own_kv;
    order[static_cast<std::size_t>(place)] = head;
  }
  return order;
}

void add_heads(const Request& request, std::vector<Misreading>& all) {
  const ModelConfig& model = request.problem.model;
  if (model.kv_heads == model.heads || model.kv_heads == 1) return;
  const Order order = read_in_turn(model.heads, model.kv_heads, request.mesh.ranks());
  const std::int64_t d = model.head_dim;
  all.push_back({"kv_heads", "kv heads read in turn where each belongs to neighbouring heads",
                 [](ModelConfig&) {}, [order, d](Inputs& inputs) { reorder_query_heads(inputs, d, order); },
                 [back = inverse(order), d](Answers& answers) { reorder_query_heads(answers, d, back); }});
}

Order rows_of_next_shard(std::int64_t rows, std::int64_t by) {
  Order order(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) order[static_cast<std::size_t>(i)] = (i + by) % rows;
  return order;
}

void add_tables(const Request& request, std::vector<Misreading>& all) {
  const Problem& problem = request.problem;
  const std::int64_t ranks = request.mesh.ranks();
  const std::int64_t rows = problem.model.vocab;
  if (!problem.asks(Operation::vocab_embedding) || rows % ranks != 0 || ranks == 1) return;
  for (const std::int64_t by : {rows / ranks, rows - rows / ranks}) {
    const Order order = rows_of_next_shard(rows, by);
    all.push_back({"rows",
                   fmt::format("rows of the table read one shard ({} ids) {} what the id says", rows / ranks,
                               by == rows / ranks ? "behind" : "before"),
                   [](ModelConfig&) {},
                   [order](Inputs& inputs) { reorder(inputs.at("weight"), 0, 1, order); },
                   [back = inverse(order)](Answers& answers) {
                     const auto gradient = answers.find("grad.weight");
                     if (gradient != answers.end()) reorder(gradient->second.value, 0, 1, back);
                   }});
    if (ranks == 2) break;  // before is behind
  }
}

// Each rank counts its own tokens from 0 on.
void add_positions(const Request& request, std::vector<Misreading>& all) {
  const Problem& problem = request.problem;
  const std::int64_t own = problem.sequence / request.mesh.ranks();
  const bool cut = request.sharding.sequence_parallel != SequenceParallel::off && request.mesh.ranks() > 1;
  if (!cut || problem.model.position != PositionKind::learned || own < 1) return;
  const auto rows_of = [](Dense& table, auto use) {
    const std::int64_t width = table.shape[1];
    use(table.values.data(), width);
  };
  const std::int64_t all_of_them = problem.sequence;
  all.push_back({"positions", "positions that begin at 0 on every rank's part of the sequence",
                 [](ModelConfig&) {},
                 [=](Inputs& inputs) {
                   for (auto& [name, tensor] : inputs)
                     if (has_part(name, "positions"))
                       rows_of(tensor, [&](double* rows, std::int64_t width) {
                         for (std::int64_t s = own; s < all_of_them; ++s)
                           std::copy_n(rows + s % own * width, width, rows + s * width);
                       });
                 },
                 [=](Answers& answers) {
                   for (auto& [name, answer] : answers)
                     if (has_part(name, "positions"))
                       rows_of(answer.value, [&](double* rows, std::int64_t width) {
                         for (std::int64_t s = own; s < all_of_them; ++s)
                           for (std::int64_t i = 0; i < width; ++i) {
                             rows[s % own * width + i] += rows[s * width + i];
                             rows[s * width + i] = 0;
                           }
                       });
                 }});
}

// Rank r takes block r of the memory where columns of it are due: [outputs, inputs] read as [ranks, outputs,
// inputs/ranks].
void read_blocks_as_columns(Dense& weight, std::int64_t ranks) {
  const std::int64_t outputs = weight.shape[0];
  const std::int64_t each = weight.shape[1] / ranks;
  const std::vector<double> memory = weight.values;
  for (std::int64_t r = 0; r < ranks; ++r)
    for (std::int64_t o = 0; o < outputs; ++o)
      std::copy_n(memory.begin() + (r * outputs + o) * each, each,
                  weight.values.begin() + (o * ranks + r) * each);
}

Order dealt_in_turn(std::int64_t entries, std::int64_t ranks) {
  Order order(static_cast<std::size_t>(entries));
  for (std::int64_t i = 0; i < entries; ++i)
    order[static_cast<std::size_t>(i)] = i % (entries / ranks) * ranks + i / (entries / ranks);
  return order;
}

void add_row_weights(const Request& request, std::vector<Misreading>& all) {
  const std::int64_t ranks = request.mesh.ranks();
  for (const InputSpec& input : request.problem.inputs) {
    const bool row = (request.problem.asks(Operation::row_linear) && input.name == "weight") ||
                     has_part(input.name, "fc2") || has_part(input.name, "down") ||
                     has_part(input.name, "out");
    if (!row || input.shape.size() != 2 || ranks == 1 || input.shape[1] % ranks != 0) continue;
    const std::string name = input.name;
    all.push_back(
        {"columns", fmt::format("a part of {} that is a block of its memory, not columns of it", name),
         [](ModelConfig&) {}, [=](Inputs& inputs) { read_blocks_as_columns(inputs.at(name), ranks); }});
    const Order order = dealt_in_turn(input.shape[1], ranks);
    all.push_back(
        {"columns",
         fmt::format("columns of {} that are dealt to the ranks in turn, where neighbours belong together",
                     name),
         [](ModelConfig&) {}, [=](Inputs& inputs) { reorder(inputs.at(name), 1, 1, order); },
         [=](Answers& answers) {
           const auto gradient = answers.find("grad." + name);
           if (gradient != answers.end()) reorder(gradient->second.value, 1, 1, inverse(order));
         }});
  }
}

// One table, of which one of its two users' gradients is lost.
void add_ties(const Problem& problem, std::vector<Misreading>& all) {
  if (!problem.asks(Operation::model) || !problem.model.tied_head) return;
  const auto untie = [](ModelConfig& model) { model.tied_head = false; };
  const auto copy = [](Inputs& inputs) { inputs["head.weight"] = inputs.at("embedding.weight"); };
  all.push_back({"tie",
                 "a tied head whose gradient does not reach the table that it shares with the embedding",
                 untie, copy, [](Answers& answers) { answers.erase("grad.head.weight"); }});
  all.push_back({"tie", "a tied table that has the head's gradient alone, not the embedding's", untie, copy,
                 [](Answers& answers) {
                   const auto head = answers.find("grad.head.weight");
                   if (head == answers.end()) return;
                   answers["grad.embedding.weight"] = head->second;
                   answers.erase(head);
                 }});
}

}  // namespace

std::vector<Misreading> misread_weights(const Request& request) {
  std::vector<Misreading> all;
  Configuration c;
  c.problem = request.problem;
  for (const auto& [one, other] : std::vector<std::pair<std::string, std::string>>{
           {"q", "k"}, {"k", "v"}, {"q", "v"}, {"gate", "up"}, {"norm1", "norm2"}}) {
    if (!are_of_one_shape(request.problem, one, other)) continue;
    all.push_back({fmt::format("{}_{}", one, other),
                   fmt::format("{0} taken for {1} and {1} for {0}", one, other), [](ModelConfig&) {},
                   [one = one, other = other](Inputs& inputs) { exchange(inputs, one, other); },
                   [one = one, other = other](Answers& answers) { exchange(answers, one, other); }});
  }
  if (relevance::has_attention(c)) add_heads(request, all);
  if (!request.problem.asks(Operation::model)) add_row_weights(request, all);
  add_ties(request.problem, all);
  if (relevance::has_embedding(c)) {
    add_tables(request, all);
    add_positions(request, all);
  }
  return all;
}

}  // namespace tpc
