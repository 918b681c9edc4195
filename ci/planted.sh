#!/usr/bin/env bash
# Puts the diagnosis to the test on code that the suite has never seen: bugs are planted in the adapter of PyTorch, each a
# patch of ci/frameworks/planted/ for a copy of it, and the diagnosis has to name them.
# usage: ci/planted.sh [PATTERN]    the patches whose name begins with PATTERN [all]
# A patch begins with what is planted, the options of the run that meets it ("run: ") and a regular expression for
# what the diagnosis has to say ("right: "). The diagnosis grew with most of them, and keeps what it
# can; results/expectations/README.md says how many it named when it first met them.
# Exit codes: 0 at least 8 in 10 are named, 1 fewer, 2 usage, 3 the environment or a patch is broken.
set -uo pipefail

(($# <= 1)) || {
  sed -n 's/^# \?//; 2,8p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
shopt -s nullglob
patches=("$root/ci/frameworks/planted/${1-}"*.patch)
((${#patches[@]} > 0)) || { echo "ci/planted.sh: no patch ci/frameworks/planted/${1-}*.patch" >&2; exit 2; }
# shellcheck source=ci/environment.sh
source "$root/ci/environment.sh"
# shellcheck source=ci/frameworks/diagnosis.sh
source "$root/ci/frameworks/diagnosis.sh"
start=$("$root/ci/setup_frameworks.sh" pytorch) || exit 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

field() { sed -n "s/^$1: //p; /^---/q" "$2"; }

diagnosis_with() { # patch
  local copy options
  copy=$folder/$(basename "$1" .patch)
  mkdir "$copy"
  cp -r "$root/harness/adapters/pytorch" "$root/harness/adapters/python" "$copy"
  (cd "$copy" && git apply -p0 "$1") >&2 || return 3
  read -ra options <<<"$(field run "$1")"
  diagnosis_of "$start $copy/pytorch/adapter.py" "${options[@]}"
}

named=0
for patch in "${patches[@]}"; do
  said=$(diagnosis_with "$patch") || { echo "ci/planted.sh: $patch was not tried" >&2; exit 3; }
  answer=$(grep -m 1 -E "$(field right "$patch")" <<<"$said") && result=named && ((++named)) || result='NOT NAMED'
  printf '%-36s %-9s %.220s\n' "$(basename "$patch" .patch)" "$result" "${answer:-$said}"
done
echo "$named of ${#patches[@]} planted bugs are named"
((named * 10 >= ${#patches[@]} * 8)) || exit 1
