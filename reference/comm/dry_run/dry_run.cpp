// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/dry_run/dry_run.hpp"

#include <algorithm>
#include <numeric>

#include "reference/comm/family.hpp"

namespace tpc {

namespace {

class DryRunCommunicator : public FamilyCommunicator {
 public:
  using FamilyCommunicator::FamilyCommunicator;

  std::string_view transport() const override { return "dry-run"; }

  CommunicatorPtr split(int colour, int /*key*/, const std::string& name) override {
    if (colour < 0) return subgroup({}, name);
    TPC_EXPECT(size() == 1, "a dry run of {} ranks cannot know who else joins '{}'; use subgroup", size(),
               name);
    return subgroup({0}, name);
  }

  CommunicatorPtr subgroup(const std::vector<int>& chosen, const std::string& name) override {
    record({.what = "split"});
    if (chosen.empty()) return nullptr;
    const auto self = std::find(chosen.begin(), chosen.end(), rank());
    TPC_EXPECT(self != chosen.end(), "rank {} asks for a subgroup '{}' that it is not in", rank(), name);
    std::vector<int> in_root;
    for (const int member : chosen) in_root.push_back(members().at(static_cast<std::size_t>(member)));
    return std::make_shared<DryRunCommunicator>(family(), name, std::move(in_root),
                                                static_cast<int>(self - chosen.begin()));
  }

  CommunicatorPtr renew(const std::string& name) override {
    record({.what = "renew"});
    std::vector<int> ranks(static_cast<std::size_t>(size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return std::make_shared<DryRunCommunicator>(std::make_shared<Family>(), name, std::move(ranks), rank());
  }

 protected:
  Pending transfer(const Call&, const DeviceStream&) override { return {}; }
};

}  // namespace

CommunicatorPtr make_dry_run_world(int rank, int size) {
  TPC_EXPECT(rank >= 0 && rank < size, "a dry run of rank {} of {}", rank, size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return std::make_shared<DryRunCommunicator>(std::make_shared<Family>(), "world", std::move(ranks), rank);
}

}  // namespace tpc
