#!/usr/bin/env bash
# Runs what ci/examples tells CI services, Slurm and ReFrame to run, on small sizes: first making a baseline, then
# compared with it. Whatever needs the service itself is left to the service.
# usage: bench/ring3/examples_check.sh PROGRAMS    the folder of tp_conformance and tp_bench
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=bench/ring3/expect.sh
source "$root/bench/ring3/expect.sh"
if ! python3 -c 'import yaml' 2>/dev/null; then
  echo 'not run: python3 has no module yaml (Debian: python3-yaml)'
  exit 77
fi
cd "$root"
export PROGRAMS=$1 RANKS=2 BASELINE=$work/baselines OUT=$work/gate
export CONFORMANCE='--gtest_filter=tensor_parallel.column_linear/tp2_f64' BENCH="${small[*]} --samples 20"

script_of() { # file, keys to a list of steps or lines... : the shell lines, GitHub's expressions taken as empty
  python3 - "$@" <<'PYTHON'
import re, sys, yaml
node = yaml.safe_load(open(sys.argv[1]))
for key in sys.argv[2:]:
    node = node[key]
lines = [step if isinstance(step, str) else step.get("run", "") for step in node]
print(re.sub(r"\$\{\{.*?\}\}", "", "\n".join(lines)))
PYTHON
}

script_of ci/examples/github-actions.yml jobs gate steps >"$work/github.sh"
script_of ci/examples/gitlab-ci.yml gate script >"$work/gitlab.sh"
script_of ci/examples/gitlab-ci.yml new-baseline script >"$work/baseline.sh"
script_of ci/examples/github-actions.yml jobs proof steps >"$work/proof.sh"
grep -q 'ci/conformance.sh' "$work/proof.sh" || complain 'the proof on GitHub runs no proof'
expect 0 'is the baseline now' bash -euo pipefail "$work/baseline.sh"
for script in "$work/github.sh" "$work/gitlab.sh" ci/examples/slurm.sbatch; do
  expect_in_three 0 'GATE PASS' bash -euo pipefail "$script"
done

python3 -m py_compile ci/examples/reframe_gate.py || complain 'reframe_gate.py is no Python'
rm -rf ci/examples/__pycache__
if command -v reframe >/dev/null; then
  reframe_run() { # shellcheck disable=SC2317 # called by expect
    reframe --prefix "$work/reframe" --report-file "$work/report.json" -c ci/examples/reframe_gate.py -r \
      --performance-report -S programs="$PROGRAMS" -S ranks=2 -S ConformanceTest.arguments="$CONFORMANCE" \
      -S BenchTest.arguments="$BENCH" -S BenchTest.degrees=2
  }
  expect 0 'Ran 2/2 test case(s)' reframe_run
  grep -q 'step/transformer_layers' "$work/out" || complain 'ReFrame saw no time'
else
  echo 'not run: ReFrame, which is not installed'
fi

conclude 'the examples do what they say'
