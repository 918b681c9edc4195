// SPDX-License-Identifier: Apache-2.0
#include "harness/values/provenance.hpp"

#include <blis.h>
#include <dnnl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

#include "harness/values/machine/machine.hpp"

namespace tpc {

namespace {

std::string compiler_name() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

}  // namespace

Provenance local_provenance() {
  const BuildIdentity build = build_identity();
  Provenance p;
  p.version = build.version;
  p.commit = build.commit;
  p.dirty = build.dirty;
  p.compiler = compiler_name();
  p.mpi = "none";
  p.blas = fmt::format("BLIS {}", bli_info_get_version_str());
  p.onednn = onednn_version();
  p.host = host_name();
  p.started =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  p.cores = usable_cores();
  return p;
}

std::string short_commit(const Provenance& provenance) {
  return provenance.commit.substr(0, 8) + (provenance.dirty ? "+" : "");
}

}  // namespace tpc
