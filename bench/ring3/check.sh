#!/usr/bin/env bash
# tp_bench from the outside: exit codes, files, refusals. Never a time.
# usage: bench/ring3/check.sh PROGRAM
set -euo pipefail

program=$1
# shellcheck source=bench/ring3/expect.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/expect.sh"
# shellcheck disable=SC2317 # called by expect
bench() { "$program" "$@"; }

expect 0 'efficiency' bench --tp 2,4 "${small[@]}" --out "$work/run" --metrics
expect_files "$work/run"/{bench.json,bench.csv,google_benchmark.json,report.html}
grep -q '^METRIC step/' "$work/out" || complain 'no metrics'
expect 0 'bare MPI' bench collectives --tp 2 --samples 3 --seconds 0.5 --largest 4096
expect 0 'GFLOP/s' bench gemm --tp 2 "${small[@]}"
expect 0 'nvlink4' bench predict --model document --dtype bf16 --tp 8
expect 0 'measured:' bench predict --calibration "$work/run/bench.json" --tp 2 "${small[@]:0:10}"
for sp in on regathered; do expect 0 'ok' bench --tp 2 "${small[@]}" --sequence-parallel "$sp" --pass forward; done
expect 0 'ok' bench --tp 2 "${small[@]}" --pass backward --dtype bf16

# Refusals: before anything is measured, with nothing half written.
expect 2 'not divisible' bench --tp 3 "${small[@]}" --out "$work/refused"
[[ ! -e $work/refused/bench.json ]] || complain 'a refused run left a file'
expect 2 'nothing would be measured' bench --tp 2 --samples 0
expect 2 'cannot be made' bench --tp 2 "${small[@]}" --out /proc/none
expect 2 'unknown' bench --tp 2 "${small[@]}" --implementation other
expect 2 'neither a file nor a model' bench --model none
expect 2 'no bus bandwidth' bench collectives --tp 1
expect 0 'nothing went over a network' bench --tp 2 "${small[@]}" --link-gbit 1
expect 1 'on a link of' bench collectives --tp 2 --samples 3 --seconds 0.5 --largest 4194304 --transport tcp --link-gbit 0.001
expect 1 "% of the device's peak" bench --tp 2 "${small[@]}" --peak-gflops 0.001
expect 2 'give at least 2' bench --tp 2 "${small[@]}" --compare "$work" --launches 1
expect 2 'rate needs --compare' bench rate "$work/run"
echo 'no json' >"$work/broken.json"
expect 2 'is no JSON' bench rate --compare "$work/run/bench.json" "$work/broken.json"
expect '0|4' 'rows slower' bench rate --compare "$work/run/bench.json" "$work/run" "$work/run"
expect 2 'unknown interconnect' bench predict --interconnect nvlink9
echo '{"schema": "other"}' >"$work/other.json"
expect 2 "has schema 'other'" bench --tp 2 "${small[@]}" --compare "$work/other.json"
echo 'no json' >"$work/none.json"
expect 2 'is no JSON' bench --tp 2 "${small[@]}" --compare "$work/none.json"

# Without gnuplot, and with one that fails.
mkdir "$work/bin"
printf '#!/bin/sh\nexit 7\n' >"$work/bin/gnuplot"
chmod +x "$work/bin/gnuplot"
PATH=$work/bin:$PATH expect 0 'no charts' bench --tp 2 "${small[@]}" --out "$work/failing"
expect_files "$work/failing/report.html"
! compgen -G "$work/failing/*.svg*" >/dev/null || complain 'half a chart'

conclude 'tp_bench does what it says'
