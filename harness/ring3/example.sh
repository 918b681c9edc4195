#!/usr/bin/env bash
# The example of an outside implementation is judged right; one that answers nothing is no pass.
# usage: example.sh PROGRAM EXAMPLE
set -uo pipefail

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
out=$(timeout 200 mpirun --oversubscribe -np 4 "$1" --implementation "exec:$2" --gtest_brief \
  --gtest_filter='tensor_parallel.mlp_gelu/*') || { echo "FAILED: exit code $?"; echo "$out"; exit 1; }
grep -q '^TP_CONFORMANCE PASS 8/8 ' <<<"$out" || { echo "FAILED: not 8 of 8"; echo "$out"; exit 1; }
out=$(timeout 200 mpirun --oversubscribe -np 4 "$1" --implementation "exec:$2" --gtest_brief \
  --gtest_filter='tensor_parallel.row_linear/*')
code=$?
[[ $code == 2 ]] && grep -q '^nothing was compared' <<<"$out" || { echo "FAILED: code $code"; echo "$out"; exit 1; }
