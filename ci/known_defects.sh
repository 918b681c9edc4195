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
# shellcheck source=ci/frameworks/diagnosis.sh
source "$root/ci/frameworks/diagnosis.sh"

diagnosis_by() { # adapter, ranks, case
  local start
  start=$("$root/ci/setup_frameworks.sh" "$1") || return 3
  diagnosis_of "$start $root/harness/adapters/$1/adapter.py" -np "$2" "--gtest_filter=$3"
}

failed=''
while read -r adapter ranks case words; do
  [[ -n $adapter ]] || continue
  said=$(diagnosis_by "$adapter" "$ranks" "$case") || { echo "ci/known_defects.sh: $case was not run" >&2; exit 3; }
  line=$(grep -m 1 -E "$words" <<<"$said") || { failed=yes; line="NOT NAMED: $said"; }
  printf '%s on %s ranks, %s:\n%s\n' "$adapter" "$ranks" "$case" "$line"
done <<<"$defects"
[[ -z $failed ]]
