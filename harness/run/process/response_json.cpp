// SPDX-License-Identifier: Apache-2.0
#include "harness/run/process/response_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/values/join.hpp"

namespace tpc {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_entries = 100'000;
constexpr std::size_t most_dims = 16;
constexpr std::size_t most_reason = 4096;
constexpr std::int64_t most_extent = std::int64_t{1} << 48U;

[[noreturn]] void malformed(const std::string& what) { throw MalformedAnswer(what); }

Json parsed(const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object())
    malformed(
        fmt::format("the answer is no JSON object: {}{}", line.substr(0, 80), line.size() > 80 ? "..." : ""));
  return json;
}

std::string text_at(const Json& json, const char* field) {
  if (!json.contains(field) || !json[field].is_string())
    malformed(fmt::format("the answer lacks the text '{}'", field));
  return json[field].get<std::string>();
}

std::string optional_text(const Json& json, const char* field) {
  return json.contains(field) ? text_at(json, field) : std::string();
}

std::int64_t whole(const Json& json, const std::string& what) {
  if (!json.is_number_integer() || json.get<std::int64_t>() < 0 || json.get<std::int64_t>() > most_extent)
    malformed(fmt::format("{} is no number from 0 to 2^48", what));
  return json.get<std::int64_t>();
}

std::int64_t whole_at(const Json& json, const char* field) {
  if (!json.contains(field)) malformed(fmt::format("the answer lacks the number '{}'", field));
  return whole(json[field], fmt::format("'{}'", field));
}

Shape shape_at(const Json& json, const char* field, const std::string& tensor) {
  if (!json.is_object() || !json.contains(field) || !json[field].is_array() || json[field].size() > most_dims)
    malformed(fmt::format("'{}' lacks the list '{}'", tensor, field));
  Shape shape;
  for (const Json& extent : json[field])
    shape.push_back(whole(extent, fmt::format("{} of '{}'", field, tensor)));
  return shape;
}

Placement placement_of(const Json& json, const std::string& tensor) {
  Placement placement;
  placement.global_shape = shape_at(json, "global_shape", tensor);
  if (!json.contains("blocks") || !json["blocks"].is_array() || json["blocks"].size() > most_entries)
    malformed(fmt::format("'{}' lacks the list 'blocks'", tensor));
  for (const Json& block : json["blocks"]) {
    const Block made{shape_at(block, "global_offset", tensor), shape_at(block, "extent", tensor),
                     shape_at(block, "local_offset", tensor)};
    const std::size_t dims = placement.global_shape.size();
    if (made.global_offset.size() != dims || made.extent.size() != dims || made.local_offset.size() != dims)
      malformed(fmt::format("a block of '{}' has not the {} dims of its global shape", tensor, dims));
    placement.blocks.push_back(made);
  }
  if (json.contains("partial_over")) {
    if (!json["partial_over"].is_array()) malformed(fmt::format("'partial_over' of '{}' is no list", tensor));
    for (const Json& axis : json["partial_over"])
      placement.partial_over.push_back(axis.is_string() ? axis.get<std::string>() : axis.dump());
  }
  if (json.contains("padding")) {
    const Json& padding = json["padding"];
    if (padding.is_null())
      placement.padding = std::nullopt;
    else if (padding.is_number())
      placement.padding = padding.get<double>();
    else
      malformed(fmt::format("'padding' of '{}' is neither a number nor null", tensor));
  }
  return placement;
}

// Layouts in short: all of it on every rank; equal parts of one dim in the order of the mesh's ranks.
Placement layout_of(const Json& json, const Shape& local, const MeshPlace& place, const std::string& tensor) {
  if (json == "replicate") return replicate(local);
  if (!json.is_object() || !json.contains("shard"))
    malformed(fmt::format("the layout of '{}' is neither \"replicate\", {{\"shard\": dim}} nor a placement",
                          tensor));
  const std::int64_t dim = whole(json["shard"], fmt::format("'shard' of '{}'", tensor));
  if (dim >= static_cast<std::int64_t>(local.size()))
    malformed(fmt::format("'{}' has {} dims and cannot be cut along dim {}", tensor, local.size(), dim));
  Shape global = local;
  global[static_cast<std::size_t>(dim)] *= place.ranks;
  return shard(global, static_cast<int>(dim), place.rank, place.ranks);
}

template <class Enum>
Enum kind_named(const std::string& text, std::initializer_list<Enum> kinds, const char* field) {
  std::vector<std::string> names;
  for (const Enum kind : kinds) {
    if (name(kind) == text) return kind;
    names.emplace_back(name(kind));
  }
  malformed(fmt::format("'{}' of a call is '{}'; known: {}", field, text, joined(names, ", ")));
}

TraceRow trace_row(const Json& json) {
  if (!json.is_object()) malformed("a row of 'trace' is no object");
  TraceRow row;
  row.kind =
      kind_named(text_at(json, "kind"),
                 {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                  CollectiveKind::all_to_all, CollectiveKind::broadcast, CollectiveKind::point_to_point},
                 "kind");
  row.op = json.contains("op")
               ? kind_named(text_at(json, "op"),
                            {ReduceOp::sum, ReduceOp::max, ReduceOp::min, ReduceOp::product}, "op")
               : ReduceOp::sum;
  row.axis = text_at(json, "axis");
  row.group_size = static_cast<int>(std::max<std::int64_t>(1, whole_at(json, "ranks")));
  row.layer = optional_text(json, "layer");
  row.operation = optional_text(json, "operation");
  row.phase = kind_named(text_at(json, "phase"),
                         {Phase::forward, Phase::backward, Phase::finalise, Phase::other}, "phase");
  row.count = whole_at(json, "count");
  const std::string dtype = text_at(json, "dtype");
  try {
    row.dtype = dtype_named(dtype);
  } catch (const UsageError&) {
    malformed(fmt::format("'dtype' of a call is '{}'", dtype));
  }
  // Of these the call passes a part of the full tensor.
  const bool of_a_part = row.kind == CollectiveKind::all_gather || row.kind == CollectiveKind::reduce_scatter;
  row.payload = row.count * static_cast<std::int64_t>(size_of(row.dtype)) * (of_a_part ? row.group_size : 1);
  row.ring_wire = ring_wire(row.kind, row.payload, row.group_size);
  return row;
}

Response::Status status_named(const std::string& text) {
  if (text == "result" || text == "idle") return Response::Status::result;
  if (text == "refused") return Response::Status::refused;
  if (text == "unsupported") return Response::Status::unsupported;
  if (text == "error") return Response::Status::error;
  malformed(fmt::format("the status is '{}'; known: result, refused, unsupported, error, idle", text));
}

LocalTensor tensor_of(const Json& json, const NamedTensors& file, const MeshPlace& place) {
  if (!json.is_object()) malformed("an entry of 'tensors' is no object");
  LocalTensor tensor;
  tensor.name = text_at(json, "name");
  const std::string key = json.contains("key") ? text_at(json, "key") : tensor.name;
  const auto found = file.find(key);
  if (found == file.end()) malformed(fmt::format("the file of answers has no '{}'", key));
  tensor.data = found->second;
  if (!json.contains("layout")) malformed(fmt::format("'{}' comes without a layout", tensor.name));
  const Json& layout = json["layout"];
  tensor.placement = layout.is_object() && layout.contains("global_shape")
                         ? placement_of(layout, tensor.name)
                         : layout_of(layout, tensor.data.shape(), place, tensor.name);
  if (tensor.placement.global_shape.size() != tensor.data.shape().size())
    malformed(fmt::format("'{}' has the shape {} and a placement of {} dims", tensor.name,
                          to_string(tensor.data.shape()), tensor.placement.global_shape.size()));
  return tensor;
}

const Json& list_at(const Json& json, const char* field) {
  if (!json[field].is_array() || json[field].size() > most_entries)
    malformed(fmt::format("'{}' is no list, or one of more than {} entries", field, most_entries));
  return json[field];
}

// What is kept for backward, in sum: a process has no allocator of ours to be held against.
void add_kept(const Json& kept, Response& response) {
  if (!kept.is_object()) malformed("'kept' is no object");
  for (const auto& [field, entry] :
       {std::pair{"activations", "activations"}, {"statistics", "statistics.all"}}) {
    const std::int64_t bytes = whole_at(kept, field);
    response.saved.push_back({entry, DType::u8, {bytes}, bytes, nullptr});
    response.saved_bytes += bytes;
  }
  response.live_bytes = response.saved_bytes;
}

}  // namespace

ChildIdentity identity_of(const std::string& line) {
  const Json json = parsed(line);
  const std::int64_t protocol = whole_at(json, "protocol");
  if (protocol != protocol_version)
    malformed(fmt::format("it speaks version {} of the protocol, this program version {}", protocol,
                          protocol_version));
  return {text_at(json, "name"), text_at(json, "version")};
}

ChildAnswer answer_of(const std::string& line, int id, const MeshPlace& place, const ReadTensors& read) {
  const Json json = parsed(line);
  if (whole_at(json, "id") != id)
    malformed(fmt::format("it answers request {}, and was asked {}", whole_at(json, "id"), id));
  const std::string status = text_at(json, "status");
  ChildAnswer answer;
  Response& response = answer.response;
  response.status = status_named(status);
  answer.idle = status == "idle";
  response.reason = optional_text(json, "reason").substr(0, most_reason);
  if (response.status != Response::Status::result) {
    if (response.reason.empty()) malformed(fmt::format("it answers '{}' without a reason", status));
    return answer;
  }
  response.reports_calls = json.contains("trace");
  if (response.reports_calls)
    for (const Json& row : list_at(json, "trace")) response.trace.push_back(trace_row(row));
  if (json.contains("seconds"))
    for (const Json& seconds : list_at(json, "seconds")) {
      if (!seconds.is_number()) malformed("an entry of 'seconds' is no number");
      response.seconds.push_back(seconds.get<double>());
    }
  response.reports_memory = json.contains("kept");
  if (response.reports_memory) add_kept(json["kept"], response);
  if (!json.contains("tensors")) return answer;
  const Json& tensors = list_at(json, "tensors");
  if (tensors.empty()) return answer;
  const NamedTensors file = read();
  for (const Json& tensor : tensors) response.tensors.push_back(tensor_of(tensor, file, place));
  return answer;
}

}  // namespace tpc
