#!/usr/bin/env bash
# What a reviewer should not have to look for: format, clang-tidy, and the seams that design and headers promise.
# usage: ci/lint.sh [FILE...]    files: clang-tidy for these alone
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
failed=''

complain() { # title, lines
  [[ -z $2 ]] && return 0
  printf '%s\n%s\n\n' "$1" "$2" >&2
  failed=yes
}

check_format() {
  complain 'clang-format -i would change:' "$(git ls-files -z '*.cpp' '*.hpp' '*.cu' '*.cuh' |
    xargs -0 clang-format --dry-run 2>&1 | sed -n 's/:[0-9:]* warning: .*//p' | sort -u)"
}

check_first_lines() {
  local file lines=''
  while read -r file; do
    [[ $(head -n 1 "$file") == '// SPDX-License-Identifier: Apache-2.0' ]] || lines+="$file"$'\n'
  done < <(git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh')
  complain 'The first line is not the licence:' "$lines"
}

includes() { # pattern, paths... : lines that include it
  local pattern=$1
  shift
  git grep -nE "^#include [<\"]($pattern)" -- "$@" || true
}

# Each of these costs seconds per file, or ties the rest to one library.
check_heavy_headers() {
  local mpi='mpi\.h|reference/comm/mpi/api\.hpp' device='cuda|cublas|nccl\.h|reference/compute/cuda_'
  complain 'No header but a fixture of tests includes these:' "$(includes 'nlohmann/|CLI/|gtest/' '*.hpp' ':!*_fixture.hpp')"
  complain 'MPI belongs to its transport, its counter, its benchmark and the mains:' \
    "$(includes "$mpi" . ':!reference/comm/mpi/*' ':!*main.cpp' ':!bench/*mpi*')"
  complain 'CUDA and NCCL belong to files of that name:' "$(includes "$device" . ':!*cuda*' ':!*nccl*')"
}

# Of a framework's own types nothing is known here: it need not be installed.
check_python() {
  local start adapter
  start=$(ci/setup_frameworks.sh lint) || { failed=yes; return; }
  complain 'ruff format would change:' "$("$start" -m ruff format --check -q . 2>&1)"
  complain 'ruff complains:' "$("$start" -m ruff check -q . 2>&1)"
  for adapter in harness/adapters/*/adapter.py; do
    complain "mypy complains of $adapter:" "$(cd "$(dirname "$adapter")" &&
      MYPYPATH=../python:../pytorch "$start" -m mypy --strict --ignore-missing-imports --allow-subclassing-any --no-warn-unused-ignores \
        --no-error-summary adapter.py 2>&1)"
  done
}

tidy_files() {
  if (($# > 0)); then
    printf '%s\0' "$@"
  else # what is built, so that every file has its flags
    git ls-files -z '*.cpp' | while IFS= read -r -d '' file; do
      ! grep -qF "\"file\": \"$root/$file\"" build/compile_commands.json || printf '%s\0' "$file"
    done
  fi
}

ci/setup.sh --lint
cmake --preset release >/dev/null
check_format
check_first_lines
check_heavy_headers
check_python
tidy_files "$@" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p build --quiet --extra-arg=-Wno-unknown-warning-option 2>&1 |
  { grep -vE '^[0-9]+ warnings? generated\.$' || true; } || failed=yes
[[ -z $failed ]] || exit 1
echo "ci/lint.sh: nothing to complain of"
