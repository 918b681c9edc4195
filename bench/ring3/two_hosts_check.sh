#!/usr/bin/env bash
# ci/two_hosts.sh: ranks on two hosts talk over their links, and nothing is left behind, whether it ends by itself or is
# told to.
# usage: bench/ring3/two_hosts_check.sh PROGRAM
set -euo pipefail

# shellcheck source=bench/ring3/expect.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/expect.sh"
export PROGRAM=$1
script=$(dirname -- "${BASH_SOURCE[0]}")/../../ci/two_hosts.sh

expect_nothing_left() { # process id of the script
  ! ip netns list | grep -q "tpb$1-" || complain 'a namespace is left'
  ! compgen -G "/tmp/tpb-hosts-$1-*" >/dev/null || complain 'a folder is left'
}

expect 2 'usage' "$script" fast
"$script" 1 "${small[@]}" --overlap-chunks 1 >"$work/out" 2>&1 &
id=$!
code=0
wait "$id" || code=$?
if grep -q '^two_hosts: not run' "$work/out"; then
  cat "$work/out"
  exit 77
fi
((code == 0)) || complain "it ended with $code: $(tail -n 15 "$work/out")"
grep -qF 'tcp(veth1)+tcp(veth2)' "$work/out" || complain 'the ranks did not talk over the links'
expect_nothing_left "$id"

"$script" 1 --seconds 1000 >"$work/out" 2>&1 &
id=$!
for ((i = 0; i < 100; ++i)); do # until there is something to leave behind
  ip netns list | grep -q "tpb$id-2" && break
  sleep 0.1
done
sleep 1
kill -TERM "$id"
code=0
wait "$id" || code=$?
((code == 130)) || complain "interrupted, it ended with $code: $(tail -n 15 "$work/out")"
expect_nothing_left "$id"

conclude 'two hosts come and go'
