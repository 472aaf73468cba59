#!/bin/bash
# The programs of this folder on a device: original against rewritten form, outputs and
# compute-sanitizer. Two steps, for a device machine without LLVM.
#
#   device.sh rewrite BIN FOLDER    here: pairs NAME.cu, NAME.rc.cu in FOLDER, and this script
#   device.sh run [FOLDER]          there: a line a program: same or DIFFERENT, and the
#                                   sanitizer's summary for the rewritten form
set -u
here=$(dirname "$(readlink -f "$0")")
if [ "$1" = rewrite ]; then
  bin=$(readlink -f "$2")
  mkdir -p "$3"
  cp "$here/device.sh" "$3/"
  for f in "$here"/*.cu; do
    name=$(basename "$f" .cu)
    if RCACHE_SELF_CHECK=off "$bin/rcache-rewrite" "$f" -o "$3/$name.rc.cu" --force -- \
      -std=c++20 2>&1 | grep "remark: rewrote" >/dev/null; then
      cp "$f" "$3/"
    else
      rm -f "$3/$name.rc.cu"
    fi
  done
  exit
fi
cd "${2:-$here}" || exit
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export out
build() {
  nvcc -std=c++20 -arch=sm_90 -w -o "$out/$1.a" "$1.cu" 2>/dev/null || return
  nvcc -std=c++20 -arch=sm_90 -w -DRCACHE_ANY_LAUNCH -o "$out/$1.b" "$1.rc.cu"
}
export -f build
printf '%s\n' *.rc.cu | sed 's/.rc.cu$//' | xargs -P "$(nproc)" -I{} bash -c 'build {}'
bad=0
for f in *.rc.cu; do
  name=${f%.rc.cu}
  if [ ! -x "$out/$name.a" ]; then
    echo "$name: nvcc does not compile the original"
    continue
  elif [ ! -x "$out/$name.b" ]; then
    echo "$name: DOES NOT COMPILE"
    bad=1
    continue
  fi
  timeout 60 "$out/$name.a" >"$out/a" 2>&1
  timeout 60 "$out/$name.b" >"$out/b" 2>&1
  same=same
  cmp -s "$out/a" "$out/b" || { same=DIFFERENT && bad=1; }
  summary=$(timeout 120 compute-sanitizer "$out/$name.b" 2>&1 | grep "ERROR SUMMARY")
  echo "$name: $same; ${summary#========= }"
done
exit $bad
