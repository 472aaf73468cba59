#!/bin/bash
# Builds stencil2d.cu for R = 1, 2, 4 and the 5-point step, both borders, and
# matmul.cu; runs all forms. usage: run2d.sh FOLDER [nvcc]
set -u
out=$1
nvcc=${2:-nvcc}
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for c in 0 1; do
  for r in 1 2 4; do
    echo "$nvcc -std=c++17 -O3 -arch=sm_90 -DR=$r -DCLAMP=$c $here/stencil2d.cu -o $tmp/c_${r}_$c"
  done
  echo "$nvcc -std=c++17 -O3 -arch=sm_90 -DFIVE -DCLAMP=$c $here/stencil2d.cu -o $tmp/c_five_$c"
done >"$tmp/jobs"
echo "$nvcc -std=c++17 -O3 -arch=sm_90 $here/matmul.cu -o $tmp/matmul" >>"$tmp/jobs"
xargs -P "$(nproc)" -I{} sh -c '{} || echo "FAILED {}"' <"$tmp/jobs"
echo "kernel,R,clamp,form,CX,CY,threads_x,threads_y,flags,ms,speedup,percent_of_copy,registers,local_bytes,check" >"$out/stencil2d.csv"
for f in "$tmp"/c_*; do
  "$f" >>"$out/stencil2d.csv" || echo "$(basename "$f"),failed" >>"$out/stencil2d.csv"
done
"$tmp/matmul" >"$out/matmul.csv"
