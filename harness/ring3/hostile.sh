#!/usr/bin/env bash
# A process under test that goes wrong, one way at a time, between cases in which it does not.
# usage: hostile.sh PROGRAM EXAMPLE SITUATION   (a situation is a row below, or killed_rank)
set -uo pipefail

program=$1
example=$2
situation=$3
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# situation | verdict of the case about two ranks | what the message says | verdicts of the other three
situations='
exit_at_start      | error | of rank 1 exited with code 7; its output ends: no licence         | unsupported
exit_in_the_middle | error | exited with code 5; its output ends: out of cheese            | pass
hang               | error | did not answer within 8 s                                     | pass
flood              | error | wrote more than 64 MiB of output for one request               | pass
wrong_json         | error | the answer is no JSON object                                  | pass
lying_header       | error | bytes at .*, its shape .* needs                               | pass
longer_file        | error | the file holds                                                | pass
wrong_dtype        | fail  | y: comes in f32, not f64                                      | pass
wrong_shape        | fail  | y: has the global shape                                       | pass
wrong_layout       | fail  | y: has the global shape                                       | pass
nan                | fail  | got nan                                                       | pass
'

die() {
  printf 'FAILED (%s): %s\n--- output\n' "$situation" "$1"
  cat out err records 2>/dev/null
  exit 1
}

none_left() {
  local i
  for i in {1..50}; do
    pgrep -f "hostile.py $1 $folder" >/dev/null || return 0
    sleep 0.1
  done
  die "processes are left: $(pgrep -af "hostile.py $1 $folder")"
}

filter=''
for tp in 1 2 3 4; do filter+=tensor_parallel.mlp_gelu/tp${tp}_f64:; done
start() { # fault, options...
  local fault=$1
  shift
  timeout 200 mpirun --oversubscribe -np 4 "$program" --gtest_filter="$filter" --records records "$@" \
    --implementation "exec:exec python3 $here/hostile.py $fault $folder $example" >out 2>err
}

# The ranks are gone at once and can clean up nothing.
killed_rank() {
  start hang --deadline 100 &
  local i
  for i in {1..600}; do
    [[ -e hangs ]] && break
    sleep 0.1
  done
  [[ -e hangs ]] || die "it did not come to hang"
  local ranks
  mapfile -t ranks < <(pgrep -f "^$program .*$folder")
  ((${#ranks[@]} == 4)) || die "${#ranks[@]} ranks to kill, expected 4"
  kill -KILL "${ranks[@]}"
  none_left hang
  wait
}

if [[ $situation == killed_rank ]]; then
  killed_rank
  exit 0
fi
IFS='|' read -r _ verdict words others < <(grep "^$situation " <<<"$situations" | sed 's/ *| */|/g')
deadline=60
[[ $situation == hang ]] && deadline=8
start "$situation" --deadline "$deadline"
code=$?
[[ $code == 1 ]] || die "exit code $code, expected 1"
grep -q '^TP_CONFORMANCE FAIL ' out || die "no last line"
grep -q '"kind":"summary"' records || die "the run did not come to its end"
bad=tp2_f64
[[ $situation == exit_at_start ]] && bad=tp1_f64
grep "\"case\":\"tensor_parallel.mlp_gelu/$bad\"" records | grep "\"verdict\":\"$verdict\"" | grep -q "$words" ||
  die "the case is not '$verdict' with '$words'"
[[ $(grep -c "\"verdict\":\"$others\"" records) == 3 ]] || die "the others are not '$others'"
none_left "$situation"
