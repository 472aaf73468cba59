#!/bin/bash
# Rewrites each program of this folder (--force, no self-check), compares it with its
# rewritten version on the CPU, and compiles it with nvcc where that is found.
#
#   run.sh BIN [NAME ...]      BIN: the folder of rcache-rewrite and rcache-check
#
# A line a program: equal, left (declined), WRONG or DOES NOT COMPILE. Status 1 if any
# is wrong or does not compile.
set -u
bin=$(readlink -f "$1")
shift
here=$(dirname "$(readlink -f "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.cu | sed 's,^\./,,; s/\.cu$//')
bad=0
for name; do
  in=$here/$name.cu out=$tmp/$name.cu
  if ! timeout 120 env RCACHE_SELF_CHECK=off "$bin/rcache-rewrite" "$in" -o "$out" \
    --force -- -std=c++20 >"$tmp/log" 2>&1; then
    echo "$name: WRONG: the rewriter failed: $(grep -m1 error "$tmp/log")"
    bad=1
  elif ! grep -q "remark: rewrote" "$tmp/log"; then
    echo "$name: left: $(grep -m1 -o 'left as it is: .*' "$tmp/log")"
  elif ! timeout 120 "$bin/rcache-check" diff "$in" "$out" --jobs=1 -- -std=c++20 \
    >"$tmp/diff" 2>&1; then
    echo "$name: WRONG: $(grep -m1 -E 'error|different' "$tmp/diff")"
    bad=1
  elif command -v nvcc >/dev/null &&
    ! nvcc -std=c++20 -arch=sm_90 -w -c "$out" -o "$tmp/o" 2>"$tmp/log"; then
    echo "$name: DOES NOT COMPILE: $(grep -m1 error "$tmp/log")"
    bad=1
  else
    echo "$name: equal"
  fi
done
exit $bad
