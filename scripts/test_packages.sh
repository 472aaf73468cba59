#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs both packages of scripts/package.sh in a root without LLVM and uses them:
# a source without any header, then (with a toolkit) the examples, the checker, the
# fuzzer and the CMake module.
#
#   scripts/test_packages.sh FOLDER ROOT [TOOLKIT]
#
# FOLDER holds the packages. ROOT is a Debian 12 with what a user of CUDA has; it is
# made (and then needs a network) when it is not there:
#
#   debootstrap --variant=minbase --include=g++,cmake,ninja-build,make bookworm ROOT
#
# TOOLKIT (default: /usr/local/cuda) is shown to it at the same place, read-only. No
# network is there, and nothing that is mounted outlives the script. Needs to be run
# as root. Slow, so no part of the tests of every day; what it said last is in
# docs/measurements/packages.txt.
set -euo pipefail
[[ $# == 2 || $# == 3 ]] || { sed -n 's/^#   scripts/usage: scripts/p' "$0" >&2; exit 2; }
if [[ -z ${RCACHE_TEST_PACKAGES_INSIDE:-} ]]; then
  [[ -e $2/bin/sh ]] ||
    debootstrap --variant=minbase --include=g++,cmake,ninja-build,make bookworm "$2"
  # Mounts of its own, no network.
  RCACHE_TEST_PACKAGES_INSIDE=1 exec unshare --mount --net "$0" "$@"
fi
packages=$(cd "$1" && pwd)
root=$(cd "$2" && pwd)
toolkit=$(realpath "${3:-/usr/local/cuda}")
here=$(cd "$(dirname "$0")/.." && pwd)

if find "$root" -name 'libLLVM*' -o -name 'libclang*' -o -name 'clang*' -path '*/bin/*' | grep -q .; then
  echo "test_packages: there is an LLVM in $root" >&2
  exit 1
fi
work=$root/tmp/rcache-test
rm -rf "$work" "$root/opt/rcache" "$root/opt/moved"
mkdir -p "$work" "$root/opt/rcache" "$root/proc" "$root/dev"
mount -t proc proc "$root/proc"
[[ -e $root/dev/null ]] || mknod -m 666 "$root/dev/null" c 1 3
have_toolkit=no
if [[ -e $toolkit/bin/nvcc ]]; then
  have_toolkit=yes
  mkdir -p "$root/usr/local/cuda"
  mount --bind "$toolkit" "$root/usr/local/cuda"
  mount -o remount,bind,ro "$root/usr/local/cuda"
fi
cp "$here/test/output/Inputs/stencil.cu" "$here/test/Inputs/cuda.h" "$work"
cp -r "$here/test/cmake/Inputs/sample" "$work/sample"
cp "$packages"/rcache*.tar.xz "$work/rcache.tar.xz"
cp "$packages"/rcache*.deb "$work/rcache.deb"
inside() { env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C chroot "$root" "$@"; }

# A source that needs neither the toolkit nor a C++ library.
cat >"$work/bare.sh" <<'END'
set -eu
cd /tmp/rcache-test
mock="-nocudainc -nocudalib -include /tmp/rcache-test/cuda.h"
"$1/rcache-rewrite" --version | head -n 2
"$1/rcache-rewrite" stencil.cu -o out.cu --explain=out.html --report=out.json --self-check=off -- $mock >remarks 2>&1
head -n 1 remarks
grep -q blur_rc out.cu
grep -q '"verdict": "rewritten"' out.json
"$1/rcache-lsp" --version | head -n 1
"$1/rcache-check" --version
"$1/rcache-fuzz" --version | head -n 1
ldd "$1"/rcache-* >needs
! grep "not found" needs
! grep -E "LLVM|clang|isl" needs | grep -v /lib/rcache/
END

# All that needs the toolkit. $1: the programs, $2: the prefix.
cat >"$work/toolkit.sh" <<'END'
set -eu
PATH=$1:/usr/local/cuda/bin:$PATH
export PATH
rm -rf /tmp/rcache-test/use && mkdir /tmp/rcache-test/use && cd /tmp/rcache-test/use
cp -r "$2"/share/doc/rcache/examples/. .
for source in *.cu; do
  rcache-rewrite "$source" -o "rewritten_$source" -- -I"$2/include" -Iinclude >remarks 2>&1 || { cat remarks; exit 1; }
  if grep -q 'remark: rewrote' remarks; then
    grep -q 'executed before it was written' remarks || { cat remarks; exit 1; }
    echo "$source: rewritten, executed"
  elif ! grep -q remark: remarks; then
    echo "$source: nothing in shared memory"
  else
    sed -n 's/^[^ ]* remark: .*\(\[[a-z-]*\]\)$/left as it is \1/p' remarks | sed "s/^/$source: /" | head -n 1
  fi
done
rcache-check diff k_stencil.cu rewritten_k_stencil.cu | tail -n 1
nvcc -std=c++17 -arch=sm_90 -c rewritten_k_stencil.cu -o k_stencil.o && echo "nvcc compiles the result"
rcache-fuzz run --seeds=1..5 | tail -n 1
cp -r /tmp/rcache-test/sample . && cd sample
cmake -S . -B b -G Ninja -DCMAKE_PREFIX_PATH="$2" -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc \
  -DCMAKE_CUDA_ARCHITECTURES=90 >configured 2>&1 || { cat configured; exit 1; }
cmake --build b >built 2>&1 || { cat built; exit 1; }
grep -c 'Rewriting CUDA source' built | sed 's/$/ sources rewritten by the CMake module/'
grep -q '"verdict": "rewritten"' b/rcache/app/src/kernels.cu.json
grep -q 'executed before it was written' b/rcache/app/src/kernels.cu.json
test -x b/app
END
say() { echo "== $*"; }
use() { # the folder of the programs, the prefix
  inside sh /tmp/rcache-test/bare.sh "$1"
  if [[ $have_toolkit == yes ]]; then
    inside sh /tmp/rcache-test/toolkit.sh "$1" "$2"
  else
    echo "no toolkit: examples, checker and CMake module were not tried"
  fi
}

say "$(date -u +%Y-%m-%d), $(cat "$root/etc/debian_version"), $(cd "$packages" && du -h --apparent-size rcache*.tar.xz rcache*.deb | tr '\n\t' ', ')"
say "tarball, in a folder of its own, then moved"
inside tar xJf /tmp/rcache-test/rcache.tar.xz -C /opt/rcache --strip-components=1 2>/dev/null ||
  tar xJf "$work/rcache.tar.xz" -C "$root/opt/rcache" --strip-components=1
prefix=$(cd "$root/opt/rcache" && find . -name rcache-rewrite -type f -path '*/bin/*' -printf '%h\n' | head -n 1)
prefix=$(dirname "$prefix")
inside sh /tmp/rcache-test/bare.sh "/opt/rcache/$prefix/bin"
mv "$root/opt/rcache" "$root/opt/moved"
use "$(inside realpath "/opt/moved/$prefix")/bin" "$(inside realpath "/opt/moved/$prefix")"
rm -rf "$root/opt/moved"

say "Debian package"
inside dpkg -i /tmp/rcache-test/rcache.deb | tail -n 1
use /usr/bin /usr
inside dpkg -L rcache | grep -c 'share/man/man1/rcache.*\.1' | sed 's/$/ manual pages/'
inside dpkg -r rcache | tail -n 1
if inside sh -c 'ls /usr/lib/rcache /usr/bin/rcache-rewrite' >/dev/null 2>&1; then
  echo "test_packages: something was left behind" >&2
  exit 1
fi
rm -rf "$work"
say "both packages work without LLVM"
