#!/usr/bin/env bash
# The main job: installs what is missing, builds, and runs mpirun -np 8 build/bin/tp_conformance.
# usage: [RANKS=8] ci/conformance.sh [options of tp_conformance]
# Exit codes are tp_conformance's (README.md); what mpirun makes of them is turned back: 3 where it cannot start the
# ranks at all, 6 where a rank was lost, 130 where the run was interrupted.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
ranks=${RANKS:-8}
program=$root/build/bin/tp_conformance

environment_failed() {
  echo "ci/conformance.sh: $1" >&2
  exit 3
}

build() { # stdout is the program's alone
  cd "$root" && cmake --preset release && cmake --build --preset release --target tp_conformance
}

# Mpirun gets a process group of its own, so that an interrupt at the terminal reaches this script alone, which then
# ends mpirun in the one way that takes the ranks along.
mpirun_pid=''
# shellcheck disable=SC2317 # called by the trap
interrupt() {
  interrupted=yes
  [[ -z $mpirun_pid ]] || kill -TERM "$mpirun_pid" 2>/dev/null || true
}
run_ranks() { # program, options... : leaves mpirun's code in $code, however often a signal came in between
  set -m
  mpirun -np "$ranks" "$@" </dev/null &
  mpirun_pid=$!
  set +m
  [[ -z $interrupted ]] || interrupt
  while true; do
    code=0
    wait "$mpirun_pid" || code=$?
    kill -0 "$mpirun_pid" 2>/dev/null || break
  done
  [[ -z $interrupted ]] || exit 130
}

if [[ ! $ranks =~ ^[1-9][0-9]*$ ]]; then
  echo "ci/conformance.sh: RANKS=$ranks is not a number of ranks" >&2
  exit 2
fi
"$root/ci/setup.sh"
(build) >&2 || environment_failed "the build failed"
# shellcheck source=ci/environment.sh
source "$root/ci/environment.sh"
interrupted=''
trap interrupt INT TERM HUP
# A code of 1 would be mpirun's refusal as well as a failed case; so refusals are provoked before.
run_ranks true
((code == 0)) || environment_failed "mpirun cannot start $ranks ranks"
run_ranks "$program" "$@"
if ((code > 128)); then
  echo "ci/conformance.sh: a rank was lost to signal $((code - 128)) ($(kill -l "$code"))" >&2
  exit 6
fi
exit "$code"
