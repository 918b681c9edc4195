#!/usr/bin/env bash
# Checks what surrounds a case on eight ranks, one situation at a time.
# usage: check.sh PROGRAM SITUATION   (PROGRAM is built from faulty_main.cpp; a situation is a function below)
set -uo pipefail

program=$1
situation=$2
ranks=8
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

die() {
  echo "FAILED ($situation): $1"
  echo "--- standard output"
  cat out 2>/dev/null
  echo "--- standard error"
  cat err 2>/dev/null
  echo "--- records"
  cat records 2>/dev/null
  exit 1
}

# Leaves the exit code in $code and the output in out and err.
run() { # options...
  code=0
  timeout 120 mpirun --oversubscribe -np "$ranks" "$program" "$@" >out 2>err || code=$?
}
run_itself() { # options...
  code=0
  timeout 120 "$program" --ranks "$ranks" "$@" >out 2>err || code=$?
}
expect_code() { [[ $code == "$1" ]] || die "exit code $code, expected $1"; }
expect_in() { # file, text
  grep -qF -- "$2" "$1" || die "'$2' is not in $1"
}
expect_count() { # file, text, number of lines
  local found
  found=$(grep -cF -- "$2" "$1")
  [[ $found == "$3" ]] || die "'$2' is in $found lines of $1, expected $3"
}
# One line for the user, whatever mpirun adds.
expect_refusal() { # text
  expect_code 2
  expect_count err "tp_conformance: " 1
  expect_in err "$1"
}
expect_last_line() { # beginning
  local last
  last=$(tail -n 1 out)
  [[ $last == "$1"* ]] || die "last line '$last', expected '$1...'"
}

passes() {
  run --records records --junit junit.xml
  expect_code 0
  expect_last_line "TP_CONFORMANCE PASS 20/20 "
  expect_count records '"kind":"provenance"' 1
  expect_count records '"kind":"case"' 20
  expect_count records '"verdict":"pass"' 20
  tail -n 1 records | grep -q '"kind":"summary".*"exit_code":0' || die "the records do not end with the summary"
  expect_count junit.xml '<testcase ' 20
  [[ $(ls) == $'err\njunit.xml\nout\nrecords' ]] || die "files that nobody asked for: $(ls)"
}

brief() {
  run --gtest_brief
  expect_code 0
  expect_count out "RUN" 0
  expect_in out "alpha                     10       0       0            0        0"
}

fewer_ranks() {
  ranks=3
  run --records records
  expect_code 0
  expect_last_line "TP_CONFORMANCE PASS 12/12 "
  expect_count records '"message":"needs 8 ranks and there are 3"' 4
  expect_in out "not run:     4  needs 8 ranks and there are 3"
}

shuffle_and_repeat() {
  run --gtest_shuffle --gtest_repeat=3 --gtest_random_seed=7 --records records
  expect_code 0
  expect_last_line "TP_CONFORMANCE PASS 60/60 "
  local r order=()
  for r in 0 1 2; do
    expect_count records "\"repetition\":$r" 20
    order[r]=$(grep "\"repetition\":$r" records | grep -o '"case":"[^"]*"')
    [[ $(sort -u <<<"${order[r]}" | wc -l) == 20 ]] || die "a case is missing in repetition $r"
  done
  [[ ${order[0]} != "${order[1]}" && ${order[1]} != "${order[2]}" ]] || die "the order is always the same"
}

fail_fast() {
  run --implementation wrong --gtest_fail_fast --records records
  expect_code 1
  expect_count records '"verdict":"fail"' 1
  expect_count records '"verdict":"pass"' 14
  expect_count records '"message":"a case failed before, and --gtest_fail_fast is set"' 5
  expect_count out "Failure" 1
  expect_in out "mpirun -np 8 tp_conformance --gtest_filter=beta.case4/tp8 --seed 1 --implementation wrong"
  expect_last_line "TP_CONFORMANCE FAIL 14/15 "
}

skipped_collective() {
  run --implementation skip --deadline 3 --records records
  expect_code 5
  expect_in records '"case":"beta.case4/tp8"'
  expect_in out "did not arrive: rank 5;"
  expect_in out "rank 4: all_reduce of 1 f64 on first8, call 9"
  expect_in out "rank 5: all_reduce of 1 f64 on first8, call 8"
  expect_count records '"message":"the run ended in beta.case4/tp8"' 5
  expect_count records '"kind":"summary"' 1
  expect_last_line "TP_CONFORMANCE FAIL 14/15 "
}

extra_collective() {
  run --implementation extra --records records
  expect_code 5
  expect_in out "unequal numbers of calls on first8"
  expect_count records '"verdict":"pass"' 19
}

throwing_rank() {
  run --implementation throw --records records
  expect_code 5
  expect_in out "rank 5: no such shard"
  expect_count records '"verdict":"error"' 1
  expect_count records '"verdict":"pass"' 19
}

ranks_that_disagree() {
  run --implementation refuse --records records
  expect_code 1
  expect_in out "ranks disagree: "
  expect_count records '"verdict":"pass"' 19
}

failing_environment() {
  run --implementation environment --records records
  expect_code 3
  expect_in out "rank 5: cannot allocate: no memory left; use fewer ranks"
}

lost_rank() {
  run --implementation die --records records
  expect_code 137
  expect_in err "tp_conformance: rank 5 was lost; beta.case4/tp8 was running"
  expect_count records '"verdict":"pass"' 14
  expect_count records '"message":"rank 5 was lost"' 1
  [[ $(tail -c 1 records | od -An -c | tr -d ' ') == '\n' ]] || die "the last record is cut short"
}

stuck_rank() {
  run --implementation hang --deadline 3 --records records
  expect_code 5
  expect_in out "did not arrive: rank 5;"
  expect_count records '"verdict":"pass"' 14
}

stuck_rank_0() {
  run --implementation hang0 --deadline 3 --records records
  expect_code 5
  expect_count err "did not arrive: " 1
  expect_in err "did not arrive: rank 0"
  expect_in err "beta.case4/tp8 was running"
  expect_count records '"verdict":"pass"' 14
}

refusals() {
  run --bogus
  expect_refusal "unknown: --bogus; see --help"
  run --gtest_output=xml:here.xml
  expect_refusal "use --junit FILE"
  run --gtest_filter=nothing
  expect_refusal "--gtest_filter=nothing matches none of the 20 cases; see --list"
  run --records missing/records
  expect_refusal "cannot write records to missing/records: No such file or directory"
  run --junit missing/junit.xml
  expect_refusal "cannot write missing/junit.xml"
  run --tp 2,16
  expect_refusal "--tp 16 needs 16 ranks and there are 8"
  run --ranks 4
  expect_refusal "--ranks 4 under an mpirun of 8"
  run --model missing.json
  expect_refusal "missing.json"
  run --explain beta.case4
  expect_refusal "did you mean beta.case4/tp8"
}

full_disk() {
  run --records /dev/full
  expect_code 3
  expect_in err "cannot write /dev/full: No space left on device"
}

# The provenance and some records fit, the rest does not.
disk_that_fills_up() {
  head -c $((16 * 1024 * 1024 - 2500)) /dev/zero | tr '\0' '\n' >records
  (ulimit -f $((16 * 1024)) && run --records "$PWD/records" && echo "$code" >code)
  code=$(<code)
  expect_code 3
  expect_in err "cannot write $PWD/records: File too large"
  expect_count out "TP_CONFORMANCE" 0
  [[ $(tail -c 1 records | od -An -c | tr -d ' ') == '\n' ]] || die "the last record is cut short"
  sed -i '/^$/d' records
  expect_count records '"kind":"provenance"' 1
  expect_count records '"kind":"summary"' 0
}

rank_0_rules() {
  code=0
  GTEST_OUTPUT=xml GTEST_FILTER=none GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=0 timeout 120 mpirun --oversubscribe \
    -np 1 "$program" --records records : -np 7 "$program" --bogus --gtest_shuffle >out 2>err || code=$?
  expect_code 0
  expect_last_line "TP_CONFORMANCE PASS 20/20 "
  [[ $(ls) == $'err\nout\nrecords' ]] || die "files that nobody asked for: $(ls)"
}

listing() {
  run --list --gtest_filter='*tp8'
  expect_code 0
  [[ $(<out) == $'alpha.case4/tp8\nalpha.case9/tp8\nbeta.case4/tp8\nbeta.case9/tp8' ]] || die "another list"
  run --gtest_list_tests --gtest_filter='beta.*tp8'
  [[ $(<out) == $'beta.\n  case4/tp8\n  case9/tp8' ]] || die "another list of GoogleTest's"
  run --explain beta.case4/tp8
  expect_in out "the ranks add up to 1"
  run --version
  expect_in out "tp_conformance "
}

launched() {
  run_itself --records records
  expect_code 0
  expect_last_line "TP_CONFORMANCE PASS 20/20 "
  run_itself --implementation wrong
  expect_code 1
  run_itself --bogus
  expect_code 2
  run_itself --gtest_filter=nothing
  expect_code 2
  run_itself --implementation skip --deadline 3
  expect_code 5
  run_itself --implementation die
  expect_code 6
  code=0
  mkdir empty
  PATH=$folder/empty "$program" --ranks 2 >out 2>err || code=$?
  expect_code 3
  expect_in err "cannot start mpirun"
  expect_nothing_left
}

# Sorted. What other runs on this machine left, or hold at the moment, is not this one's business.
run_folders() { find /dev/shm /tmp -maxdepth 1 -name 'tpc-run-*' 2>/dev/null | sort; }
folders_before=$(run_folders)

expect_nothing_left() {
  local left
  left=$(pgrep -f "^$program" | tr '\n' ' ')
  [[ -z $left ]] || die "processes left: $left"
  left=$(comm -13 <(printf '%s\n' "$folders_before") <(run_folders))
  [[ -z $left ]] || die "folders left: $left"
}

# Told to end in the middle of a case.
start_slowly() { # command...
  "$@" --implementation slow --records records >out 2>err &
  pid=$!
  local tries=0
  until [[ $(grep -c '"kind":"case"' records 2>/dev/null) == 14 ]]; do
    ((++tries < 600)) || die "the run never reached the slow case"
    sleep 0.1
  done
}

interrupted() {
  start_slowly "$program" --ranks "$ranks"
  kill -TERM "$pid"
  code=0
  wait "$pid" || code=$?
  expect_code 130
  expect_in err "tp_conformance: interrupted; beta.case4/tp8 was running"
  expect_count records '"kind":"case"' 15
  expect_nothing_left
}

interrupted_mpirun() {
  start_slowly mpirun --oversubscribe -np "$ranks" "$program"
  kill -TERM "$pid"
  wait "$pid"
  expect_in err "tp_conformance: interrupted; beta.case4/tp8 was running"
  expect_count records '"kind":"case"' 15
}

# Nobody is left to end the ranks but themselves.
killed_mpirun() {
  start_slowly mpirun --oversubscribe -np "$ranks" "$program"
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
  local tries=0
  while pgrep -f "^$program" >/dev/null; do
    ((++tries < 300)) || die "ranks outlived mpirun"
    sleep 0.1
  done
  expect_count records '"kind":"case"' 15
}

# Of wrong_main.cpp: one that fails is drawn, shrunk to the smallest there is, and fails again when replayed.
smallest_wrong='op=column_linear,tp=2,seq=3,ffn=2,mlp_bias=1'
shrinks() {
  ranks=4
  run --random 12 --tier f64 --implementation wrong --gtest_filter='*n0_*:*n1_*:*mlp/tp*' --records records
  expect_code 1
  expect_in out "the smallest that still fails, after"
  local line
  line=$(grep -m 1 -F -A 2 "attempts: $smallest_wrong" out | tail -n 1)
  [[ $line == "  mpirun -np 2 tp_conformance --case $smallest_wrong --seed 1 --implementation wrong" ]] || die "the replay is '$line'"
  ranks=2
  run ${line#*tp_conformance }
  expect_code 1
  expect_in out "this one, after"
  run --case "${smallest_wrong/,mlp_bias=1/}" --implementation wrong
  expect_code 0
  run --case op=mlp,size=3
  expect_refusal "'size' is no option of a case"
  run --case op=mlp --random 3
  expect_refusal "--case and --random exclude each other"
}

# Wrong in one way that is known, in two ways of which one is, in one that nobody asks about; and right.
diagnoses() {
  ranks=2
  local case='op=column_linear,tp=2,seq=3,ffn=2,mlp_bias=1'
  run --case "$case" --implementation wrong --records records
  expect_code 1
  expect_in out 'first wrong: y [3, 1, 2]: 1 of 6 elements are wrong, on rank 1 (tp 1 of 2), within [0, 0, 1]'
  expect_in out 'your output equals the reference with fault W-1, one element is off (nobody/nothing #1), to the bit'
  expect_count out 'W-2' 0
  expect_count records '"diagnosis":"diagnosis:\n  first wrong: y' 1
  run --case "$case" --implementation wrong_twice
  expect_in out 'fault W-1, one element is off (nobody/nothing #1) explains y, to the bit, but not grad.weight'
  expect_count out 'your output equals' 0
  run --case "$case" --implementation wrong --diagnose off
  expect_code 1
  expect_count out 'diagnosis' 0
  run --case "$case"
  expect_code 0
  expect_count out 'diagnosis' 0
  run --case "${case/column_linear/transformer_layer},hidden=2,heads=2,kv_heads=2" --implementation wrong
  expect_in out 'layer by layer, the first that fails is mlp: rank 1'
  expect_in out '    run it alone: mpirun -np 2 tp_conformance --case op=mlp,tp=2,seq=3,hidden=2,ffn=2,mlp_bias=1 --seed 1'
  expect_in out '    your output equals the reference with fault W-1'
  run --gtest_filter=invalid.model/sequence_23_tp2_kept --implementation careless
  expect_code 5 # its ranks part
  expect_in out 'it has to be, before the first call, with a reason that names 23, 2'
  expect_in out 'what cannot be done is not refused, as by the reference with fault W-3'
  expect_count out 'layer by layer' 0
  run --case "$case" --diagnose some
  expect_refusal "--diagnose some: give a number of failures, all or off"
}

"$situation"
echo "passed: $situation"
