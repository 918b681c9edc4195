#!/usr/bin/env bash
# tp_bench from the outside: exit codes, files, refusals, the gate with planted faults.
# usage: bench/ring3/check.sh PROGRAM
set -euo pipefail

program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# A model so small that a run is mostly start-up.
small=(--hidden 64 --heads 8 --ffn 128 --batch 2 --seq 16 --samples 3 --seconds 0.5)

expect() { # code, words that must be printed ('' for none), arguments...
  local wanted=$1 words=$2 code=0
  shift 2
  "$program" "$@" >"$work/out" 2>&1 || code=$?
  if ((code != wanted)) || ! grep -qF -- "$words" "$work/out"; then
    echo "FAILED: tp_bench $* ended with $code, wanted $wanted and '$words':"
    tail -n 15 "$work/out"
    failed=1
  fi
}

exists() {
  local file
  for file in "$@"; do
    [[ -s $file ]] || { echo "FAILED: there is no $file" && failed=1; }
  done
}

expect 0 'efficiency' --tp 2,4 "${small[@]}" --out "$work/run" --metrics
exists "$work/run"/{bench.json,bench.csv,google_benchmark.json,report.html}
grep -q '^METRIC step/' "$work/out" || { echo 'FAILED: no metrics' && failed=1; }
expect 0 'bare MPI' collectives --tp 2 --samples 3 --seconds 0.5 --largest 4096
expect 0 'GFLOP/s' gemm --tp 2 "${small[@]}"
expect 0 'nvlink4' predict --model document --dtype bf16 --tp 8
expect 0 'measured:' predict --calibration "$work/run/bench.json" --tp 2 "${small[@]:0:10}"
for sp in on regathered; do expect 0 'ok' --tp 2 "${small[@]}" --sequence-parallel "$sp" --pass forward; done
expect 0 'ok' --tp 2 "${small[@]}" --pass backward --dtype bf16

# Refusals: before anything is measured, with nothing half written.
expect 2 'not divisible' --tp 3 "${small[@]}" --out "$work/refused"
[[ ! -e $work/refused/bench.json ]] || { echo 'FAILED: a refused run left a file' && failed=1; }
expect 2 'nothing would be measured' --tp 2 --samples 0
expect 2 'cannot be made' --tp 2 "${small[@]}" --out /proc/none
expect 2 'unknown' --tp 2 "${small[@]}" --implementation other
expect 2 'neither a file nor a model' --model none
expect 2 'unknown interconnect' predict --interconnect nvlink9

# The gate.
gate=(--tp 2 "${small[@]}" --sequence-parallel off --compare "$work/baselines")
expect 2 '--update-baseline' "${gate[@]}"
expect 0 'is the baseline now' "${gate[@]}" --update-baseline
expect 0 'Compared with' "${gate[@]}"
expect 4 'rank 1 is the straggler' "${gate[@]}" --implementation reference+slow-rank:1:30
expect 4 'exposed communication grew' "${gate[@]}" --implementation reference+slow:all_reduce:200
expect 1 'No rating' "${gate[@]}" --implementation reference+wrong:all_reduce
echo '{"schema": "other"}' >"$work/other.json"
expect 2 "has schema 'other'" --tp 2 "${small[@]}" --compare "$work/other.json"
echo 'no json' >"$work/none.json"
expect 2 'is no JSON' --tp 2 "${small[@]}" --compare "$work/none.json"

# Without gnuplot, and with one that fails.
mkdir "$work/bin"
printf '#!/bin/sh\nexit 7\n' >"$work/bin/gnuplot"
chmod +x "$work/bin/gnuplot"
PATH=$work/bin:$PATH expect 0 'no charts' --tp 2 "${small[@]}" --out "$work/failing"
exists "$work/failing/report.html"
! compgen -G "$work/failing/*.svg*" >/dev/null || { echo 'FAILED: half a chart' && failed=1; }

((failed == 0)) && echo 'tp_bench does what it says'
exit "$failed"
