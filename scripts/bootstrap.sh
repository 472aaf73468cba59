#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what building and testing need, on Debian 12 or a relative of it.
# Asks the package manager only for what is missing; does nothing the second
# time. The CUDA toolkit is not installed: it is looked for and missed aloud.
#
#   scripts/bootstrap.sh [--no-editors] [--browser]
#
# --no-editors: without Neovim and Emacs, which only the tests of the language server
# use. --browser: with Chromium, for the tests of the pages that --explain writes
# (they are left out where it is not there).
set -euo pipefail

llvm=22
build_packages=(
  "clang-$llvm" "libclang-$llvm-dev" "libclang-cpp$llvm-dev" "llvm-$llvm-dev"
  "llvm-$llvm-tools" "lld-$llvm" "clang-tools-$llvm" "libclang-rt-$llvm-dev"
  "clang-format-$llvm" "clang-tidy-$llvm" "libpolly-$llvm-dev"
  libisl-dev libgmp-dev libboost-context-dev libgtest-dev
  zlib1g-dev libzstd-dev libxml2-dev
  cmake ninja-build make ccache g++ python3 git pkg-config
)
editor_packages=(neovim emacs-nox elpa-eglot)
browser_packages=()
for argument in "$@"; do
  case $argument in
    --no-editors) editor_packages=() ;;
    --browser) browser_packages=(chromium) ;;
    *) echo "usage: scripts/bootstrap.sh [--no-editors] [--browser]" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${build_packages[@]}" "${editor_packages[@]}" "${browser_packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done

if ((${#missing[@]})); then
  if ! command -v apt-get >/dev/null; then
    echo "bootstrap: this system has no apt; install by hand what these Debian packages hold:" >&2
    echo "  ${missing[*]}" >&2
    exit 1
  fi
  sudo=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "bootstrap: run as root, or install sudo; missing: ${missing[*]}" >&2
      exit 1
    fi
    sudo=(sudo)
  fi
  echo "bootstrap: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  "${sudo[@]}" apt-get update -qq
  if ! apt-cache show "clang-$llvm" >/dev/null 2>&1; then
    echo "bootstrap: no clang-$llvm in the package sources. Debian 12 has it in" >&2
    echo "  bookworm-security; elsewhere see https://apt.llvm.org" >&2
    exit 1
  fi
  "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# The toolkit is the user's.
toolkit=""
for folder in "${CUDA_PATH:-}" "${CUDA_HOME:-}" \
              "$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || true)" || true)")")" \
              /usr/local/cuda; do
  if [[ -n $folder && -e $folder/include/cuda_runtime.h ]]; then
    toolkit=$folder
    break
  fi
done
if [[ -n $toolkit ]]; then
  echo "bootstrap: ready, CUDA toolkit in $toolkit"
else
  echo "bootstrap: ready, but there is NO CUDA TOOLKIT: set CUDA_PATH, put nvcc in PATH or"
  echo "  install it in /usr/local/cuda. Tests that need it are left out until then."
fi
