#!/usr/bin/env bash
# Ring 3: what cmake --install puts under a prefix works from any folder, wherever the prefix is moved, on its own data.
# usage: ci/installed_test.sh BUILD_FOLDER
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
build=$1
# shellcheck source=ci/environment.sh
source "$root/ci/environment.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "ci/installed_test.sh: $1" >&2
  exit 1
}

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
mkdir "$work/elsewhere"
cd "$work/elsewhere"
export PATH=$work/moved/bin:$PATH

mpirun -np 2 tp_conformance --gtest_filter='tensor_parallel.column_linear/tp2_f64' ||
  fail "the installed program does not pass"
[[ -z $(ls -A) ]] || fail "the program left files where it was run: $(ls -A)"

# Whose data it reads shows when they are broken.
model=share/tp_conformance/models/gpt2.json
echo '{' >"$work/moved/$model"
if message=$(tp_conformance --list 2>&1); then
  fail "a broken installed model went unnoticed"
fi
[[ $message == *"moved/$model"* ]] || fail "the installed model is not the one that was read: $message"
