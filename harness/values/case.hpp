// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/values/account.hpp"
#include "harness/values/request.hpp"
#include "reference/core/words.hpp"

namespace tpc {

// How sharply a case looks; the demands are derived in harness/judge/compare/compare.hpp.
enum class Tier { exact, f64, f32, bf16, statistics };
constexpr auto words(Tier) { return spelling("exact", "f64", "f32", "bf16", "statistics"); }

enum class Expectation {
  answers,  // the baseline's
  refusal   // a reason that contains all of Case::reason_words
};

// One checkable statement about a problem on a mesh, in a tier.
struct Case {
  std::string suite;  // "tensor_parallel"
  std::string name;   // "column_linear/tp4_f64_bias": letters, digits, _ / .  Unique in its suite
  Request request;
  Tier tier = Tier::f64;
  Expectation expectation = Expectation::answers;
  std::vector<std::string> reason_words;  // of a refusal: both numbers, or the name
  std::string statement;                  // for --explain: what holds, in one sentence
  std::string profile;                    // the named way of doing it, where there are several
  std::optional<Account> account;         // what may be sent and kept, where that is judged too
  int ranks = 0;                          // that get the request; 0: as many as the mesh has
};

inline std::string full_name(const Case& c) { return c.suite + "." + c.name; }

// A cell of the coverage table that has no case, and why none can exist. An empty text stands for any.
struct Impossible {
  std::string operation;
  std::string sequence_parallel;
  std::string tier;
  int tp = 0;  // 0: every T
  std::string reason;
};

}  // namespace tpc
