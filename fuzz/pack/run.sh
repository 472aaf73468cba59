#!/bin/bash
# Runs what pack.sh packed. Results go to $OUT (default: ./out): *.txt, *.json and
# programs that failed, as one archive.
#
#   run.sh campaign FIRST..LAST SECONDS    every result compiled by nvcc, too
#   run.sh mutants FIRST..LAST SECONDS [options of `rcache-fuzz mutants`]
#   run.sh both    FIRST..LAST SECONDS     a campaign, and mutants in what is
#                                          left of the time
set -u
here=$(dirname "$(readlink -f "$0")")
what=$1 seeds=$2 seconds=$3
shift 3
if [ "$what" = both ]; then
  start=$SECONDS
  "$0" campaign "$seeds" $((seconds - 130)) &&
    left=$((seconds - (SECONDS - start) - 20)) &&
    [ $left -gt 20 ] && exec "$0" mutants "$seeds" $left --variants=2
  exit
fi
out=${OUT:-$PWD/out} root=${RCACHE_PACK_ROOT:-/tmp/rcache-fuzz-pack}
jobs=${JOBS:-$(nproc)}
mkdir -p "$out" "$root"
if [ ! -e "$root/ready" ]; then
  tar -C "$root" -xf "$here/tools.tar.xz" &
  tar -C "$root" -xf "$here/libs.tar.xz"
  wait
  resource=$(cat "$root/resource-dir")
  if [ ! -e "$resource" ]; then
    mkdir -p "$(dirname "$resource")"
    ln -s "$root/clang" "$resource"
  fi
  touch "$root/ready"
fi
export LD_LIBRARY_PATH=$root/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH=$root/bin:/usr/local/cuda/bin:$PATH
TMPDIR=$(mktemp -d)
export TMPDIR
log=$out/$what-$seeds.txt
{
  echo "rcache $(cat "$root/version"); $(nproc) cores; $(uname -sr)"
  nvcc --version | tail -2
  echo "rcache-fuzz $what --seeds=$seeds --jobs=$jobs --time=$seconds $*"
} >"$log" 2>&1
# What does not work at all shows with one kernel.
rcache-fuzz run --seeds=1..4 --jobs=2 --nvcc >"$out/first.txt" 2>&1
if ! grep -q '^  equal' "$out/first.txt"; then
  rcache-fuzz generate --seed=1 -o "$TMPDIR/first.cu"
  {
    which g++ gcc nvcc
    rcache-rewrite "$TMPDIR/first.cu" -o "$TMPDIR/first_rc.cu"
    rcache-check run "$TMPDIR/first.cu"
    nvcc -c -arch=sm_90 "$TMPDIR/first.cu" -o "$TMPDIR/first.o"
  } >>"$out/first.txt" 2>&1
  tail -40 "$out/first.txt"
  exit 1
fi
begin=$(date +%s)
case $what in
campaign)
  rcache-fuzz run --seeds="$seeds" --jobs="$jobs" --time="$seconds" --nvcc \
    --keep="$TMPDIR/failed" --summary="$out/$what-$seeds.json" "$@" \
    >>"$log" 2>&1
  ;;
mutants)
  rcache-fuzz mutants --seeds="$seeds" --jobs="$jobs" --time="$seconds" --nvcc \
    --summary="$out/$what-$seeds.json" "$@" >>"$log" 2>&1
  ;;
esac
status=$?
echo "exit status $status after $(($(date +%s) - begin)) s" >>"$log"
if [ -d "$TMPDIR/failed" ]; then
  tar -C "$TMPDIR" -cJf "$out/failed-$seeds.tar.xz" failed
fi
rm -rf "$TMPDIR"
tail -30 "$log"
