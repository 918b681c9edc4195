#!/usr/bin/env bash
# Installs what is missing to build and test on Debian 12, as root or with sudo; does nothing where all is there.
# usage: ci/setup.sh [--lint]    --lint: what ci/lint.sh needs, too
# Exit codes: 0 all is there, 2 usage, 3 something is missing and could not be installed.
set -euo pipefail

# What is looked for, and the package that has it.
commands='
g++         g++
cmake       cmake
ninja       ninja-build
mpirun      openmpi-bin
mpicc       openmpi-bin
python3     python3
'
headers='
mpi.h              libopenmpi-dev
dnnl.h             libdnnl-dev
blis-serial/cblas.h libblis-serial-dev
CLI/CLI.hpp        libcli11-dev
nlohmann/json.hpp  nlohmann-json3-dev
gtest/gtest.h      libgtest-dev
benchmark/benchmark.h libbenchmark-dev
Random123/philox.h librandom123-dev
fmt/core.h         libfmt-dev
'
# Faster with it, complete without.
helpful='
ccache      ccache
gnuplot     gnuplot-nox
'
lint_commands='
clang-format clang-format
clang-tidy  clang-tidy
'

missing_commands() { # reads the lines of a list
  local command package
  while read -r command package; do
    [[ -z $command ]] || command -v "$command" >/dev/null || echo "$package"
  done <<<"$1"
}

missing_headers() {
  local header package question=''
  while read -r header package; do
    [[ -z $header ]] && continue
    question+=$'#if !__has_include(<'"$header"$'>)\nmissing '"$package"$'\n#endif\n'
  done <<<"$headers"
  # Through MPI's compiler, which knows where mpi.h is. Without a compiler nothing can be found.
  if command -v g++ >/dev/null && command -v mpicc >/dev/null; then
    mpicc -E -P -x c++ - <<<"$question" | sed -n 's/^missing //p'
  else
    awk 'NF { print $2 }' <<<"$headers"
  fi
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif [[ -t 0 ]]; then
    sudo "$@" # may ask for the password
  else
    sudo -n "$@"
  fi
}

can_install() {
  command -v apt-get >/dev/null || return 1
  ((EUID == 0)) && return 0
  command -v sudo >/dev/null || return 1
  [[ -t 0 ]] || sudo -n true 2>/dev/null
}

apt() { # quiet, unless it fails
  local log
  log=$(mktemp)
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 "$@" \
    >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

wanted=$commands
case "${1-}" in
  '') ;;
  --lint) wanted+=$lint_commands ;;
  *)
    echo "usage: ci/setup.sh [--lint]" >&2
    exit 2
    ;;
esac

mapfile -t missing < <({
  missing_commands "$wanted"
  missing_headers
} | sort -u)
if ! can_install; then
  ((${#missing[@]} == 0)) && exit 0
  echo "ci/setup.sh: missing and not to be installed without root, sudo and apt-get. Ask for: apt-get install ${missing[*]}" >&2
  exit 3
fi
mapfile -t -O "${#missing[@]}" missing < <(missing_commands "$helpful")
((${#missing[@]} == 0)) && exit 0

echo "ci/setup.sh: installing ${missing[*]}" >&2
apt update || echo "ci/setup.sh: going on with the package lists that are there" >&2
if ! apt install -y --no-install-recommends "${missing[@]}"; then
  echo "ci/setup.sh: apt-get could not install ${missing[*]}" >&2
  exit 3
fi
