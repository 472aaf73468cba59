// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs and what the rewriter makes of them, in a folder with a script: for
// a machine that has nvcc and a device, and none of our programs.

#include "Campaign.h"
#include "Process.h"
#include "llvm/Support/FileSystem.h"
#include <mutex>

namespace rcache::fuzz {

static const char Compare[] = R"sh(#!/bin/bash
# Compiles each program of this folder and its rewritten version (NAME.cu,
# NAME_rc.cu) with nvcc, runs both on the device, compares what they print.
#
#   compare.sh [SECONDS] [flags of nvcc]     default: 500, -arch=native
#
# Prints a line a program and a last line; what differs goes to $OUT (./out).
# Begins no program after SECONDS. Status 1 when something differs or fails.
set -u
cd "$(dirname "$(readlink -f "$0")")" || exit 2
limit=${1:-500}
shift
flags=${*:--arch=native}
out=${OUT:-$PWD/out}
tmp=$(mktemp -d)
mkdir -p "$out"
export flags tmp out
build() {
  for f in "$1" "$1_rc"; do
    nvcc -std=c++20 -w -DRCACHE_ANY_LAUNCH $flags "$f.cu" -o "$tmp/$f" \
      2>"$tmp/$f.log" || { cp "$tmp/$f.log" "$out/$f.nvcc.txt"; return; }
  done
  touch "$tmp/$1.ready"
}
export -f build
ls ./*_rc.cu | sed 's,^\./,,; s/_rc\.cu$//' >"$tmp/names"
xargs -a "$tmp/names" -P "$(nproc)" -I{} timeout "$limit" bash -c 'build {}' &
builder=$!
programs=0 kernels=0 different=0 broken=0
while read -r p; do
  while [ ! -e "$tmp/$p.ready" ] && kill -0 $builder 2>/dev/null &&
    [ ! -e "$out/$p.nvcc.txt" ] && [ ! -e "$out/${p}_rc.nvcc.txt" ]; do
    sleep 0.2
  done
  if [ ! -e "$tmp/$p.ready" ]; then
    if [ -e "$out/$p.nvcc.txt" ]; then why="original does not compile"
    elif [ -e "$out/${p}_rc.nvcc.txt" ]; then why="REWRITTEN DOES NOT COMPILE"
    else why="no time left"; fi
    echo "$p: $why"
    [ "$why" = "no time left" ] || broken=$((broken + 1))
    continue
  fi
  timeout 60 "$tmp/$p" >"$tmp/a" 2>"$tmp/a.err"; sa=$?
  timeout 60 "$tmp/${p}_rc" >"$tmp/b" 2>"$tmp/b.err"; sb=$?
  n=$(cut -d' ' -f1 "$tmp/a" | sort -u | wc -l)
  # Kernels with another line.
  bad=$(diff "$tmp/a" "$tmp/b" | sed -n 's/^[<>] \([^ ]*\).*/\1/p' | sort -u)
  programs=$((programs + 1)) kernels=$((kernels + n))
  if [ -z "$bad" ] && [ $sa = $sb ]; then
    echo "$p: $n kernels equal"
  else
    b=$(echo "$bad" | wc -w)
    different=$((different + (b ? b : 1)))
    echo "$p: $n kernels, DIFFERENT:" $bad "(status $sa, $sb)"
    diff "$tmp/a" "$tmp/b" >"$out/$p.diff"
  fi
done <"$tmp/names"
wait $builder
rm -rf "$tmp"
echo "$programs programs, $kernels kernels compared: $different different, $broken programs do not compile"
[ $different = 0 ] && [ $broken = 0 ]
)sh";

CorpusCounts writeCorpus(const CampaignOptions &O, const Tools &T,
                         const std::string &Folder) {
  CorpusCounts N;
  std::mutex Lock;
  if (llvm::sys::fs::create_directories(Folder) ||
      !writeFile(Folder + "/compare.sh", Compare))
    return N;
  llvm::sys::fs::setPermissions(
      Folder + "/compare.sh", llvm::sys::fs::all_read | llvm::sys::fs::all_exe |
                                  llvm::sys::fs::owner_write);
  N.Written = true;
  forBatches(O, [&](const std::vector<unsigned> &Seeds, unsigned J) {
    const std::string Stem = T.Folder + "/corpus-" + num(J);
    const std::vector<std::string> &Options = optionsOf(Seeds.front(), O);
    std::vector<KernelText> G = kernelsOf(Seeds, O.Family), Good;
    std::vector<Outcome> Out = test(G, Options, T, Stem);
    unsigned Failed = 0;
    for (size_t I = 0; I < G.size(); ++I) {
      Failed += isFailure(Out[I].V);
      if (Out[I].V == Verdict::Equal)
        Good.push_back(G[I]);
    }
    const std::string Name = "p" + num(Seeds.front());
    bool Wrote = false;
    if (!Good.empty() &&
        writeFile(Folder + "/" + Name + ".cu", program(Good))) {
      std::vector<std::string> Args = {T.Rewrite, Folder + "/" + Name + ".cu",
                                       "-o", Folder + "/" + Name + "_rc.cu"};
      Args.insert(Args.end(), Options.begin(), Options.end());
      if (Good.front().Cxx20)
        Args.insert(Args.end(), {"--", "-std=c++20"});
      Wrote = run(Args, Stem, 120).ok();
    }
    std::lock_guard<std::mutex> L(Lock);
    N.Failed += Failed;
    if (Wrote) {
      ++N.Programs;
      N.Kernels += static_cast<unsigned>(Good.size());
    }
  });
  return N;
}

} // namespace rcache::fuzz
