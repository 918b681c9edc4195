#!/usr/bin/env bash
# Makes the Python environments of the frameworks under test, once, outside the tree, with pinned versions, and prints
# what to start ADAPTER with. Torch's wheels are CUDA builds: the toolkit's libraries stand in for gigabytes of wheels.
# usage: ci/setup_frameworks.sh ADAPTER    pytorch, megatron or jax; or lint, what ci/lint.sh checks Python with
# Environments go to $TPC_FRAMEWORKS [~/.cache/tp_conformance/frameworks].
# Exit codes: 0 all is there, 2 usage, 3 something is missing and could not be installed.
set -euo pipefail

usage() {
  sed -n 's/^# \?//; 2,6p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
(($# == 1)) || usage
case $1 in
  pytorch | megatron) name=torch lists=(pytorch.txt megatron.txt) test='import megatron.core, torch.distributed.tensor.parallel' ;;
  jax) name=jax lists=(jax.txt) test='import jax' ;;
  lint) name=lint lists=(lint.txt) test='import mypy' ;;
  *) usage ;;
esac
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
folder=${TPC_FRAMEWORKS:-${XDG_CACHE_HOME:-$HOME/.cache}/tp_conformance/frameworks}
cuda=${CUDA_HOME:-/usr/local/cuda}/lib64

fail() {
  echo "ci/setup_frameworks.sh: $1" >&2
  exit 3
}

# Torch looks for NCCL in the library path first, and the toolkit's may be too old for it.
write_start() {
  local packages
  packages=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  {
    echo '#!/bin/sh'
    [[ $name != torch ]] || echo "export LD_LIBRARY_PATH=$packages/nvidia/nccl/lib:$cuda"
    echo "exec $environment/bin/python \"\$@\""
  } >"$environment/bin/start"
  chmod +x "$environment/bin/start"
}

make_environment() {
  local list
  [[ $name != torch || -e $cuda/libcublas.so.13 ]] ||
    fail "no libcublas.so.13 in $cuda; install a CUDA 13 toolkit, or set CUDA_HOME"
  echo "ci/setup_frameworks.sh: making $environment" >&2
  rm -rf "$environment"
  python3 -m venv "$environment" || fail 'python3 -m venv failed; install python3-venv'
  for list in "${lists[@]}"; do
    "$environment/bin/pip" install --quiet --no-deps --no-cache-dir -r "$root/ci/frameworks/$list" >&2 ||
      fail "pip could not install ci/frameworks/$list"
  done
  write_start
  "$environment/bin/start" -W ignore -c "$test" || fail "the environment of $name does not start"
}

# It is complete when it carries the sum of the lists that it was made from.
mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9 # one at a time
environment=$folder/$name
sum=$(cat "${lists[@]/#/$root/ci/frameworks/}" | sha256sum)
if [[ ! -f $environment/made_from || $(<"$environment/made_from") != "$sum" ]]; then
  make_environment
  echo "$sum" >"$environment/made_from"
fi
echo "$environment/bin/start"
