#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Made by `rcache-rewrite --tune-emit`: builds the programs beside this script, runs
# them one after the other on this machine's GPU and writes a file of measurements
# for `rcache-rewrite --tune=device --tune-cache=FILE`. Needs nvcc, no LLVM.
#
# usage: run.sh [FILE]        default: tune.json beside this script
# NVCC, ARCH (default: native), JOBS; RCACHE_TUNE_INCLUDE: a folder to search first
# for what the sources include, where they are elsewhere on this machine.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/tune.json}
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || nvcc=/usr/local/cuda/bin/nvcc
command -v "$nvcc" >/dev/null || { echo "run.sh: no nvcc" >&2; exit 1; }
arch=${ARCH:-native}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$here" || exit 1

build() {
  kernel=$(dirname "$1") name=$(basename "$1" .cu)
  mapfile -t flags <"$kernel/flags"
  timeout 300 "$nvcc" -O3 -arch="$arch" ${RCACHE_TUNE_INCLUDE:+-I "$RCACHE_TUNE_INCLUDE"} "${flags[@]}" \
    -Xlinker --unresolved-symbols=ignore-all "$1" -o "$tmp/$kernel.$name" >"$tmp/$kernel.$name.log" 2>&1 || true
}
export -f build
export nvcc arch tmp
find . -mindepth 2 -name 'c*.cu' -printf '%P\n' | sort -V >"$tmp/jobs"
xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'build {}' <"$tmp/jobs"

# A text as the inside of a JSON string.
quote() { tr -d '\000-\037\177-\377' | sed 's/[\\"]/ /g'; }
count=0 failed=0
{
  echo '{"measurements": ['
  while read -r job; do
    kernel=$(dirname "$job") name=$(basename "$job" .cu)
    if [ ! -x "$tmp/$kernel.$name" ]; then
      figures="\"failed\": \"it does not compile: $(grep -m1 error "$tmp/$kernel.$name.log" | cut -c1-300 | quote)\""
    elif ! figures=$(timeout 120 "$tmp/$kernel.$name" 2>"$tmp/err"); then
      figures="\"failed\": \"it did not end well: $(head -1 "$tmp/err" | cut -c1-300 | quote)\""
    fi
    case $figures in
    *'"device"'*) ;;
    *) figures="\"device\": \"\", \"arch\": \"\", $figures" ;;
    esac
    case $figures in
    *'"failed"'*) failed=$((failed + 1)); echo "run.sh: $job: ${figures##*\"failed\": }" >&2 ;;
    esac
    [ $count = 0 ] || echo ,
    count=$((count + 1))
    printf '{%s, %s}' "$(cat "$kernel/$name.what")" "$figures"
  done <"$tmp/jobs"
  echo
  echo ']}'
} >"$tmp/tune.json"
cp "$tmp/tune.json" "$out" || exit 1
n=$(wc -l <"$tmp/jobs")
echo "run.sh: $n programs; see $out" >&2
