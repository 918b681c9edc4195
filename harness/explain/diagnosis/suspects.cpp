// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/suspects.hpp"

#include <set>

#include "harness/explain/misreadings/misreadings.hpp"
#include "harness/run/fault_conditions.hpp"
#include "harness/run/implementations.hpp"
#include "harness/run/reference/counted_implementation.hpp"
#include "harness/values/join.hpp"

namespace tpc {

namespace {

// One rank answers for all.
class OtherAnswer : public Implementation {
 public:
  explicit OtherAnswer(Misreading misreading) : misreading_(std::move(misreading)) {}

  std::string name() const override { return misreading_.title; }
  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    Response response;
    response.status = Response::Status::result;
    if (ranks->rank() != 0) return response;
    for (const auto& [name, answer] : solve_as_read(request, misreading_)) {
      const Tensor data = host_tensor(DType::f64, answer.value.shape, name);
      std::copy(answer.value.values.begin(), answer.value.values.end(), data.data<double>());
      response.tensors.push_back({name, data, replicate(answer.value.shape)});
    }
    return response;
  }

 private:
  Misreading misreading_;
};

Suspect suspect_with(const Misreading& misreading) {
  Suspect suspect;
  suspect.id = misreading.id;
  suspect.title = misreading.title;
  suspect.make = [misreading] { return std::make_unique<OtherAnswer>(misreading); };
  suspect.misreads = true;
  return suspect;
}

constexpr std::size_t most_partial = 6;  // that are tried with each other

std::set<const Candidate*> first_partial_ones(const std::vector<const Candidate*>& candidates) {
  std::set<const Candidate*> partial;
  for (const Candidate* candidate : candidates)
    if (candidate->explanation.partial() && partial.size() < most_partial) partial.insert(candidate);
  return partial;
}

bool are_of_one_report(const Candidate& one, const Candidate& other) {
  return !one.suspect.source.empty() && one.suspect.source == other.suspect.source;
}

FaultSet with_both(const Candidate& one, const Candidate& other) {
  FaultSet both = one.suspect.faults;
  for (const Fault fault : other.suspect.faults.all()) both.plant(fault);
  return both;
}

}  // namespace

Suspect suspect_with(const FaultSet& faults) {
  std::vector<std::string> titles;
  std::vector<std::string> sources;
  Suspect suspect;
  for (const Fault fault : faults.all()) {
    const FaultRow& row = row_of(fault);
    titles.emplace_back(row.title);
    if (sources.empty() || sources.back() != row.source) sources.emplace_back(row.source);
    suspect.hangs |= row.fault_class == FaultClass::hang;
  }
  suspect.id = names_of(faults);
  suspect.title = joined(titles, ", and ");
  suspect.source = joined(sources, "; ");
  suspect.make = [faults] { return with_counted_calls(make_reference_implementation(faults)); };
  suspect.faults = faults;
  return suspect;
}

std::vector<Suspect> known_suspects(const Request& request) {
  std::vector<Suspect> suspects;
  for (const Fault fault : faults_that_can_occur(request)) suspects.push_back(suspect_with(FaultSet(fault)));
  for (const Misreading& misreading : misreadings_of(request)) suspects.push_back(suspect_with(misreading));
  return suspects;
}

std::vector<FaultSet> pairs_worth_trying(const std::vector<Candidate>& candidates) {
  std::vector<const Candidate*> faults;
  for (const Candidate& candidate : candidates)
    if (!candidate.suspect.faults.empty()) faults.push_back(&candidate);
  const std::set<const Candidate*> partial = first_partial_ones(faults);
  std::vector<FaultSet> pairs;
  for (auto one = faults.begin(); one != faults.end(); ++one)
    for (auto other = std::next(one); other != faults.end(); ++other)
      if (are_of_one_report(**one, **other) || (partial.contains(*one) && partial.contains(*other)))
        pairs.push_back(with_both(**one, **other));
  return pairs;
}

}  // namespace tpc
