// SPDX-License-Identifier: Apache-2.0
// All that a rank knows of the run so far. Rank 0 writes it down as it goes.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "harness/run/records/record_file.hpp"
#include "harness/values/record.hpp"

namespace tpc {

class RunLog {
 public:
  // `path` may be empty. Only where `writes` is set a file is opened, and the provenance put first.
  RunLog(Provenance provenance, std::string path, bool writes);

  void begin(const Record& blank);    // the case that runs now, as it would be recorded if it were lost
  void finish(const Record& record);  // throws EnvironmentError
  Summary finish_run(int exit_code);  // the last line of the file
  const std::vector<Record>& records() const { return records_; }
  const Provenance& provenance() const { return provenance_; }
  double seconds() const;

  // For another thread than the one that runs the cases, when the process is about to end: records the case
  // that was running as an error, whoever the writer was, and returns what to tell the user.
  std::string last_words(const std::string& what_happened);

 private:
  using Clock = std::chrono::steady_clock;
  std::timed_mutex mutex_;
  Provenance provenance_;
  std::string path_;
  RecordFile file_;
  std::vector<Record> records_;
  std::vector<Record> running_;  // none or one
  Clock::time_point started_ = Clock::now();
};

}  // namespace tpc
