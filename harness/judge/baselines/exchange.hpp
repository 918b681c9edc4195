// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other while baselines are prepared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/baselines/answer_file.hpp"
#include "harness/values/machine/private_folder.hpp"

namespace tpc {

// What one rank says of a problem that it solved.
struct BaselineReport {
  std::uint64_t problem = 0;
  std::string defect;
  std::string exact_defect;
};

// Collective: the reports of all ranks.
std::vector<BaselineReport> exchange_reports(Communicator& ranks, const std::vector<BaselineReport>& mine);

// Collective: all throw EnvironmentError where one is in trouble.
void agree_on_trouble(Communicator& ranks, const std::string& trouble);

// Collective. The folder in which the ranks meet: rank 0 makes it and tells the others where it is and how
// much fits. The first step waits until all ranks have dropped what they no longer want.
class BaselineVenue {
 public:
  explicit BaselineVenue(Communicator& ranks);
  const std::filesystem::path& folder() const { return folder_; }
  std::uint64_t free_bytes() const { return free_; }

 private:
  std::optional<PrivateFolder> own_;
  std::filesystem::path folder_;
  std::uint64_t free_ = 0;
};

}  // namespace tpc
