#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configures (once) and builds a preset.   scripts/build.sh PRESET [target...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
folder=build
case $preset in
  asan) folder=build-asan ;;
  release) folder=build-release ;;
esac
cmake --build "$folder" -- ${NINJAFLAGS:-} "$@"
