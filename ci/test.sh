#!/usr/bin/env bash
# All tests of the suite itself: installs what is missing, builds, runs ctest, whose lines are the last ones.
# usage: ci/test.sh [--sanitize | --frameworks] [--lint]
#   without options  rings 1 to 3 (CONTRIBUTING.md) in release mode
#   --sanitize       instead: rings 1 and 2 under address and undefined-behaviour sanitizers, ring 2 under the thread
#                    sanitizer
#   --frameworks     instead: the frameworks of the field, held against results/expectations/; whether the diagnosis names
#                    known defects of theirs, and bugs planted in the adapter of PyTorch
#   --lint           ci/lint.sh first
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

presets=(release)
lint=''
frameworks=''
for option in "$@"; do
  case $option in
    --sanitize) presets=(asan tsan) ;;
    --frameworks) frameworks=yes ;;
    --lint) lint=--lint ;;
    *)
      sed -n 's/^# \?//; 2,9p' "${BASH_SOURCE[0]}" >&2
      exit 2
      ;;
  esac
done

# Thread sanitizer's runtime needs its own place in memory, which the kernel's random layout may take.
without_random_layout() {
  if setarch "$(uname -m)" --addr-no-randomize true 2>/dev/null; then
    setarch "$(uname -m)" --addr-no-randomize "$@"
  else
    "$@"
  fi
}

ci/setup.sh
# shellcheck source=ci/environment.sh
source ci/environment.sh
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
[[ -z $lint ]] || ci/lint.sh

# An expectation file is called after the adapter that it is about.
test_frameworks() {
  local file run runs failed=''
  cmake --preset release
  cmake --build --preset release --target tp_conformance tp_bench tp_child_guard
  for file in results/expectations/*.json; do
    runs=('4 *') # ranks and filter
    case $(basename "$file") in
      pytorch-*) runs=('2 *' '4 *' '8 *tp8_*:mesh.*') ;;
      megatron-*) runs=('4 *' '8 dropout.masks/megatron_*') ;;
      # JAX compiles every case anew: seconds each.
      jax-*) runs=('4 tensor_parallel.*tp2_f64:tensor_parallel.*tp4_f64:loss_parallel.*tp2_f64*') ;;
    esac
    for run in "${runs[@]}"; do
      hold_against "$file" "${run%% *}" "${run#* }" || failed+=" $file on ${run%% *} ranks"
    done
  done
  time_pytorch || failed+=' the timing of pytorch'
  [[ -z $failed ]] || { echo "ci/test.sh: against expectations:$failed" >&2; return 1; }
}
hold_against() { # FILE RANKS FILTER
  local adapter start
  adapter=$(basename "${1%%-*}")
  start=$(ci/setup_frameworks.sh "$adapter") || return
  echo "== $adapter on $2 ranks, held against $1"
  build/bin/tp_conformance --ranks "$2" --gtest_brief --gtest_filter="$3" --deadline 90 --start-deadline 300 --expectations "$1" \
    --implementation "exec:exec $start $root/harness/adapters/$adapter/adapter.py"
}
# A row is there and was found correct; how fast it is, is nothing to test.
time_pytorch() {
  local table
  echo '== pytorch, timed beside the reference'
  table=$(build/bin/tp_bench --tp 2 --hidden 128 --heads 8 --ffn 512 --seq 64 --seconds 6 \
    --implementation "exec:exec $(ci/setup_frameworks.sh pytorch) $root/harness/adapters/pytorch/adapter.py")
  echo "$table"
  grep -qE '^ *pytorch +2 .* ok$' <<<"$table"
}
if [[ -n $frameworks ]]; then
  test_frameworks
  ci/known_defects.sh
  ci/planted.sh
  exit
fi

for preset in "${presets[@]}"; do
  cmake --preset "$preset"
  cmake --build --preset "$preset"
  without_random_layout ctest --preset "$preset"
done
