// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/exchange.hpp"

#include <utility>

#include "harness/judge/compare/exchange.hpp"
#include "harness/values/texts.hpp"
#include "harness/values/wire.hpp"

namespace tpc {

namespace {

void put_report(Packer& packer, const BaselineReport& report) {
  packer.put(report.problem).put(std::string_view(report.defect)).put(std::string_view(report.exact_defect));
}

BaselineReport get_report(Unpacker& unpacker) {
  BaselineReport report;
  report.problem = unpacker.get<std::uint64_t>();
  report.defect = unpacker.text();
  report.exact_defect = unpacker.text();
  return report;
}

}  // namespace

std::vector<BaselineReport> exchange_reports(Communicator& ranks, const std::vector<BaselineReport>& mine) {
  Packer packer;
  packer.put_all(mine, put_report);
  std::vector<BaselineReport> reports;
  for (const std::string& bytes : gather_bytes(ranks, packer.bytes())) {
    Unpacker unpacker(bytes);
    for (BaselineReport& report : unpacker.all<BaselineReport>(get_report))
      reports.push_back(std::move(report));
  }
  return reports;
}

void agree_on_trouble(Communicator& ranks, const std::string& trouble) {
  const std::vector<std::string> said = gather_bytes(ranks, trouble);
  for (std::size_t r = 0; r < said.size(); ++r)
    if (!said[r].empty())
      throw EnvironmentError(fmt::format("rank {} has no access to the baselines", r), said[r],
                             "all ranks must be on one host and of one user");
}

BaselineVenue::BaselineVenue(Communicator& ranks) {
  agree_on_trouble(ranks, "");
  std::string trouble;
  Packer place;
  if (ranks.rank() == 0) {
    try {
      own_.emplace();
      place.put(std::string_view(own_->path().string())).put(tpc::free_bytes(own_->path()));
    } catch (const std::exception& error) {
      trouble = error.what();
    }
  }
  agree_on_trouble(ranks, trouble);
  const std::string said = gather_bytes(ranks, place.bytes())[0];
  Unpacker unpacker(said);
  folder_ = unpacker.text();
  free_ = unpacker.get<std::uint64_t>();
}

}  // namespace tpc
