// SPDX-License-Identifier: Apache-2.0
#include "harness/run/records/run_log.hpp"

#include <fmt/format.h>

namespace tpc {

namespace {

constexpr std::chrono::seconds patience_with_a_stuck_writer{1};

}  // namespace

RunLog::RunLog(Provenance provenance, std::string path, bool writes)
    : provenance_(std::move(provenance)), path_(std::move(path)) {
  if (!writes || path_.empty()) return;
  file_ = RecordFile(path_);
  file_.append(to_json(provenance_));
}

double RunLog::seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

void RunLog::begin(const Record& blank) {
  const std::lock_guard<std::timed_mutex> lock(mutex_);
  running_ = {blank};
}

void RunLog::finish(const Record& record) {
  const std::lock_guard<std::timed_mutex> lock(mutex_);
  running_.clear();
  records_.push_back(record);
  file_.append(to_json(record));
}

Summary RunLog::finish_run(int exit_code) {
  const std::lock_guard<std::timed_mutex> lock(mutex_);
  const Summary summary{tally_of(records_), exit_code, seconds()};
  file_.append(to_json(summary));
  return summary;
}

std::string RunLog::last_words(const std::string& what_happened) {
  const std::unique_lock<std::timed_mutex> lock(mutex_, patience_with_a_stuck_writer);
  std::string text = "tp_conformance: " + what_happened;
  if (!lock.owns_lock()) return text + '\n';
  if (running_.empty()) {
    text += "; no case was running";
  } else {
    Record lost = running_.front();
    lost.verdict = Outcome::error;
    lost.message = what_happened;
    text += fmt::format("; {} was running", lost.case_name);
    try {
      if (!path_.empty() && !file_.is_open()) file_ = RecordFile(path_);
      file_.append(to_json(lost));
    } catch (const std::exception& error) {
      text += fmt::format("; {}", error.what());
    }
    records_.push_back(std::move(lost));
    running_.clear();
  }
  const Tally tally = tally_of(records_);
  text += fmt::format("; {} cases are recorded{}\n", tally.all(), path_.empty() ? "" : " in " + path_);
  return text + last_line(provenance_, {tally, 6, seconds()}) + '\n';
}

}  // namespace tpc
