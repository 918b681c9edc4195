// SPDX-License-Identifier: Apache-2.0
// The command line of tp_conformance.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/values/suite.hpp"

namespace tpc {

// Passed through to GoogleTest.
struct FrontOptions {
  std::string filter = "*";
  bool list_tests = false;
  int repeat = 1;
  bool shuffle = false;
  int random_seed = 0;  // 0: by the clock of rank 0
  bool fail_fast = false;
  bool brief = false;
};

struct Options {
  SuiteOptions suites;  // the model itself is read later, from model_file
  std::string implementation = "reference";
  std::string model_file;
  std::string records;
  std::string junit;
  std::string dump;
  std::string expectations;
  std::string explain;     // name of a case
  std::string list_saved;  // name of a case
  int diagnose = 3;        // failures that are explained; -1: all
  bool dry_run = false;
  double deadline = 30;         // seconds; of the matrix less where it is not given
  double start_deadline = 120;  // seconds
  int ranks = 0;                // 0: as many as there are
  bool list = false;
  bool coverage = false;
  bool list_faults = false;
  bool diagnose_faults = false;    // instead of the cases: is each fault named by the diagnosis
  bool faults = false;             // the kill matrix instead of the cases
  std::string fault_filter = "*";  // of ids, with * and ?
  bool all = false;                // every case that can see a fault, not only the first that does
  std::string table;               // path of the matrix as markdown
  bool help = false;
  bool version = false;
  FrontOptions front;
};

using Arguments = std::vector<std::string>;  // without the program's name

// Throws UsageError.
Options parse_options(const Arguments& arguments);
std::string help_text();

std::chrono::milliseconds deadline_of(const Options& options);
std::chrono::milliseconds start_deadline_of(const Options& options);

// The command line that runs this case alone, with the options that decide what it is.
std::string replay_command(const Options& options, const Case& c);

// As a shell reads it back as one word.
std::string shell_word(const std::string& text);

}  // namespace tpc
