#!/bin/bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds and times what candidates.py wrote, in the folder it stands in. Lines of the
# output: kind, candidate, registers, spilled bytes stored and loaded, milliseconds,
# hash; then a table with the fastest candidate of each kind. `choice`, where it is
# there, has lines of a kind and the candidate that rcache-rewrite chose.
cd "$(dirname "$0")" || exit 1
ARCH=${ARCH:-sm_90}
build() { # kind candidate file flags ...
  local flags=$4
  [ "$flags" = - ] && flags=
  nvcc -std=c++17 -O3 -w -arch="$ARCH" ${flags//,/ } "$3" -o "$1.$2.exe" || echo "FAILED to build $1 $2"
}
export -f build
export ARCH
xargs -P "$(nproc)" -I{} bash -c 'build {}' < list
while read -r kind name file flags regs stores loads; do
  [ -x "$kind.$name.exe" ] || continue
  echo "$kind $name $regs $stores $loads $("./$kind.$name.exe" | cut -d' ' -f2-)"
done < list | tee times
echo
awk 'NR == FNR { choice[$1] = $2; next }
  { ms[$1, $2] = $6; bits[$1, $2] = $7; kinds[$1] = 1
    if ($2 == "original") hash[$1] = $7
    if (!($1 in best) || $6 < ms[$1, best[$1]]) best[$1] = $2
    if ($2 !~ /^maxr/ && (!($1 in hint) || $6 < ms[$1, hint[$1]])) hint[$1] = $2 }
  END { for (k in kinds) { differ = 0
      for (x in bits) { split(x, p, SUBSEP); if (p[1] == k && bits[x] != hash[k]) { differ++; which[k] = which[k] " " p[2] } }
      c = (k in choice) ? choice[k] : "original"; o = ms[k, "original"]
      printf "%-10s original %.4f ms; best %s %.3fx, of hints %s %.3fx; choice %s %.3fx (%.1f%% of best)%s\n", k, o, best[k],
        o / ms[k, best[k]], hint[k], o / ms[k, hint[k]], c, o / ms[k, c], 100 * ms[k, best[k]] / ms[k, c],
        differ ? "; OTHER BITS:" which[k] : "; same bits" } }' \
  <(cat choice 2>/dev/null || true; echo "- -") times | sort
