#!/usr/bin/env bash
# How often do the statistics of dropout and initialisation accuse the innocent? Judges the reference under many seeds
# and reports alarms, the most extreme statistic, and what the masks at p = 0.5 and p = 0.1 measured.
# usage: [PROGRAM=build/bin/tp_conformance] ci/false_alarms.sh [SEEDS=200] [options of tp_conformance]
# Exit codes: 0 no alarm, 1 some, 2 usage, 3 a run did not come to its end.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
program=${PROGRAM:-$root/build/bin/tp_conformance}
seeds=${1:-200}
(($# == 0)) || shift
[[ $seeds =~ ^[1-9][0-9]*$ ]] || { sed -n 's/^# \?//; 2,5p' "${BASH_SOURCE[0]}" >&2 && exit 2; }
[[ -x $program ]] || { echo "ci/false_alarms.sh: there is no program $program; build it first" >&2 && exit 3; }
# shellcheck source=ci/environment.sh
source "$root/ci/environment.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Apart, since profile megatron adds ranks to the seed: neighbours would share streams.
for ((seed = 1000; seed <= 1000 * seeds; seed += 1000)); do
  code=0
  mpirun -np 8 "$program" --gtest_filter='dropout.masks*:init.*' --gtest_brief=1 --seed "$seed" \
    --records "$work/$seed.jsonl" "$@" >"$work/log" 2>&1 || code=$?
  ((code <= 1)) || { cat "$work/log" >&2 && exit 3; }
done

# One record a line; its note is text of the suite's own.
awk -v seeds="$seeds" '
  function field(name, value) {
    if (!match($0, "\"" name "\":(\"[^\"]*\"|[^,}]*)")) return ""
    value = substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
    gsub(/^"|"$/, "", value)
    return value
  }
  field("case") != "" {
    ++cases
    tests += field("tests")
    if (field("verdict") != "pass") { ++alarms; print "ALARM " FILENAME ": " field("case") ": " field("message") }
    note = field("note")
    if (match(note, /largest z [0-9.]+/)) { z = substr(note, RSTART + 10, RLENGTH - 10) + 0; if (z > most_z) most_z = z }
    if (match(note, /at any lag [0-9.]+/)) { p = substr(note, RSTART + 11, RLENGTH - 11) + 0; if (p > most_peak) most_peak = p }
    half = field("case") ~ /_half/
    while (match(note, /ranks [0-9]+ to [0-9]+: all drop [0-9.e+-]+ [^;]*dispersion [0-9.]+/)) {
      split(substr(note, RSTART, RLENGTH), word, " ")
      ranks = word[4] - word[2] + 1
      spread = word[split(substr(note, RSTART, RLENGTH), word, " ")]
      group = (half ? "p 0.5" : field("case") ~ /_most/ ? "p 0.9" : "p 0.1") " T " ranks
      ++n[group]; joint[group] += word[7]; sum[group] += spread
      if (!(group in low) || spread < low[group]) low[group] = spread
      if (spread > high[group]) high[group] = spread
      note = substr(note, RSTART + RLENGTH)
    }
  }
  END {
    printf "%d seeds, %d cases, %d tests of statistics: %d alarms; most extreme z %.2f, peak at any lag %.1f sigma\n", seeds, cases, tests, alarms, most_z, most_peak
    for (group in n)
      printf "%s: %6d groups of ranks, all drop %.3e in the mean, dispersion %.3f (%.3f to %.3f)\n", group, n[group], joint[group] / n[group], sum[group] / n[group], low[group], high[group] | "sort"
    close("sort")
    exit alarms > 0
  }' "$work"/*.jsonl
