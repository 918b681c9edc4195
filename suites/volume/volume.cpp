// SPDX-License-Identifier: Apache-2.0
// Claim: a block sends four all_reduces of S·B·H per step, whatever the degree; with sequence parallelism as
// many bytes on the wire in eight calls, two more where the input is gathered again; and nothing else sends
// but what the profile names. Judged call by call against the trace, and against the transport's own counter.
#include <algorithm>

#include "suites/layer_cases.hpp"
#include "suites/suites.hpp"
#include "suites/volume/profiles.hpp"

namespace tpc {

namespace {

bool sends_something_of_its_own(const Variant& v) {
  static const std::vector<std::string> further = {
      "gathered", "whole_input", "unfused",        "gqa4",         "gqa2",        "mqa",
      "untied",   "smoothed",    "smoothed_other", "no_positions", "own_entries", "row_first"};
  return v.suffix.empty() || v.sharding.overlap_chunks > 1 ||
         std::find(further.begin(), further.end(), v.suffix) != further.end();
}

std::vector<Variant> judged_variants() {
  std::vector<Variant> judged;
  for (const auto& variants : {plain_variants(), further_variants(), overlap_variants(), loss_variants()})
    for (Variant v : variants) {
      if (!sends_something_of_its_own(v)) continue;
      v.tiers = {Tier::f64};
      v.tp.erase(std::remove(v.tp.begin(), v.tp.end(), 1), v.tp.end());
      judged.push_back(std::move(v));
    }
  return judged;
}

}  // namespace

Suite volume_suite(const SuiteOptions& options) {
  Suite suite{"volume", {}, {}};
  const std::vector<SequenceParallel> modes = {SequenceParallel::off, SequenceParallel::kept,
                                               SequenceParallel::regathered};
  suite.cases = layer_cases(suite.name, judged_variants(), modes, options);
  for (Case& c : suite.cases) {
    c.profile = profile_name(c.request.sharding);
    c.account = Account{c.profile, volume_profile(c.request), {}, {}};
    c.statement = fmt::format(
        "{} on {} ranks sends exactly the {} calls of profile {}, in order, and computes what one "
        "device computes",
        name(c.request.problem.operation()), c.request.mesh.ranks(), c.account->calls.size(), c.profile);
  }
  return suite;
}

}  // namespace tpc
