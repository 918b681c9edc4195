// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/investigation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "harness/explain/configuration/configuration.hpp"
#include "harness/explain/configuration/shrink.hpp"
#include "harness/explain/diagnosis/calls.hpp"
#include "harness/explain/diagnosis/layers.hpp"
#include "harness/explain/diagnosis/own_cut.hpp"
#include "harness/explain/diagnosis/suspects.hpp"
#include "harness/explain/diagnosis/wording.hpp"
#include "harness/judge/judges/judges.hpp"
#include "harness/run/implementations.hpp"
#include "harness/values/join.hpp"

namespace tpc {

namespace {

// A fault that fails one case tends to fail many: the first few tell it, and the run goes on.
constexpr int most_shrunk = 3;
constexpr int most_attempts = 200;
// A case that took this long ran into its deadline, or is large: some hundred of it are not worth waiting
// for.
constexpr double longest_attempt = 5;  // seconds

// Of suspects, which answer as fast as the reference does; what one may take where several are asked at once.
constexpr std::chrono::milliseconds suspect_deadline{3000};
constexpr std::chrono::milliseconds suspect_share{1000};
constexpr std::size_t suspects_at_once = 16;
constexpr std::chrono::seconds patience{30};

bool failed(const Record& record) {
  return record.verdict == Outcome::fail || record.verdict == Outcome::error;
}

// Waits end early, but nobody is given up for lost any sooner: on a busy machine ranks come late.
constexpr std::chrono::milliseconds suspect_grace{30'000};

// It failed in another way than by how it was refused, where a refusal is due.
bool was_not_refused(const Case& c, const Record& record) {
  return c.expectation == Expectation::refusal && failed(record) && !tells_of_refusal(record.message);
}

// Without where each rank was seen last: the number of a call depends on what ran before.
std::string what_happened(const Record& record) {
  return record.message.substr(0, record.message.find("; last collective of"));
}

bool read_alike(const Case& c, const Record& one, const Record& other) {
  if (c.tier == Tier::statistics) return reads_like(what_happened(one), what_happened(other));
  return what_happened(one) == what_happened(other);
}

class DeadlineOf {
 public:
  DeadlineOf(Runner& runner, std::chrono::milliseconds deadline)
      : runner_(runner), before_(runner.patience()) {
    runner_.set_patience({std::min(before_.deadline, deadline), suspect_grace});
  }
  DeadlineOf(const DeadlineOf&) = delete;
  DeadlineOf& operator=(const DeadlineOf&) = delete;
  ~DeadlineOf() { runner_.set_patience(before_); }

 private:
  Runner& runner_;
  Runner::Patience before_;
};

}  // namespace

std::vector<std::string> lines_of(const Diagnosis& diagnosis) {
  std::vector<std::string> lines = diagnosis.facts;
  const std::vector<std::string> verdicts = verdict_on(diagnosis.candidates);
  lines.insert(lines.end(), verdicts.begin(), verdicts.end());
  if (lines.empty() && diagnosis.asked && diagnosis.candidates.empty())
    lines.emplace_back("no known fault can occur here");
  if (verdicts.empty() && diagnosis.suspects > 0)
    lines.push_back(
        fmt::format("no known fault matches ({} tried{})", diagnosis.suspects,
                    diagnosis.tensors_tell ? "" : "; by words alone, since no wrong value was answered"));
  if (!diagnosis.stopped.empty()) lines.push_back(diagnosis.stopped);
  return lines;
}

std::string to_text(const Diagnosis& diagnosis) { return "  " + joined(lines_of(diagnosis), "\n  "); }

void Investigation::operator()(const Case& c, Record& record) {
  if (choice_.most_diagnosed < 0 || diagnosed_ < choice_.most_diagnosed) {
    ++diagnosed_;
    record.diagnosis = "diagnosis:\n" + to_text(diagnose(c, record));
    const std::string layer = first_divergence(c);
    if (!layer.empty()) record.diagnosis += "\n  " + layer;
  }
  if (c.suite == "random" && shrunk_ < most_shrunk) record.smallest = smallest(c, record);
}

Record Investigation::try_out(const Case& c, Implementation* other) {
  parts_.kept.clear();
  parts_.subject.put(other);
  Record record = parts_.runner.try_out(c);
  parts_.subject.put(nullptr);
  return record;
}

// Where the baseline is known to the judge alone, what the reference answers is right too.
RightAnswer Investigation::right_answer(const Case& c) {
  if (c.expectation == Expectation::refusal) return {};
  if (!is_solved_when_judged(c.request.problem)) return RightAnswer(parts_.oracle.expected(c));
  const auto reference = make_reference_implementation();
  RightAnswer right;
  parts_.runner.consult(c, [&](const CommunicatorPtr& ranks) {
    const Response response = reference->run(c.request, ranks);
    right = RightAnswer(response.tensors, *ranks);
  });
  return right;
}

// Of the answer that was kept last.
Impression Investigation::look(const Case& c, const RightAnswer& right) {
  const std::optional<Trace> calls = parts_.subject.calls();
  Impression impression;
  parts_.runner.consult(c, [&](const CommunicatorPtr& ranks) {
    const Tensor known = host_tensor(DType::i64, {2}, "whether any holds tensors, and any has no calls");
    auto* const flags = known.data<std::int64_t>();
    flags[0] = parts_.kept.empty() ? 0 : 1;
    flags[1] = calls ? 0 : 1;
    ranks->all_reduce(known, known, ReduceOp::max);
    if (flags[0] == 0 || right.tensors().empty()) return;
    impression = look_at(c, parts_.kept, right, *ranks);
    if (flags[1] == 1 || !impression.any_wrong) return;
    const Response due = make_reference_implementation()->run(c.request, ranks);
    const std::string difference = calls ? calls_beside(due.trace, *calls) : "";
    if (!difference.empty()) impression.lines.push_back(difference);
  });
  return impression;
}

Diagnosis Investigation::diagnose(const Case& c, const Record& record) {
  Diagnosis diagnosis;
  Failure failure{c, record, parts_.kept, right_answer(c)};
  const Impression impression = look(c, failure.right);
  diagnosis.facts = impression.lines;
  diagnosis.tensors_tell = impression.any_wrong;
  if (was_not_refused(c, record))
    diagnosis.facts.push_back(
        fmt::format("what cannot be done was not refused: it has to be, before the first call, with a reason "
                    "that names {}",
                    joined(c.reason_words, ", ")));
  if (parts_.suspects && !parts_.runner.stop()) {
    diagnosis.asked = true;
    failure.by_tensors = as_rank_0_says(impression.any_wrong ? "any" : "") == "any";
    line_up(failure, parts_.suspects(c.request), diagnosis);
    if (diagnosis.stopped.empty()) line_up(failure, pairs_of(diagnosis.candidates), diagnosis);
  }
  parts_.kept.clear();
  return diagnosis;
}

// Only rank 0 is in every mesh, and has all that was found.
std::string Investigation::as_rank_0_says(const std::string& text) {
  const auto now = Agreement::Clock::now();
  const auto said = parts_.runner.agreement().reach(
      text, [](const Agreement::Reports& reports) { return reports[0].value_or(""); },
      {now + patience, now + 2 * patience});
  return said.value_or("");
}

std::vector<Suspect> Investigation::pairs_of(const std::vector<Candidate>& candidates) {
  std::vector<std::string> names;
  if (certain_ids(candidates).empty())
    for (const FaultSet& pair : pairs_worth_trying(candidates)) names.push_back(names_of(pair));
  std::vector<Suspect> pairs;
  std::istringstream agreed(as_rank_0_says(joined(names, " ")));
  for (std::string pair; agreed >> pair;) pairs.push_back(suspect_with(faults_named(pair)));
  return pairs;
}

// Whoever answered did not hang; and a misread request is answered by one rank for all, without a call.
bool Investigation::can_be_compared(const Failure& failure, const Suspect& suspect) {
  if (suspect.hangs && failure.record.verdict != Outcome::error) return false;
  return failure.by_tensors || !suspect.misreads;
}

void Investigation::line_up(const Failure& failure, std::vector<Suspect> suspects, Diagnosis& diagnosis) {
  const std::size_t before = diagnosis.candidates.size();
  for (Suspect& suspect : suspects)
    if (can_be_compared(failure, suspect)) diagnosis.candidates.push_back({std::move(suspect), {}});
  const auto all = std::span<Candidate>(diagnosis.candidates).subspan(before);
  const std::size_t at_once = failure.by_tensors ? suspects_at_once : 1;
  for (std::size_t first = 0; first < all.size(); first += at_once) {
    if (parts_.runner.stop() || diagnosis.seconds > choice_.longest_line_up) {
      diagnosis.stopped = fmt::format("{} of {} known faults were tried: time is up", diagnosis.suspects,
                                      diagnosis.candidates.size());
      return;
    }
    const std::span<Candidate> some = all.subspan(first, std::min(at_once, all.size() - first));
    diagnosis.seconds +=
        failure.by_tensors ? compare_tensors(failure, some) : compare_words(failure, some[0]);
    diagnosis.suspects += static_cast<int>(some.size());
  }
}

// Several at a time: coming to an agreement takes longer than most answers. One that throws spoils it for all
// of them, so that they are then tried in halves.
double Investigation::compare_tensors(const Failure& failure, std::span<Candidate> some) {
  const DeadlineOf deadline(parts_.runner, suspect_deadline + some.size() * suspect_share);
  const Ruling ruling = parts_.runner.consult(failure.c, [&](const CommunicatorPtr& ranks) {
    const Request request = with_own_cut(failure.c.request, failure.got, *ranks);
    for (Candidate& candidate : some) {
      const Response response = candidate.suspect.make()->run(request, ranks);
      candidate.explanation =
          explanation_of(failure.c, distances_to(failure.got, failure.right, response.tensors, *ranks));
    }
  });
  if (ruling.verdict == Outcome::pass) return ruling.seconds;
  for (Candidate& candidate : some) candidate.explanation = {};  // on some ranks it may look finished
  if (some.size() < 2 || parts_.runner.stop()) return ruling.seconds;
  const std::size_t half = some.size() / 2;
  return ruling.seconds + compare_tensors(failure, some.first(half)) +
         compare_tensors(failure, some.subspan(half));
}

// A failure that no tensor shows (a wrong count, a refusal, a hang) is the same where it reads the same. What
// was to be refused and was begun fails in many ways: there it is enough that the suspect began it, too.
double Investigation::compare_words(const Failure& failure, Candidate& candidate) {
  const DeadlineOf deadline(parts_.runner, suspect_deadline);
  const auto suspect = candidate.suspect.make();
  const Record tried = try_out(failure.c, suspect.get());
  candidate.explanation.by_words =
      tried.verdict == failure.record.verdict && read_alike(failure.c, tried, failure.record);
  candidate.explanation.by_not_refusing =
      was_not_refused(failure.c, failure.record) && was_not_refused(failure.c, tried);
  return tried.seconds;
}

std::string Investigation::first_divergence(const Case& c) {
  if (c.expectation == Expectation::refusal) return {};
  const std::vector<Case> layers = cases_of_layers(c);
  for (const Case& layer : layers) {
    if (parts_.runner.stop()) return {};
    const Record tried = try_out(layer, nullptr);
    if (!failed(tried)) continue;
    std::string text = fmt::format("layer by layer, the first that fails is {}: {}",
                                   name(layer.request.problem.operation()), tried.message);
    text += "\n    run it alone: " + parts_.replay(layer);
    for (const std::string& line : lines_of(diagnose(layer, tried))) text += "\n    " + line;
    return text;
  }
  if (layers.empty()) return {};
  return fmt::format("layer by layer, each of {} is right alone: look at what joins them", layers.size());
}

std::string Investigation::smallest(const Case& c, const Record& record) {
  const auto configuration = configuration_of(c);
  if (!configuration) return {};
  if (record.seconds > longest_attempt) return fmt::format("not shrunk: it took {:.0f} s", record.seconds);
  ++shrunk_;
  Record last = record;
  const auto fails = [&](const Configuration& smaller) {
    if (parts_.runner.stop()) return false;
    const Record tried = try_out(case_of(smaller, "shrunk"), nullptr);
    if (tried.verdict != record.verdict) return false;
    last = tried;
    return true;
  };
  const Shrunk shrunk = shrink(*configuration, fails, most_attempts);
  const std::string found = to_text(shrunk.smallest);
  const std::string how = shrunk.finished ? "the smallest that still fails" : "smaller, and still fails";
  if (found == to_text(*configuration))
    return fmt::format("{}: this one, after {} attempts", how, shrunk.attempts);
  return fmt::format("{}, after {} attempts: {}\n  {}\n  {}", how, shrunk.attempts, found, last.message,
                     parts_.replay(case_of(shrunk.smallest, "shrunk")));
}

}  // namespace tpc
