// SPDX-License-Identifier: Apache-2.0
// What is known of an implementation before it is judged: cases that it must pass, and failures that are
// explained and borne until a day. Anything else that fails, fails.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/values/record.hpp"

namespace tpc {

// A failure that is explained. `cases` are patterns of names, in which * stands for anything. The message
// must hold `words`, in which * stands for anything too, so that another failure of the same case is not
// borne along.
struct Waiver {
  std::string id;
  std::vector<std::string> cases;
  std::vector<std::string> words;  // any of them
  std::string reason;
  std::string link;     // a public one
  std::string expires;  // the last day, 2027-06-30
};

struct Expectations {
  std::string implementation;  // how it calls itself, with the version or its beginning: "pytorch 2.15"
  std::vector<std::string> must_pass;
  std::vector<Waiver> waivers;
};

// Throws UsageError that names the file and what is wrong in it.
Expectations read_expectations(const std::filesystem::path& file);

struct Judged {
  std::string implementation;          // as it calls itself
  std::vector<std::string> cases;      // all that there are, run or not
  const std::vector<Record>& records;  // of the run
  std::string today;
};

struct ExpectationFindings {
  int waived = 0;
  std::vector<std::string> violations;  // any of them fails the run
  std::vector<std::string> remarks;     // what each waiver explained, and unexpected passes
};

ExpectationFindings hold(const Expectations& expectations, const Judged& judged);

std::string today();

}  // namespace tpc
