#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Rewrites every program of suite.txt with the tool's default options, for run.sh
# to measure (on a machine that need not have LLVM).
#
# usage: bench/rewrite.sh [TOOL [FOLDER]]    default: build/bin/rcache-rewrite,
#                                            bench/rewritten
# Leaves FOLDER/NAME.cu, the tool's remarks in FOLDER/NAME.txt, and in
# FOLDER/NAME.json the clocks of an SM that 32 outputs cost in each cache.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tool=${1:-$here/../build/bin/rcache-rewrite}
out=${2:-$here/rewritten}
[ -x "$tool" ] || { echo "rewrite.sh: no tool at $tool" >&2; exit 2; }
mkdir -p "$out"
failed=0
while read -r name source flags; do
  case $name in '#'* | '') continue ;; esac
  # shellcheck disable=SC2086 # flags are several words
  if "$tool" "$here/originals/$source" -o "$out/$name.cu" --report="$out/$name.report" \
      -- -I"$here/originals" $flags 2>"$out/$name.txt" >/dev/null; then
    python3 "$here/counts.py" "$out/$name.report" "$out/$name.json"
    rm -f "$out/$name.report"
    printf '%-28s %s\n' "$name" "$(grep -m1 -oE "(rewrote|left as it is).*" "$out/$name.txt" | cut -c1-110)"
  else
    printf '%-28s FAILED (exit %s)\n' "$name" "$?"
    rm -f "$out/$name.cu"
    failed=1
  fi
done <"$here/suite.txt"
exit $failed
