// SPDX-License-Identifier: Apache-2.0
// The three ways in which something can be wrong are three types, and a fourth that is no error at all. A
// wrong result of an implementation under test is none of them: that is a verdict, a value.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace tpc {

// A broken promise inside this code base: always our own bug.
class ContractError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// The surroundings failed us: MPI, NCCL, CUDA, files, memory. Exit code 3.
class EnvironmentError : public std::runtime_error {
 public:
  EnvironmentError(const std::string& problem, const std::string& reason, const std::string& suggestion);
};

// The user asked for something that cannot be: unknown options, files that do not parse. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A configuration that cannot be sharded as asked. Thrown when a layer or a mesh is built, before any
// collective, by all ranks alike; the message names both numbers and what to do. It becomes the response
// "refused".
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void throw_contract_error(const char* condition, const std::string& message, const char* file,
                                       int line);

}  // namespace tpc

// Holds in every build. The message is formatted only on failure.
#define TPC_EXPECT(condition, ...)                                                             \
  do {                                                                                         \
    if (!(condition))                                                                          \
      ::tpc::throw_contract_error(#condition, ::fmt::format(__VA_ARGS__), __FILE__, __LINE__); \
  } while (false)
