# shellcheck shell=bash
# Sourced by the checks from the outside: a folder to work in, and what a command is expected to end with and to say.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# A model so small that a run is mostly start-up.
# shellcheck disable=SC2034 # used by those who source it
small=(--hidden 64 --heads 8 --ffn 128 --batch 2 --seq 16 --samples 3 --seconds 0.5)

complain() {
  echo "FAILED: $1"
  failed=1
}

expect() { # code or codes ('0|4'), words that must be printed ('' for none), command...
  local wanted=$1 words=$2 code=0
  shift 2
  "$@" >"$work/out" 2>&1 || code=$?
  if [[ ! $code =~ ^($wanted)$ ]] || ! grep -qF -- "$words" "$work/out"; then
    complain "$* ended with $code, wanted $wanted and '$words':"
    tail -n 25 "$work/out"
  fi
}

# What a busy machine may hide once or twice.
expect_in_three() {
  local before=$failed
  for _ in 1 2 3; do
    failed=0
    expect "$@" >"$work/complaint"
    ((failed == 1)) || break
  done
  ((failed == 0)) || cat "$work/complaint"
  failed=$((failed | before))
}

expect_files() {
  local file
  for file in "$@"; do
    [[ -s $file ]] || complain "there is no $file"
  done
}

conclude() {
  ((failed == 0)) && echo "$1"
  exit "$failed"
}
