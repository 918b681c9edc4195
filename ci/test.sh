#!/usr/bin/env bash
# All tests of the suite itself: installs what is missing, builds, runs ctest, whose lines are the last ones.
# usage: ci/test.sh [--sanitize] [--lint]
#   without options  rings 1 to 3 (CONTRIBUTING.md) in release mode
#   --sanitize       instead: rings 1 and 2 under address and undefined-behaviour sanitizers, ring 2 under the thread
#                    sanitizer
#   --lint           ci/lint.sh first
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

presets=(release)
lint=''
for option in "$@"; do
  case $option in
    --sanitize) presets=(asan tsan) ;;
    --lint) lint=--lint ;;
    *)
      sed -n 's/^# \?//; 2,7p' "${BASH_SOURCE[0]}" >&2
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
for preset in "${presets[@]}"; do
  cmake --preset "$preset"
  cmake --build --preset "$preset"
  without_random_layout ctest --preset "$preset"
done
