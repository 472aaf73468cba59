#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The validation set: kernels that no fit of the predictor may use (STATUS.md).
# Two steps, which can run on two machines:
#
#   run.sh rewrite [TOOL [FOLDER]]       FOLDER/NAME.cu for each program, what the tool says in
#                                        FOLDER/NAME.txt, FOLDER/report.json, FOLDER/declines.txt
#   run.sh measure [FOLDER [RESULTS]]    builds, runs, compares, prints (nvcc, a GPU, python3);
#                                        results as JSON in RESULTS
#   run.sh check [CHECKER]               every original at its smallest size on the CPU
#
# Defaults: build/bin/rcache-rewrite, bench/rewritten/validation,
# FOLDER/results.json, build/bin/rcache-check. ARCH=sm_90 fixes the architecture,
# ONLY=PATTERN takes the programs whose name matches, ROUNDS=1 measures each once.
# Exit status: 0 done, 1 results differ or a program failed, 2 wrong usage.
set -u
here=$(cd "$(dirname "$0")" && pwd)
step=${1:-}
only=${ONLY:-.}
programs() {
  for f in "$here"/kernels/*.cu; do basename "$f" .cu; done | grep -E "$only"
}
flags="-std=c++17 -I$here"

case $step in
rewrite)
  tool=${2:-$here/../../build/bin/rcache-rewrite}
  out=${3:-$here/../rewritten/validation}
  [ -x "$tool" ] || { echo "run.sh: no tool at $tool" >&2; exit 2; }
  mkdir -p "$out"
  rm -f "$out"/*.cu "$out"/*.txt "$out"/*.report
  failed=0
  for p in $(programs); do
    # shellcheck disable=SC2086 # flags are several words
    timeout 120 "$tool" "$here/kernels/$p.cu" -o "$out/$p.cu" --report="$out/$p.report" \
      -- -arch=sm_90 $flags 2>"$out/$p.txt" >/dev/null ||
      { echo "run.sh: the tool fails on $p (exit $?)" >&2; rm -f "$out/$p.cu"; failed=1; }
  done
  python3 "$here/summary.py" --collect "$out" || failed=1
  exit $failed
  ;;
check)
  checker=${2:-$here/../../build/bin/rcache-check}
  [ -x "$checker" ] || { echo "run.sh: no checker at $checker" >&2; exit 2; }
  failed=0
  for p in $(programs); do
    # shellcheck disable=SC2086
    "$checker" run "$here/kernels/$p.cu" --args -s -- $flags || { echo "run.sh: $p is not clean" >&2; failed=1; }
  done
  exit $failed
  ;;
measure) ;;
*)
  echo "usage: run.sh rewrite|measure|check ... (the file's head says more)" >&2
  exit 2
  ;;
esac

folder=${2:-$here/../rewritten/validation}
results=${3:-$folder/results.json}
[ -f "$folder/report.json" ] || { echo "run.sh: no $folder/report.json; the step rewrite comes first" >&2; exit 2; }
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || nvcc=/usr/local/cuda/bin/nvcc
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for p in $(programs); do
  echo "$p original $here/kernels/$p.cu"
  # A program that the tool left as it is needs no second run.
  [ -f "$folder/$p.cu" ] && ! cmp -s "$folder/$p.cu" "$here/kernels/$p.cu" &&
    echo "$p rewritten $folder/$p.cu"
done >"$tmp/jobs"
build() {
  # shellcheck disable=SC2086
  "$nvcc" -O3 -arch="${ARCH:-native}" -w $flags -DVALIDATION_COUNT_LAUNCHES \
    -Xlinker --wrap=cudaLaunchKernel,--wrap=__cudaLaunchKernel,--wrap=__cudaGetKernel \
    "$3" -o "$tmp/$1.$2" 2>"$tmp/$1.$2.log" ||
    { echo "failed $1 $2 compile" >>"$tmp/raw"; echo "run.sh: $1, $2, does not compile:"; head -5 "$tmp/$1.$2.log"; }
}
export -f build
export nvcc tmp flags
xargs -P "$(nproc)" -L1 bash -c 'build "$0" "$1" "$2"' <"$tmp/jobs"
echo "built after $SECONDS s"
for round in $(seq "${ROUNDS:-3}"); do
  while read -r p form _; do
    if [ "$round" -gt 1 ]; then
      # Rounds are for pairs, and only as many as fit in the time.
      [ "$SECONDS" -lt "${BUDGET:-450}" ] || continue
      grep -q "^$p rewritten" "$tmp/jobs" || continue
    fi
    [ -x "$tmp/$p.$form" ] || continue
    timeout 60 "$tmp/$p.$form" >"$tmp/out" 2>"$tmp/err" ||
      { echo "failed $p $form run" >>"$tmp/raw"; echo "run.sh: $p, $form, fails: $(head -1 "$tmp/err")" >&2; }
    sed "s/^/run $p $form $round /" "$tmp/out" >>"$tmp/raw"
  done <"$tmp/jobs"
  echo "round $round done after $SECONDS s"
done
device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)
python3 "$here/summary.py" --join "$tmp/raw" "$folder/report.json" "$results" \
  "$device" "$("$nvcc" --version | tail -1)" &&
  python3 "$here/summary.py" "$results"
