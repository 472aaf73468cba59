# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What completion gives for some lines. Words as readline cuts them.
source "$1"
cd "$(dirname "$0")" || exit 1
try() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _rcache
  echo "[$*] ${COMPREPLY[*]}"
}
try rcache-rewrite --expl
try rcache-rewrite --tune =
try rcache-rewrite --tune = p
try rcache-rewrite --distribution = c
try rcache-rewrite -- -
try rcache-lsp --pat
try rcache-rewrite com
try rcache-check d
try rcache-check -- d
