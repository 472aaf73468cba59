#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs by somebody who did not read the tool, original beside rewritten form.
#
#   bench/strangers/run.sh rewrite TOOL FOLDER    rewrites all of them to FOLDER
#   bench/strangers/run.sh FOLDER [PREFIX...]     builds both, times them (needs a GPU)
#
# The table: milliseconds (least of the program's own runs), their ratio, and whether
# both have the same result. NVCC, ARCH (sm_90), JOBS (16), REPEAT (2: runs of each program).
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ "${1:-}" = rewrite ]; then
  mkdir -p "$3"
  for f in "$here"/*.cu; do
    b=$(basename "$f" .cu)
    "$2" "$f" -o "$3/${b}_rc.cu" 2>"$3/$b.log" || echo "rewriting $b failed, see $3/$b.log"
  done
  exit
fi
folder=$1
shift
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
export build here NVCC=${NVCC:-nvcc} ARCH=${ARCH:-sm_90}
names=()
for f in "$here"/*.cu; do
  b=$(basename "$f" .cu)
  [ $# -eq 0 ] && names+=("$b")
  for p in "$@"; do case $b in "$p"*) names+=("$b") ;; esac; done
done
for b in "${names[@]}"; do
  printf '%s\n%s\n%s\n%s\n' "$here/$b.cu" "$build/$b.o" "$folder/${b}_rc.cu" "$build/$b.r"
done | xargs -d '\n' -P "${JOBS:-16}" -n 2 bash -c \
  '"$NVCC" -O3 -arch="$ARCH" -I"$here" "$0" -o "$1" 2>"$1.log" || echo "does not compile: $0"'
printf '%-18s %-22s %11s %11s %7s  %s\n' file kernel original rewritten ratio bits
for b in "${names[@]}"; do
  for part in o r; do
    for ((i = 0; i < ${REPEAT:-2}; ++i)); do timeout 60 "$build/$b.$part"; done |
      sed "s/^/$part /"
  done | awk -v file="$b" '
    $2 == "TIME" { k = $1 $3; if (!(k in t) || $4 < t[k]) t[k] = $4
                   if ($1 == "o" && !seen[$3]++) order[++n] = $3 }
    $2 == "HASH" { k = $1 $3; if (k in h && h[k] != $4) odd[$3] = 1; h[k] = $4 }
    END {
      for (i = 1; i <= n; ++i) {
        k = order[i]
        bits = odd[k] ? "unstable" : h["o" k] != "" && h["o" k] == h["r" k] ? "equal" : "DIFFER"
        printf "%-18s %-22s %11s %11s %7.2f  %s\n", file, k, t["o" k], t["r" k], t["o" k] / t["r" k], bits
      }
    }'
done
