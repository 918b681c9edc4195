// SPDX-License-Identifier: Apache-2.0
// Who may include whom. The tree is layered: what a folder knows stands in one table, and this test reads
// every include of the tree and holds it against the table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Names = std::vector<std::string>;

// A row is about a folder and all below it that have no row of their own. What is known is known with all
// that it knows itself.
const std::map<std::string, Names>& table() {
  static const std::map<std::string, Names> knows = {
      {"reference/core", {}},
      {"reference/baseline", {"reference/core"}},
      {"reference/compute", {"reference/core"}},
      {"reference/comm", {"reference/core"}},
      {"reference/mesh", {"reference/comm"}},
      {"reference/parameters", {"reference/mesh", "reference/compute"}},
      {"reference/random", {"reference/mesh", "reference/compute"}},

      {"reference/tensor_parallel", {"reference/random", "reference/parameters"}},
      {"reference/faulty", {"reference/tensor_parallel"}},
      {"reference/model", {"reference/tensor_parallel"}},
      {"reference/optimizer", {"reference/model"}},
      {"reference/training", {"reference/optimizer"}},
      {"harness/values", {"reference/training", "reference/faulty", "reference/baseline"}},
      {"harness/judge", {"harness/values"}},
      {"harness/run", {"harness/judge"}},
      {"harness/explain", {"harness/run"}},
      {"harness/front", {"harness/explain"}},
      {"harness/ring3", {"suites"}},
      {"harness", {"suites"}},  // the mains
      {"suites", {"harness/front"}},
      {"bench", {"suites"}},
      {"ci", {}},
  };
  return knows;
}

// Headers of libraries, and the only folders and files that may name them.
const std::map<std::string, Names>& libraries() {
  static const std::map<std::string, Names> users = {
      {"mpi.h", {"reference/comm/mpi/"}},
      {"nccl.h", {"reference/comm/nccl/"}},
      {"cuda_runtime_api.h", {"reference/compute/cuda", "reference/comm/nccl/"}},
      {"cuda_bf16.h", {"reference/compute/cuda"}},
      {"cublas_v2.h", {"reference/compute/cuda"}},
  };
  return users;
}

struct Include {
  std::string file;
  int line = 0;
  std::string target;
  bool of_library = false;  // <...>
};

std::string folder_of(const std::string& file) { return file.substr(0, file.rfind('/')); }

// The row that speaks of a file: that of its folder or of the nearest one around it. Empty: none does.
std::string row_of(const std::string& file) {
  for (std::string folder = folder_of(file);; folder = folder_of(folder)) {
    if (table().contains(folder)) return folder;
    if (folder.find('/') == std::string::npos) return "";
  }
}

bool may_know(const std::string& row, const std::string& other) {
  if (row == other) return true;
  const Names& known = table().at(row);
  return std::any_of(known.begin(), known.end(),
                     [&](const std::string& name) { return may_know(name, other); });
}

Names forbidden(const std::vector<Include>& includes) {
  Names found;
  for (const Include& include : includes) {
    const auto complain = [&](const std::string& why) {
      found.push_back(
          fmt::format("{}:{}: includes {}, but {}", include.file, include.line, include.target, why));
    };
    if (include.of_library) {
      const auto users = libraries().find(include.target);
      if (users != libraries().end() &&
          std::none_of(users->second.begin(), users->second.end(),
                       [&](const std::string& user) { return include.file.starts_with(user); }))
        complain(fmt::format("only {} may", fmt::join(users->second, ", ")));
      continue;
    }
    const std::string from = row_of(include.file);
    const std::string to = row_of(include.target);
    if (from.empty() || to.empty())
      complain(
          fmt::format("{} has no row in the table", folder_of(from.empty() ? include.file : include.target)));
    else if (!may_know(from, to))
      complain(fmt::format("{} may not know {}", from, to));
  }
  return found;
}

// Folders that know one another, by whatever way round: each circle is told by the includes that close it.
Names circles(const std::vector<Include>& includes) {
  std::map<std::string, std::set<std::string>> known;
  for (const Include& include : includes)
    if (!include.of_library && folder_of(include.file) != folder_of(include.target))
      known[folder_of(include.file)].insert(folder_of(include.target));
  const auto reaches = [&](const std::string& from, const std::string& goal) {
    std::set<std::string> seen;
    const std::function<bool(const std::string&)> walk = [&](const std::string& at) {
      if (at == goal) return true;
      if (!seen.insert(at).second) return false;
      return std::any_of(known[at].begin(), known[at].end(), walk);
    };
    return walk(from);
  };
  Names found;
  for (const Include& include : includes) {
    if (include.of_library) continue;
    const std::string from = folder_of(include.file);
    const std::string to = folder_of(include.target);
    if (from != to && reaches(to, from))
      found.push_back(fmt::format("{}:{}: includes {}, and {} knows {} as well", include.file, include.line,
                                  include.target, to, from));
  }
  return found;
}

std::vector<Include> includes_of(const std::filesystem::path& root) {
  std::vector<Include> includes;
  for (const char* area : {"reference", "harness", "suites", "bench", "ci"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / area)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".hpp" && extension != ".cu") continue;
      std::ifstream file(entry.path());
      const std::string name = std::filesystem::relative(entry.path(), root);
      int number = 0;
      for (std::string line; std::getline(file, line);) {
        ++number;
        if (!line.starts_with("#include ") || line.size() < 12) continue;
        const std::size_t end = line.find_first_of(">\"", 10);
        includes.push_back({name, number, line.substr(10, end - 10), line[9] == '<'});
      }
    }
  return includes;
}

TEST(Arrows, PointDown) {
  const std::vector<Include> includes = includes_of(TPC_SOURCE_DIR);
  ASSERT_GT(includes.size(), 1000U);
  EXPECT_EQ(forbidden(includes), Names{});
}

TEST(Arrows, MakeNoCircleOfFolders) { EXPECT_EQ(circles(includes_of(TPC_SOURCE_DIR)), Names{}); }

TEST(Arrows, AreSeenWhereTheyPointUp) {
  const Names found = forbidden({{"harness/values/case.hpp", 7, "harness/run/runner/runner.hpp"},
                                 {"reference/core/tensor.cpp", 3, "reference/comm/trace.hpp"},
                                 {"reference/comm/trace.cpp", 3, "reference/core/tensor.hpp"},
                                 {"reference/tensor_parallel/mlp.cpp", 9, "mpi.h", true},
                                 {"reference/news/a.cpp", 1, "reference/core/tensor.hpp"}});
  EXPECT_EQ(found,
            (Names{"harness/values/case.hpp:7: includes harness/run/runner/runner.hpp, but harness/values "
                   "may not know harness/run",
                   "reference/core/tensor.cpp:3: includes reference/comm/trace.hpp, but reference/core may "
                   "not know reference/comm",
                   "reference/tensor_parallel/mlp.cpp:9: includes mpi.h, but only reference/comm/mpi/ may",
                   "reference/news/a.cpp:1: includes reference/core/tensor.hpp, but reference/news has no "
                   "row in the table"}));
}

TEST(Arrows, AreSeenWhereTheyCloseACircle) {
  const Names found = circles({{"a/x/one.cpp", 1, "a/y/two.hpp"},
                               {"a/y/two.hpp", 2, "a/z/three.hpp"},
                               {"a/z/three.cpp", 3, "a/x/one.hpp"},
                               {"a/w/four.cpp", 4, "a/x/one.hpp"}});
  EXPECT_EQ(found.size(), 3U);
  EXPECT_EQ(found.front(), "a/x/one.cpp:1: includes a/y/two.hpp, and a/y knows a/x as well");
}

}  // namespace
