#!/usr/bin/env bash
# Holds "keep tensor parallelism inside the fast link" against measurement: a layer step over shared memory, over TCP
# loopback, and across hosts on links of several rates; and the calibrated model's communication time beside the
# measured one, in rows that it was not fitted on.
# usage: [RATES="0.5 2"] [SEQS="96 192"] ci/fast_link.sh OUT [options of tp_bench]
# Across hosts it needs root (ci/two_hosts.sh); without, those rows are left out by name.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
export PROGRAM=${PROGRAM:-$root/build/bin/tp_bench}
rates=${RATES-0.5 2}
seqs=${SEQS-96 192}
[[ $# -ge 1 ]] || { sed -n 's/^# \?//; 2,7p' "${BASH_SOURCE[0]}" >&2 && exit 2; }
out=$1
shift
mkdir -p "$out"
# Medium-sized layers: communication is a fair part of a step on every link. None of their payloads is among the sizes
# that the model is fitted on.
common=(--hidden 512 --heads 8 --ffn 2048 --batch 1 --sequence-parallel both --seconds 20 --overlap-chunks 4 "$@")

run() { # name of the row's folder, command... : one line where it was skipped, all of it where it failed
  local folder=$out/$1
  shift
  "$@" "${common[@]}" --out "$folder" >"$folder.log" 2>&1 || { tail -n 20 "$folder.log" >&2 && exit 3; }
  grep 'not run' "$folder.log" || true
}
for seq in $seqs; do
  for transport in shm tcp; do
    run "$transport-$seq" "$PROGRAM" --tp 2 --transport "$transport" --seq "$seq"
  done
  for rate in $rates; do
    for ranks in 1 2; do
      export RANKS_PER_HOST=$ranks
      run "${rate}gbit-2x$ranks-$seq" "$root/ci/two_hosts.sh" "$rate" --seq "$seq"
    done
  done
done

# One line per step that communicates: where, T, sizes, times in ms, and the model's error; overlapped, the gain.
awk -F, '
  FNR == 1 { delete column; for (i = 1; i <= NF; ++i) column[$i] = i; split(FILENAME, path, "/"); place = path[length(path) - 1] }
  function ms(name) { return sprintf("%9.2f", 1e3 * $(column[name])) }
  $(column["kind"]) == "step" && $(column["tp"]) > 1 && $(column["status"]) == "ok" {
    printf "%-14s T %d%s sp %-13s S %-4d %-26s step %s ms  communication %s ms", place, $(column["tp"]),
      $(column["oversubscribed"]) == "true" ? "*" : " ", $(column["sequence_parallel"]), $(column["sequence"]),
      $(column["transport"]), ms("median_s"), ms("communication_only_s")
    if ("overlap_gain" in column && $(column["overlap_gain"]) != "") printf "  overlapped: %+.1f %% faster\n", 100 * $(column["overlap_gain"])
    else printf "  model %s ms  %+6.1f %%\n", ms("model_communication_s"),
      100 * ($(column["model_communication_s"]) / $(column["communication_only_s"]) - 1)
  }' "$out"/*/bench.csv | tee "$out/fast_link.txt"
awk '/gbit.* model / { error = $(NF - 1); sub(/^[+-]/, "", error); print error }' "$out/fast_link.txt" | sort -n |
  awk '{ e[NR] = $1 } END { if (NR) printf "across hosts: %d rows, median error of the model %.1f %%\n", NR, (e[int((NR + 1) / 2)] + e[int((NR + 2) / 2)]) / 2 }' |
  tee -a "$out/fast_link.txt"
echo '* more ranks than cores'
