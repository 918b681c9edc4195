#!/usr/bin/env bash
# Bugs planted in the example of an outside implementation are named by the diagnosis; without one nothing is said.
# usage: planted_example.sh PROGRAM EXAMPLE
set -uo pipefail

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
program=$1 example=$2

# planted NUMBER CODE WORDS...: with that bug the run ends with the code and says the words.
planted() {
  local out code number=$1 demanded=$2
  out=$(timeout 100 mpirun --oversubscribe -np 2 "$program" --implementation "exec:PLANTED=$number exec $example" \
    --gtest_brief --gtest_filter='tensor_parallel.mlp_gelu/tp2_f64')
  code=$?
  [[ $code == "$demanded" ]] || { echo "FAILED: bug $number: exit code $code"; echo "$out"; exit 1; }
  shift 2
  local words
  for words in "$@"; do
    grep -q -e "$words" <<<"$out" || { echo "FAILED: bug $number: not said: $words"; echo "$out"; exit 1; }
  done
}

planted 0 0 '^TP_CONFORMANCE PASS 1/1 '
planted 1 1 'reference with fault TP-01, ' 'such as a bias, is counted T = 2 times'
planted 2 1 'reference with fault TP-41, ' '  dx: .* a sum over the ranks is missing'
planted 3 1 '  grad.fc2.bias: every element is T = 2 times what it should be'
