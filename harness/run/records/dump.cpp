// SPDX-License-Identifier: Apache-2.0
#include "harness/run/records/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/judge/inputs/inputs.hpp"
#include "harness/run/records/npy.hpp"
#include "harness/run/records/record_file.hpp"
#include "harness/values/join.hpp"

namespace tpc {

namespace {

constexpr std::string_view readme =
    "One folder per failing case:\n"
    "  expected.NAME.npy       the baseline's answer, f64, the whole tensor\n"
    "  input.NAME.npy          what went in, the whole tensor, rounded to the case's dtype\n"
    "  rankR.NAME.npy          what rank R handed back, its local tensor\n"
    "  rankR.placements.txt    which part of the whole tensor that is\n"
    "bf16 is widened to f32, which is exact. A name that a rank hands back twice gets -2, -3, ...\n";

std::string placement_text(const std::string& file, const Placement& placement) {
  std::string text = fmt::format("{}: of global {}", file, to_string(placement.global_shape));
  for (const Block& block : placement.blocks)
    text += fmt::format("; global offset {} extent {} at local offset {}", to_string(block.global_offset),
                        to_string(block.extent), to_string(block.local_offset));
  if (placement.blocks.empty()) text += "; holds nothing";
  if (!placement.partial_over.empty()) text += "; pending sum over " + joined(placement.partial_over, ", ");
  return text + '\n';
}

Tensor copied(const Expected& expected) {
  Tensor tensor = host_tensor(DType::f64, expected.shape);
  std::copy_n(expected.values, tensor.count(), tensor.data<double>());
  return tensor;
}

void dump_common(const std::filesystem::path& folder, const FailedCase& failed) {
  for (const auto& [name, expected] : failed.expected)
    write_npy(folder / fmt::format("expected.{}.npy", name), copied(expected));
  const Problem& problem = failed.c.request.problem;
  for (const InputSpec& input : problem.inputs)
    write_npy(folder / fmt::format("input.{}.npy", input.name),
              draw_tensor(problem, input, Shape(input.shape.size(), 0), input.shape));
}

void dump_own(const std::filesystem::path& folder, const FailedCase& failed) {
  std::set<std::string> used;
  std::string placements;
  for (const LocalTensor& tensor : failed.got) {
    std::string file = fmt::format("rank{}.{}", failed.rank, tensor.name);
    for (int i = 2; used.contains(file); ++i) file = fmt::format("rank{}.{}-{}", failed.rank, tensor.name, i);
    used.insert(file);
    placements += placement_text(file, tensor.placement);
    if (tensor.data) write_npy(folder / (file + ".npy"), tensor.data);
  }
  write_final_file(folder / fmt::format("rank{}.placements.txt", failed.rank), placements);
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw EnvironmentError(fmt::format("cannot make {}", folder.string()), error.message(),
                           "free space or choose another folder");
}

}  // namespace

void make_dump_folder(const std::filesystem::path& folder) {
  try {
    make_folder(folder);
    write_final_file(folder / "README.txt", readme);
  } catch (const EnvironmentError& error) {
    throw UsageError(fmt::format("--dump {}: {}", folder.string(), error.what()));
  }
}

void dump(const std::filesystem::path& folder, const FailedCase& failed) {
  std::string name = full_name(failed.c);
  std::replace(name.begin(), name.end(), '/', '.');
  make_folder(folder / name);
  if (failed.rank == 0) dump_common(folder / name, failed);
  dump_own(folder / name, failed);
}

}  // namespace tpc
