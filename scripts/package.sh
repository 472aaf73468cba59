#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes packages that need no LLVM where they are installed: a tarball that may be
# unpacked anywhere, and a Debian package.
#
#   scripts/package.sh [FOLDER [BUILD]]    default: packages, build-package
#
# PRESET=dev in the environment takes another preset than release.
#
# PARTS=shared packs LLVM's shared libraries beside the programs; without it each
# program holds what it uses of LLVM, clang and isl.
#
# Both hold the programs, clang's headers, the CMake package, manual pages and
# documentation.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-packages}
build=${2:-build-package}
mkdir -p "$out"
out=$(cd "$out" && pwd)

static=ON
[[ ${PARTS:-} != shared ]] || static=OFF
cmake --preset "${PRESET:-release}" -B "$build" -DRCACHE_STATIC=$static -DRCACHE_BUNDLE=ON -DRCACHE_BUILD_TESTS=OFF \
  -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib >/dev/null
cmake --build "$build"
(cd "$build" && cpack -B "$out" >cpack.log 2>&1) || { cat "$build/cpack.log"; exit 1; }
rm -rf "$out/_CPack_Packages"
ls -l "$out"/rcache*.tar.xz "$out"/rcache*.deb
