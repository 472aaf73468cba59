#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The tool's main job on a real kernel: installs what is missing, builds the programs
# (but for the fuzzer), rewrites a kernel, shows the plan and the diff, runs the result
# beside the original on the CPU, compiles it with nvcc.
#
#   scripts/demo.sh [source.cu [options of rcache-rewrite]]
set -euo pipefail
cd "$(dirname "$0")/.."

if (($#)) && [[ ! -f $1 ]]; then
  echo "demo: there is no file '$1'" >&2
  echo "usage: scripts/demo.sh [source.cu [options of rcache-rewrite]]" >&2
  exit 2
fi

scripts/bootstrap.sh --no-editors
scripts/build.sh dev rcache-rewrite rcache-check rcache-lsp
source=${1:-examples/k_stencil.cu}
(($#)) && shift

out=build/demo
mkdir -p "$out"
result=$out/$(basename "${source%.cu}")_rc.cu
flags=(-- -std=c++17 "-I$(dirname "$source")")

echo
echo "== rcache-rewrite $source -o $result"
if ! build/bin/rcache-rewrite "$source" -o "$result" --report="$out/report.json" "$@" "${flags[@]}"; then
  echo "demo: the source could not be rewritten; without a CUDA toolkit no source that" >&2
  echo "  includes its headers can be parsed" >&2
  exit 1
fi
echo
echo "== the plan"
build/bin/rcache-rewrite "$source" --quiet --print-after=plan "$@" "${flags[@]}"
echo
echo "== the diff (the result has the device functions written out, not included)"
build/bin/rcache-rewrite "$source" --quiet --diff --runtime=include "$@" "${flags[@]}"

nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
if [[ -x $nvcc ]]; then
  echo
  echo "== nvcc -Xptxas -v $result"
  # Without the clang headers that the tool uses: the result stands alone.
  "$nvcc" -std=c++17 -arch=sm_90 -Xptxas -v -I"$(dirname "$source")" "$result" \
    -o "${result%.cu}" 2>&1 | grep -E "error|Compiling entry|registers|stack" || true
  if [[ ! -x ${result%.cu} ]]; then
    echo "demo: the result does not compile" >&2
    exit 1
  fi
  echo "compiled: ${result%.cu}"
else
  echo "demo: no nvcc, so the result was not compiled"
fi
