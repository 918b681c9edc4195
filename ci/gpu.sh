#!/usr/bin/env bash
# Ring 4: builds with CUDA and NCCL and runs the tests that need a GPU; says so by name where it cannot.
# usage: ci/gpu.sh
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

skip() {
  echo "ring4: not run: $1"
  exit 0
}

export PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || skip "there is no CUDA toolkit (nvcc is neither in PATH nor in /usr/local/cuda/bin)"
command -v nvidia-smi >/dev/null || skip "there is no GPU (the driver's nvidia-smi is missing)"
nvidia-smi -L 2>/dev/null | grep -q '^GPU' || skip "there is no GPU (nvidia-smi -L lists none)"

ci/setup.sh
# shellcheck source=ci/environment.sh
source ci/environment.sh
cmake --preset release -D TPC_CUDA=ON
cmake --build --preset release
log=$(mktemp)
trap 'rm -f "$log"' EXIT
ctest --preset gpu | tee "$log"
# The driver lists a GPU; that every test skips itself all the same must not look like success.
if ! grep -q ' Passed ' "$log"; then
  echo "ring4: nvidia-smi lists a GPU, but no test ran on it" >&2
  exit 1
fi
