// SPDX-License-Identifier: Apache-2.0
#include "harness/dry_run.hpp"

#include <gtest/gtest.h>

#include "harness/account.hpp"
#include "reference/comm/local.hpp"
#include "suites/layer_cases.hpp"
#include "suites/memory/formulas.hpp"
#include "suites/volume/profiles.hpp"

namespace tpc {
namespace {

std::vector<Case> all_f64_cases() {
  SuiteOptions options;
  options.tiers = {Tier::f64};
  options.tiers_given = true;
  const std::vector<SequenceParallel> modes = {SequenceParallel::off, SequenceParallel::kept,
                                               SequenceParallel::regathered};
  std::vector<Case> cases;
  for (const auto& variants : {plain_variants(), further_variants(), loss_variants()})
    for (Case& c : layer_cases("test", variants, modes, options)) cases.push_back(std::move(c));
  return cases;
}

std::vector<Response> executed(const Request& request) {
  std::vector<Response> responses(static_cast<std::size_t>(request.mesh.ranks()));
  on_local_ranks(request.mesh.ranks(), [&](const CommunicatorPtr& ranks) {
    responses[static_cast<std::size_t>(ranks->rank())] = make_reference_implementation()->run(request, ranks);
  });
  return responses;
}

TEST(DryRun, SendsAndKeepsWhatTheExecutedRunDoes) {
  for (const Case& c : all_f64_cases()) {
    SCOPED_TRACE(c.name);
    const std::vector<Response> real = executed(c.request);
    for (int rank = 0; rank < c.request.mesh.ranks(); ++rank) {
      const Response& ran = real[static_cast<std::size_t>(rank)];
      ASSERT_EQ(ran.status, Response::Status::result) << ran.reason;
      const Response dry = dry_run(c.request, rank);
      EXPECT_EQ(dry.trace, ran.trace);
      EXPECT_EQ(dry.saved_bytes, ran.saved_bytes);
      EXPECT_EQ(dry.live_bytes, ran.live_bytes);
    }
  }
}

TEST(Profiles, AreWhatEveryRankSends) {
  for (const Case& c : all_f64_cases())
    for (int rank = 0; rank < c.request.mesh.ranks(); ++rank) {
      Account account{profile_name(c.request.sharding), volume_profile(c.request), {}, {}};
      if (c.request.problem.operation == Operation::transformer_layer) {
        account.activation_bytes = total(kept_activations(c.request));
        account.statistics_bytes = kept_statistics(c.request);
      }
      EXPECT_EQ(account_defect(account, dry_run(c.request, rank)), "") << c.name << " rank " << rank;
    }
}

}  // namespace
}  // namespace tpc
