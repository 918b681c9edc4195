#!/usr/bin/env bash
# Defects with a public report that released frameworks still have: each has to fail its case, and to be named by the
# diagnosis. results/expectations/README.md has the reports.
# usage: ci/known_defects.sh
# Exit codes: 0 all are named, 1 one is not, 2 usage, 3 an environment or a run is broken.
set -uo pipefail

# Adapter, ranks, case, and a regular expression for what the diagnosis has to say.
defects='
megatron 2 loss_parallel.vocab_cross_entropy/tp2_f32_smoothed_other reference with fault TP-42\+TP-42b,
pytorch 2 init.gpt2/dtensor_tp2_f64 reads as that of the reference with fault TP-91,
pytorch 2 invalid.model/sequence_23_tp2_kept not refused, as by the reference with fault TP-76,
pytorch 8 collectives.all_gather/tp8_f64_n17_group_7_2_4 reference with fault MESH-06,
'

(($# == 0)) || {
  sed -n 's/^# \?//; 2,5p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=ci/environment.sh
source "$root/ci/environment.sh"

diagnosis_of() { # adapter, ranks, case
  local start log
  start=$("$root/ci/setup_frameworks.sh" "$1") || return 3
  log=$(timeout 300 mpirun --oversubscribe -np "$2" "$root/build/bin/tp_conformance" --gtest_brief --gtest_filter="$3" \
    --diagnose all --deadline 90 --start-deadline 240 \
    --implementation "exec:exec $start $root/harness/adapters/$1/adapter.py" 2>&1 </dev/null)
  case $? in
    0) echo 'it passes' ;;
    1) sed -n '/^diagnosis:/,/^run it alone:/p' <<<"$log" | sed '1d; /^run it alone:/d' ;;
    *) echo "$log" >&2; return 3 ;;
  esac
}

failed=''
while read -r adapter ranks case words; do
  [[ -n $adapter ]] || continue
  said=$(diagnosis_of "$adapter" "$ranks" "$case") || { echo "ci/known_defects.sh: $case was not run" >&2; exit 3; }
  line=$(grep -m 1 -E "$words" <<<"$said") || { failed=yes; line="NOT NAMED: $said"; }
  printf '%s on %s ranks, %s:\n%s\n' "$adapter" "$ranks" "$case" "$line"
done <<<"$defects"
[[ -z $failed ]]
