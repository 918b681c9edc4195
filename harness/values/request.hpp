// SPDX-License-Identifier: Apache-2.0
// What an implementation under test is asked. Plain values throughout: the same for the reference and for an
// outside process, which reads them as JSON (request_json.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "harness/values/randomness.hpp"
#include "reference/comm/communicator.hpp"
#include "reference/core/definitions.hpp"
#include "reference/core/dtype.hpp"
#include "reference/core/words.hpp"
#include "reference/mesh/device_mesh.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc {

// How the elements of an input come about: a function of (generator, seed, name, global index).
struct Generator {
  enum class Kind {
    constant,  // a
    gaussian,  // a + b·g, g of core/philox.hpp
    integers,  // uniform on {a, ..., b} times 2^exponent
    sparse,  // share c of the elements: +1 (three of four) or -1, times 2^exponent, plus a; the rest 0 plus a
    norm_rows,    // rows of 2^20·{0, ±1, ±2} with zero sum and mean square 2^40 (layer and rms norm, exact
                  // tier)
    paired_rows,  // +a, -a on share c of the pairs of equal entries of the norm_rows row of the same index
                  // and equal gain (dy of a norm)
    attention_x,  // attention_*: hard attention with two tied keys per query, see
                  // harness/judge/inputs/exact_attention.hpp
    attention_q,
    attention_k,
    attention_v,
    tokens,         // ids below a by a hash, covering the rows that b shards begin and end with; see text.hpp
    targets,        // as tokens, with a share c of ignored ones
    text_tokens,    // the words of `text`, hashed into the vocabulary; a and b as in tokens
    text_targets,   // the next word; share c is ignored
    peaked_logits,  // 1024·{a, ..., b} with one larger entry per row
    contribution,   // probes; see harness/judge/inputs/probes.hpp
    provenance
  };
  Kind kind = Kind::constant;
  double a = 0;
  double b = 0;
  double c = 0;
  int exponent = 0;
  std::string text = {};  // path, for text_tokens and text_targets
  bool operator==(const Generator&) const = default;
};

struct InputSpec {
  std::string name;
  std::vector<std::int64_t> shape;
  Generator generator;
  bool operator==(const InputSpec&) const = default;
};

// One collective call for each rank of a group. Input "in" and output "out" are global tensors whose first
// dim is the rank in the group: rank r passes in[r] and returns out[r]. A point_to_point call sends in[r] to
// the next rank. Where the call is repeated it also returns "unequal" [group], by rank the elements of any
// repeat whose bits are not the first one's, and where all ranks get the same, "copies", of which all hold
// all.
struct CollectiveProblem {
  CollectiveKind kind = CollectiveKind::all_reduce;
  ReduceOp op = ReduceOp::sum;
  std::int64_t count =
      0;  // elements of the shard: of each rank's part where the call has parts, else of the tensor
  int root = 0;
  bool in_place = false;
  int repeats = 1;                // the last result is returned; all must agree
  std::vector<int> members = {};  // world ranks of the group; empty: all of the mesh
  bool operator==(const CollectiveProblem&) const = default;
};

// A mesh over all ranks, and what is seen of it. Answers by world rank: "coordinates" [ranks, axes of the
// view], "rank" [ranks] in the view, "members" [ranks, ranks of the view] and "group.AXIS" [ranks, size] for
// each axis of the view, both world ranks as its communicators know them; and "groups.AXIS" [groups, size],
// the same for all ranks: the groups of the view in its own ranks.
struct MeshProblem {
  enum class View { whole, sub, flatten, unflatten } view = View::whole;
  MeshSpec mesh = {};                  // also the request's
  std::vector<std::string> axes = {};  // that sub keeps or flatten joins; the one that unflatten cuts
  MeshSpec into = {};                  // what unflatten makes of the axis; the one axis that flatten makes
  bool operator==(const MeshProblem&) const = default;
};
constexpr auto words(MeshProblem::View) { return spelling("whole", "sub", "flatten", "unflatten"); }

// A question that has one answer, however it is sharded. No mesh, unless it is about the mesh.
struct Problem {
  // What is asked. An operation reads the model, sizes and randomness below; init and train also their own.
  std::variant<Operation, CollectiveProblem, MeshProblem> asked = Operation::column_linear;
  ModelConfig model;
  std::int64_t batch = 1;
  std::int64_t sequence = 1;
  Randomness random;
  InitProblem init;
  TrainProblem train;
  DType dtype = DType::f64;  // of storage, arithmetic and wire; inputs are rounded to it
  std::uint64_t seed = 0;
  std::vector<InputSpec> inputs;
  bool operator==(const Problem&) const = default;

  bool is_operation() const { return std::holds_alternative<Operation>(asked); }
  Operation operation() const { return std::get<Operation>(asked); }  // where it is one
  bool asks(Operation operation) const { return asked == decltype(asked)(operation); }
  // Null where something else is asked.
  const CollectiveProblem* collective() const { return std::get_if<CollectiveProblem>(&asked); }
  const MeshProblem* mesh() const { return std::get_if<MeshProblem>(&asked); }
};

// "forward", "backward", ... in order. `build` and `load` come first by themselves.
enum class Action { forward, backward };
constexpr auto words(Action) { return spelling("forward", "backward"); }

// The implementation times itself, by its own clock: each sample begins behind a barrier of its ranks.
// Without samples it does not.
struct Timing {
  int warm_up = 0;
  int samples = 0;
  bool operator==(const Timing&) const = default;
};

struct Request {
  Problem problem;
  Sharding sharding;
  MeshSpec mesh;
  std::vector<Action> script = {Action::forward, Action::backward};
  Timing timing = {};
  bool operator==(const Request&) const = default;
};

// Identifies the problem among all: equal problems have equal keys.
std::string key(const Problem& problem);

}  // namespace tpc
