#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing, builds, runs all the tests. The last line is
#   N passed, N failed
# over lit tests, unit tests and the habits that scripts/check_*.py keep.
#
#   scripts/test.sh [--asan] [--slow] [--no-bootstrap]
#
# --asan: those of the library once more under AddressSanitizer and UBSan, which takes
# as long again. --slow: further forms of what is tried anyway.
set -uo pipefail
cd "$(dirname "$0")/.."

asan=0
bootstrap=1
for argument in "$@"; do
  case $argument in
    --asan) asan=1 ;;
    --slow) export RCACHE_SLOW_TESTS=1 ;;
    --no-bootstrap) bootstrap=0 ;;
    *) echo "usage: scripts/test.sh [--asan] [--slow] [--no-bootstrap]" >&2; exit 2 ;;
  esac
done

# A quarter of the time of parsers and of isl went to page faults: memory is taken in
# large pages, and what was freed is kept (15 to 25% less time).
malloc=glibc.malloc
export GLIBC_TUNABLES=$malloc.hugetlb=1:$malloc.arena_max=1:$malloc.top_pad=67108864
GLIBC_TUNABLES+=:$malloc.trim_threshold=1073741824:$malloc.mmap_threshold=1073741824

passed=0
failed=0

# Adds the counts of the last line that run_tests.py printed to the totals.
count() {
  local line
  line=$(tail -n 1 "$1")
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
}

# Builds a preset and runs its tests, further arguments are for run_tests.py; a
# build that fails counts as a failure.
test_preset() {
  local preset=$1 folder=$2 log
  shift 2
  echo "== $preset"
  if ! scripts/build.sh "$preset" all rcache-unittests; then
    echo "the build of '$preset' failed"
    failed=$((failed + 1))
    return
  fi
  log=$(mktemp)
  local lit
  lit=$(sed -n 's/^RCACHE_LIT:[A-Z]*=//p' "$folder/CMakeCache.txt")
  python3 scripts/run_tests.py --lit "$lit" "$folder" "$@" | tee "$log"
  count "$log"
  rm -f "$log"
}

if ((bootstrap)) && ! scripts/bootstrap.sh; then
  echo "0 passed, 1 failed"
  exit 1
fi

echo "== habits"
for script in check_layers check_declines check_docs check_sizes check_tests; do
  if python3 "scripts/$script.py"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
done

test_preset ci build
# All presets precompile headers, which hides that one is missing.
if [[ -n ${RCACHE_SLOW_TESTS:-} ]]; then
  if python3 scripts/includes.py; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
fi
# What runs the library in all its parts; other tests are about what stands around.
((asan)) && test_preset asan build-asan --only model plan decline output driver lsp emit tune

echo "$passed passed, $failed failed"
((failed == 0))
