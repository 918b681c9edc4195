#!/usr/bin/env bash
# Runs tp_bench across hosts that are network namespaces of this machine, joined by links of a chosen rate, so that
# "tensor parallelism must stay inside the fast link" is measured. Leaves nothing behind.
# usage: [HOSTS=2] [RANKS_PER_HOST=1] [PROGRAM=build/bin/tp_bench] ci/two_hosts.sh RATE_GBIT [options of tp_bench]
#   --tp is all ranks unless it is given
# Where namespaces or shaped links are not to be had (they need root), it says so by name and ends with 0.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
hosts=${HOSTS:-2}
ranks_per_host=${RANKS_PER_HOST:-1}
program=${PROGRAM:-$root/build/bin/tp_bench}
net=10.177.83
id=tpb$$
mpirun_pid=''
work=''

usage() {
  sed -n 's/^# \?//; 2,7p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
skip() {
  echo "two_hosts: not run: $1"
  exit 0
}

[[ ${1:-} =~ ^[0-9]+(\.[0-9]+)?$ ]] || usage
rate=$1
shift
[[ $hosts =~ ^[2-9]$ && $ranks_per_host =~ ^[1-9][0-9]*$ ]] || usage

# shellcheck disable=SC2317 # called by the trap
clean_up() {
  trap - EXIT INT TERM HUP
  if [[ -n $mpirun_pid ]]; then
    kill -TERM "$mpirun_pid" 2>/dev/null || true
    wait "$mpirun_pid" 2>/dev/null || true
  fi
  local host namespace
  for ((host = 0; host <= hosts; ++host)); do
    namespace=$id-$host
    ip netns pids "$namespace" 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
    ip netns delete "$namespace" 2>/dev/null || true # its interfaces go with it
  done
  [[ -z $work ]] || rm -rf "$work"
}

# Namespace 0 is the switch: a bridge. Both ends of every cable are shaped, so a host neither sends nor hears faster.
shape() { # namespace, interface
  # A burst larger than this lets whole messages through at full speed.
  local burst
  burst=$(awk -v r="$rate" 'BEGIN { b = int(8192 * r); print b < 3200 ? 3200 : b }')
  ip netns exec "$1" tc qdisc add dev "$2" root tbf rate "${rate}gbit" burst "$burst" latency 100ms
}
build_hosts() {
  local host
  ip netns add "$id-0" || return 1
  ip netns exec "$id-0" ip link add switch type bridge || return 1
  ip netns exec "$id-0" ip link set switch up
  for ((host = 1; host <= hosts; ++host)); do
    ip netns add "$id-$host"
    ip link add "veth$host" netns "$id-$host" type veth peer name "port$host" netns "$id-0" || return 1
    ip netns exec "$id-0" ip link set "port$host" master switch up
    ip netns exec "$id-$host" ip address add "$net.$host/24" dev "veth$host"
    ip netns exec "$id-$host" ip link set "veth$host" up
    ip netns exec "$id-$host" ip link set lo up
    shape "$id-0" "port$host" && shape "$id-$host" "veth$host" || return 1
  done
}

# A host has a name and shared memory of its own; otherwise ranks would take two hosts for one.
write_scripts() {
  cat >"$work/on_host" <<EOF
#!/usr/bin/env bash
# on_host ADDRESS COMMAND...: what Open MPI calls instead of ssh
host=\${1##*.}
shift
exec ip netns exec $id-\$host unshare --uts --ipc bash -c "hostname $id-\$host; exec \$*"
EOF
  chmod +x "$work/on_host"
}

run_bench() {
  local host list='' given='' option
  for ((host = 1; host <= hosts; ++host)); do list+="${list:+,}$net.$host:$ranks_per_host"; done
  local ranks=$((hosts * ranks_per_host))
  for option in "$@"; do [[ $option != --tp* ]] || given=yes; done
  local arguments=("$program" "$@" --link-gbit "$rate")
  [[ -n $given ]] || arguments+=(--tp "$ranks")
  # Ranks that share cores would otherwise wait for a time slice of the scheduler at every small message. MPI counts
  # those of one host and would not yield by itself.
  local turn=() yield=0
  ((ranks <= $(nproc))) || turn=(chrt --rr 1) yield=1
  local line
  printf -v line '%q ' "${turn[@]}" mpirun --host "$list" -np "$ranks" --bind-to none \
    --mca plm_rsh_agent "$work/on_host" --mca orte_tmpdir_base "$work" --mca oob_tcp_if_include "$net.0/24" \
    --mca btl_tcp_if_include "$net.0/24" --mca pml ob1 --mca btl tcp,vader,self \
    --mca btl_vader_backing_directory "$work" --mca mpi_yield_when_idle "$yield" -x OMP_NUM_THREADS=1 "${arguments[@]}"
  "$work/on_host" "$net.1" "$line" </dev/null &
  mpirun_pid=$!
  local code=0
  wait "$mpirun_pid" || code=$?
  mpirun_pid=''
  return "$code"
}

((EUID == 0)) || skip 'it needs root to make network namespaces'
for tool in ip tc unshare; do
  command -v "$tool" >/dev/null || skip "there is no $tool (Debian: iproute2, util-linux)"
done
[[ -x $program ]] || { echo "ci/two_hosts.sh: there is no program $program; build it first" >&2 && exit 3; }
# shellcheck source=ci/environment.sh
source "$root/ci/environment.sh"
work=$(mktemp -d "/tmp/tpb-hosts-$$-XXXXXX")
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
build_hosts 2>"$work/why" || skip "namespaces or shaped links are not to be had: $(tr '\n' ' ' <"$work/why")"
write_scripts
code=0
run_bench "$@" || code=$?
exit "$code"
