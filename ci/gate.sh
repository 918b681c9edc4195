#!/usr/bin/env bash
# The gate for a change of MPI, BLAS, driver, NCCL or framework: proves with tp_conformance, then measures with tp_bench
# and compares with a baseline of the same hardware.
# usage: [RANKS=8] [BASELINE=baselines] [OUT=gate] ci/gate.sh [options of tp_bench]
#   --update-baseline             makes this run the baseline, once it was proved correct
#   --implementation exec:COMMAND proves COMMAND instead of the reference, and times it beside that
#   --expectations FILE           of it: what it must pass, and which failures are explained (results/expectations/)
# RANKS are those of the proof, BASELINE a folder (or one file), OUT where reports go, CONFORMANCE further options of
# tp_conformance and BENCH of tp_bench. PROGRAMS=FOLDER takes programs that are built already; without it packages are
# installed and they are built.
# Exit codes: 0 correct, and not slower than the baseline; 1 not correct; 4 slower; 2 usage, or no baseline; the others
# as README.md lists them.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
ranks=${RANKS:-8}
baseline=${BASELINE:-baselines}
out=${OUT:-gate}
programs=${PROGRAMS:-}
read -ra conformance <<<"${CONFORMANCE:-}"
read -ra bench <<<"${BENCH:-}"

# An outside implementation is proved too; what is expected of it is no matter of tp_bench's.
options=()
outside=''
while (($# > 0)); do
  case $1 in
    --implementation | --expectations) # as --option=value from here on
      (($# > 1)) || { echo "ci/gate.sh: $1 needs a value" >&2; exit 2; }
      set -- "$1=$2" "${@:3}"
      continue
      ;;
    --implementation=exec:*) outside=$1 conformance+=("$1") ;;
    --expectations=*) conformance+=("$1") ;;
    *) options+=("$1") ;;
  esac
  shift
done

finish() { # code, what is to be said
  echo "GATE $([[ $1 == 0 ]] && echo PASS || echo FAIL): $2"
  exit "$1"
}
build() {
  "$root/ci/setup.sh"
  (cd "$root" && cmake --preset release && cmake --build --preset release --target tp_conformance tp_bench) >&2
}

if [[ ! $ranks =~ ^[1-9][0-9]*$ ]]; then
  echo "ci/gate.sh: RANKS=$ranks is not a number of ranks" >&2
  exit 2
fi
if [[ -z $programs ]]; then
  build || finish 3 'the build failed'
  programs=$root/build/bin
fi
# shellcheck source=ci/environment.sh
source "$root/ci/environment.sh"
mkdir -p "$out" || finish 2 "OUT=$out cannot be made"
rm -f "$out/conformance.jsonl" "$out/conformance.xml" # records are appended

code=0
"$programs/tp_conformance" --ranks "$ranks" --records "$out/conformance.jsonl" --junit "$out/conformance.xml" \
  "${conformance[@]}" || code=$?
((code == 0)) || finish "$code" "tp_conformance ended with $code; no rating"

[[ -z $outside ]] || options+=("$outside") # timed beside the reference
"$programs/tp_bench" --compare "$baseline" --out "$out/bench" --metrics "${bench[@]}" "${options[@]}" || code=$?
case $code in
  0) finish 0 "correct, and no slower than $baseline" ;;
  1) finish 1 'tp_bench computed something wrong; no rating' ;;
  2) finish 2 "tp_bench could not compare with $baseline (above); a baseline is made by ci/gate.sh --update-baseline" ;;
  4) finish 4 'slower than the baseline' ;;
  *) finish "$code" "tp_bench ended with $code" ;;
esac
