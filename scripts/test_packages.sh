#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs both packages of scripts/package.sh in a root without LLVM and uses them.
#
#   scripts/test_packages.sh FOLDER ROOT
#
# FOLDER holds the packages. ROOT is a Debian 12 as debootstrap makes it; it is made
# (and then needs a network) when it is not there:
#
#   debootstrap --variant=minbase bookworm ROOT
#
# Needs to be run as root (chroot). Slow, so no part of the tests of every day; what
# it said last is in docs/measurements/packages.txt.
set -euo pipefail
[[ $# == 2 && -n $2 ]] || { echo "usage: scripts/test_packages.sh FOLDER ROOT" >&2; exit 2; }
packages=$(cd "$1" && pwd)
root=$2
here=$(cd "$(dirname "$0")/.." && pwd)
[[ -e $root/bin/sh ]] || debootstrap --variant=minbase bookworm "$root"

if find "$root" -name 'libLLVM*' -not -path '*/rcache/*' | grep -q .; then
  echo "test_packages: there is an LLVM in $root" >&2
  exit 1
fi
work=$root/tmp/rcache-test
rm -rf "$work" "$root/opt/rcache" "$root/opt/moved"
mkdir -p "$work" "$root/opt/rcache"
cp "$here/test/output/Inputs/stencil.cu" "$here/test/Inputs/cuda.h" "$work"
cp "$packages"/rcache*.tar.gz "$work/rcache.tar.gz"
cp "$packages"/rcache*.deb "$work/rcache.deb"

# A source that needs neither the toolkit nor a C++ library: neither is there.
cat >"$work/use.sh" <<'EOF'
set -eu
cd /tmp/rcache-test
mock="-nocudainc -nocudalib -include /tmp/rcache-test/cuda.h"
"$1/rcache-rewrite" --version | head -n 2
"$1/rcache-rewrite" stencil.cu -o out.cu --explain=out.html --report=out.json -- $mock >remarks 2>&1
head -n 1 remarks
grep -q blur_rc out.cu
grep -q '"verdict": "rewritten"' out.json
"$1/rcache-lsp" --version | head -n 1
"$1/rcache-check" --help >/dev/null
EOF
say() { echo "== $*"; }

say "tarball, in a folder of its own, then moved"
tar xzf "$work/rcache.tar.gz" -C "$root/opt/rcache" --strip-components=1
bin=$(cd "$root/opt/rcache" && find . -name rcache-rewrite -type f -path '*/bin/*' -printf '%h' | head -n 1)
chroot "$root" sh /tmp/rcache-test/use.sh "/opt/rcache/$bin"
mv "$root/opt/rcache" "$root/opt/moved"
chroot "$root" sh /tmp/rcache-test/use.sh "/opt/moved/$bin"
rm -rf "$root/opt/moved"

say "Debian package"
chroot "$root" dpkg -i /tmp/rcache-test/rcache.deb | tail -n 1
chroot "$root" sh /tmp/rcache-test/use.sh /usr/bin
chroot "$root" dpkg -L rcache | grep -c 'share/man/man1/rcache.*\.1'
chroot "$root" dpkg -r rcache | tail -n 1
if chroot "$root" sh -c 'ls /usr/lib/rcache /usr/bin/rcache-rewrite' >/dev/null 2>&1; then
  echo "test_packages: something was left behind" >&2
  exit 1
fi
rm -rf "$work"
say "both packages work without LLVM"
