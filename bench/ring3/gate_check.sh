#!/usr/bin/env bash
# ci/gate.sh from the outside: what it lets pass, what it stops, whom it names. Whatever depends on time is planted
# so large that no machine is too busy to show it, and may be tried three times.
# usage: bench/ring3/gate_check.sh PROGRAMS    the folder of tp_conformance and tp_bench
set -euo pipefail

# shellcheck source=bench/ring3/expect.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/expect.sh"
export PROGRAMS=$1 RANKS=2 BASELINE=$work/baselines OUT=$work/out_of_gate
export CONFORMANCE='--gtest_filter=tensor_parallel.column_linear/tp2_f64'
# shellcheck disable=SC2317 # called by expect
gate() { "$(dirname -- "${BASH_SOURCE[0]}")/../../ci/gate.sh" --tp 2 "${small[@]}" --launches 3 --samples 20 --sequence-parallel off "$@"; }

expect 2 '--update-baseline' gate
expect 0 'is the baseline now' gate --update-baseline
expect_in_three 0 'GATE PASS' gate
expect_files "$OUT"/{conformance.jsonl,conformance.xml} "$OUT"/bench/{bench.json,report.html}
expect_in_three 4 'rank 1 is the straggler' gate --implementation reference+slow-rank:1:100
expect_in_three 4 'exposed communication grew' gate --implementation reference+slow:all_reduce:100
expect 1 'No rating' gate --implementation reference+wrong:all_reduce

# A baseline of other versions is used, and said to be one, whatever comes out.
baseline=$(compgen -G "$BASELINE/*/*.json")
sed 's/"mpi": "[^"]*"/"mpi": "another MPI"/' "$baseline" >"${baseline%/*}/other.json"
rm "$baseline"
expect '0|4' 'of other library versions' gate
grep -q 'changed: MPI: another MPI -> ' "$work/out" || complain 'what changed is not said'

# No rating without conformance: tp_bench is not even started.
mkdir "$work/programs"
printf '#!/bin/sh\necho benchmarked\n' >"$work/programs/tp_bench"
for code in 1 5; do
  printf '#!/bin/sh\nexit %s\n' "$code" >"$work/programs/tp_conformance"
  chmod +x "$work/programs"/*
  PROGRAMS=$work/programs expect "$code" 'no rating' gate
  ! grep -q benchmarked "$work/out" || complain 'it was rated all the same'
done

# An outside implementation and what is expected of it go to tp_conformance; tp_bench is given what it understands.
own=$work/outside example=$PROGRAMS/tp_example_adapter
mkdir "$own"
ln -s "$PROGRAMS"/tp_conformance "$own"
expectations() { # must-pass pattern
  printf '{"implementation": "example", "must_pass": ["%s"], "waivers": []}\n' "$1" >"$work/expectations.json"
}
# shellcheck disable=SC2016 # expanded by the stand-in
printf '#!/bin/sh\necho "benchmarked: $*"\n' >"$own/tp_bench"
chmod +x "$own/tp_bench"
# shellcheck disable=SC2317 # called by expect
outside() {
  CONFORMANCE='--gtest_filter=tensor_parallel.mlp_gelu/tp2_f64:tensor_parallel.row_linear/tp2_f64' PROGRAMS=$own \
    gate --expectations "$work/expectations.json" --implementation="exec:$example"
}
expectations 'tensor_parallel.mlp_gelu/tp2_f64'
expect 0 'GATE PASS' outside
grep -q 'expectations of example .*: 0 failures explained, 0 violations' "$work/out" || complain 'it was not held against them'
grep -q 'benchmarked: .*--tp 2' "$work/out" || complain 'it was not rated'
! grep -q 'benchmarked: .*expectations' "$work/out" || complain 'tp_bench was given what it does not know'
grep -q 'benchmarked: .*--implementation=exec:' "$work/out" || complain 'tp_bench was not given what it can time'
expectations 'tensor_parallel.row_linear/tp2_f64'
expect 1 'must pass, and is unsupported' outside
grep -q 'no rating' "$work/out" || complain 'it was rated all the same'
expect 2 'needs a value' gate --expectations

conclude 'the gate stops what it should'
