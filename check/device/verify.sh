#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Verification on a device: compiles every rewritten example with
# -DRCACHE_VERIFY and runs it. Each launch then runs both forms of the kernel
# and compares them. Then one of them is made wrong: that must be reported, and
# the program's output must stay. Needs nvcc and a GPU, not LLVM and no build.
#
# usage: check/device/verify.sh [TABLE]       default: standard output
# Exit status: 1 if a rewritten kernel differs or the wrong one goes unnoticed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
table=${1:-/dev/stdout}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
arch=${ARCH:-native}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
wrong=0

compile() { # source, program, more flags
  "$nvcc" -std=c++17 -arch="$arch" -I"$root/examples" -I"$root/include" "${@:3}" -o "$2" "$1" \
    2>"$tmp/log" || { tail -5 "$tmp/log" >&2; return 1; }
}

{
  echo "# Verification inside the application"
  echo
  echo "\`check/device/verify.sh\`, $(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)," \
    "$("$nvcc" --version | grep -o 'release [0-9.]*'): each rewritten example, compiled with" \
    "\`-DRCACHE_VERIFY\`."
  echo
  echo "| example | output as without verification | verification |"
  echo "| --- | --- | --- |"
} >"$tmp/table"

# One row: name, rewritten source, pattern that the report must have.
row() {
  local same=yes line
  if ! compile "$root/examples/$3.cu" "$tmp/plain" || ! compile "$2" "$tmp/verified" -DRCACHE_VERIFY; then
    echo "| $1 | does not compile | |" >>"$tmp/table"
    wrong=1
    return
  fi
  timeout 300 "$tmp/plain" >"$tmp/out" 2>/dev/null
  timeout 600 "$tmp/verified" >"$tmp/out.verified" 2>"$tmp/err"
  cmp -s "$tmp/out" "$tmp/out.verified" || { same=no; wrong=1; }
  line=$(grep 'rcache: verified' "$tmp/err" | sed 's/rcache: //')
  echo "$line" | grep -qE "$4" || wrong=1
  echo "| $1 | $same | ${line:-nothing was verified} |" >>"$tmp/table"
  grep '^rcache: ' "$tmp/err" | grep -v 'rcache: verified' | head -3 >&2
}

for source in "$root"/examples/rewritten/*.cu; do
  name=$(basename "$source" .cu)
  row "$name" "$source" "$name" '^verified [1-9][0-9]* launches: 0 differ'
done
# The first element of each window comes from its neighbour: a wrong kernel.
sed -E 's/(rc_[a-z]+_w)\[rc_s\]/\1[rc_s + 1]/; s/(rc_[a-z]+_w)\[rc_s \+ j\]/\1[rc_s]/' \
  "$root/examples/rewritten/k_stencil.cu" >"$tmp/wrong.cu"
cmp -s "$tmp/wrong.cu" "$root/examples/rewritten/k_stencil.cu" && { echo "no wrong kernel" >&2; wrong=1; }
row "k_stencil, made wrong" "$tmp/wrong.cu" k_stencil ' [1-9][0-9]* differ'

cat "$tmp/table" >"$table"
exit $wrong
