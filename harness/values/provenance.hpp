// SPDX-License-Identifier: Apache-2.0
// Where a result comes from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tpc {

inline constexpr int record_schema_version = 1;

// Of the tree that was built; baked in by every build (cmake/TpcCommit.cmake).
struct BuildIdentity {
  std::string_view version;  // of the project
  std::string_view commit;   // "unknown" where the source is no checkout
  bool dirty;                // the tree held changes that the commit does not
};
BuildIdentity build_identity();

struct Provenance {
  std::string version;
  std::string commit;
  bool dirty = false;
  std::string compiler;
  std::string mpi;  // library and version; "none" in a single process without it
  std::string blas;
  std::string onednn;
  std::string host;
  std::string started;  // UTC, ISO 8601
  std::string command;
  std::string implementation;
  std::uint64_t seed = 0;
  int ranks = 1;
  int cores = 1;  // that the ranks of this host may use
};

// All that this process can know by itself.
Provenance local_provenance();
// "1a2b3c4d", with a "+" where the tree was dirty.
std::string short_commit(const Provenance& provenance);

}  // namespace tpc
