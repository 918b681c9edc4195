# shellcheck shell=bash disable=SC2154 # root is of whoever sources it
# Sourced: what the diagnosis says of an adapter.
# usage: diagnosis_of COMMAND OPTION...    options of mpirun first: -np N
# Prints the diagnosis, or that nothing fails. Status 3, with the log, where there was no verdict.
diagnosis_of() {
  local command=$1 log
  shift
  log=$(timeout 300 mpirun --oversubscribe "${@:1:2}" "$root/build/bin/tp_conformance" "${@:3}" --gtest_brief --diagnose all \
    --deadline 90 --start-deadline 240 --implementation "exec:exec $command" 2>&1 </dev/null)
  case $? in
    0) echo 'nothing fails' ;;
    1) sed -n '/^diagnosis:/,/^run it alone:/p' <<<"$log" | sed '1d; /^run it alone:/d' ;;
    *) echo "$log" >&2; return 3 ;;
  esac
}
