#!/usr/bin/env bash
# Makes the Python environments of the frameworks under test, once, outside the tree, with pinned versions, and prints
# what to start each with. Torch's wheels are CUDA builds: the toolkit's own libraries stand in for gigabytes of wheels.
# usage: ci/setup_frameworks.sh    environments go to $TPC_FRAMEWORKS [~/.cache/tp_conformance/frameworks]
# Exit codes: 0 all is there, 2 usage, 3 something is missing and could not be installed.
set -euo pipefail

(($# == 0)) || { sed -n 's/^# \?//; 2,6p' "${BASH_SOURCE[0]}" >&2; exit 2; }
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
folder=${TPC_FRAMEWORKS:-${XDG_CACHE_HOME:-$HOME/.cache}/tp_conformance/frameworks}
cuda=${CUDA_HOME:-/usr/local/cuda}/lib64

fail() {
  echo "ci/setup_frameworks.sh: $1" >&2
  exit 3
}

# An environment is complete when it carries the sum of the lists that it was made from.
make_environment() { # name, lists...
  local name=$1 list sum environment=$folder/$1
  shift
  sum=$(cat "${@/#/$root/ci/frameworks/}" | sha256sum)
  [[ -f $environment/made_from && $(<"$environment/made_from") == "$sum" ]] && return 0
  [[ -e $cuda/libcublas.so.13 ]] || fail "no libcublas.so.13 in $cuda; install a CUDA 13 toolkit, or set CUDA_HOME"
  echo "ci/setup_frameworks.sh: making $environment" >&2
  rm -rf "$environment"
  python3 -m venv "$environment" || fail "python3 -m venv failed; install python3-venv"
  for list in "$@"; do
    "$environment/bin/pip" install --quiet --no-deps --no-cache-dir -r "$root/ci/frameworks/$list" ||
      fail "pip could not install ci/frameworks/$list"
  done
  write_start "$environment"
  "$environment/bin/start" -c 'import torch.distributed.tensor.parallel' || fail "$name does not start"
  echo "$sum" >"$environment/made_from"
}

# Torch looks for NCCL in the library path first, and the toolkit's may be too old for it.
write_start() { # environment
  local packages
  packages=$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s:%s\nexec %s "$@"\n' \
    "$packages/nvidia/nccl/lib" "$cuda" "$1/bin/python" >"$1/bin/start"
  chmod +x "$1/bin/start"
}

mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9 # one at a time
make_environment torch pytorch.txt megatron.txt
echo "$folder/torch/bin/start"
