#!/bin/sh
# Packs rcache-fuzz, rcache-rewrite and rcache-check with every library they
# need into FOLDER, for a machine that has a CUDA toolkit with its host compiler
# and no LLVM. There: FOLDER/run.sh (see its head).
#
#   fuzz/pack/pack.sh BUILD FOLDER
#
# libs.tar.xz changes with LLVM only and is kept if it is there.
set -eu
build=$1 folder=$2
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder" "$work/bin" "$work/lib"
for tool in rcache-fuzz rcache-rewrite rcache-check; do
  cp "$build/bin/$tool" "$work/bin/"
  strip "$work/bin/$tool"
done
resource=$(sed -n 's/^#define RCACHE_CLANG_RESOURCE_DIR "\(.*\)"/\1/p' \
  "$build"/include/rcache/Config.h)
mkdir -p "$work/clang"
cp -r "$resource/include" "$work/clang/include"
echo "$resource" >"$work/resource-dir"
git -C "$here" log -1 --format='%h %cs' >"$work/version"
tar -C "$work" -I "xz -3 -T0" -cf "$folder/tools.tar.xz" bin clang resource-dir version
cp "$here/run.sh" "$folder/run.sh"
if [ ! -e "$folder/libs.tar.xz" ]; then
  # The C library stays the machine's own. What LLVM asks of z3 (the static
  # analyser) and libxml2 of ICU's tables is never called here: stubs.
  for f in $(ldd "$work"/bin/* | awk '/=>/ { print $3 }' | sort -u); do
    case $(basename "$f") in
    libc.so.* | libm.so.* | libgcc_s.* | libdl.* | libpthread.* | librt.*) ;;
    *) cp -L "$f" "$work/lib/" ;;
    esac
  done
  stub() { # library, symbols on stdin
    awk '{ print "void " $1 "(void) {}" }' >"$work/stub.c"
    cc -shared -fPIC -w -Wl,-soname,"$(basename "$1")" -o "$1" "$work/stub.c"
  }
  for z3 in "$work"/lib/libz3.so*; do
    [ -e "$z3" ] && nm -D "$work"/lib/libLLVM* "$work"/lib/libclang-cpp* |
      awk '$1 == "U" && $2 ~ /^Z3_/ { sub(/@.*/, "", $2); print $2 }' |
      sort -u | stub "$z3"
  done
  for icu in "$work"/lib/libicudata.so*; do
    [ -e "$icu" ] && nm -D "$work"/lib/libicuuc* |
      awk '$2 ~ /^icudt/ { print $2 }' | stub "$icu"
  done
  tar -C "$work" -cf - lib |
    xz --x86 --lzma2=preset=6 -T0 >"$folder/libs.tar.xz"
fi
du -bch "$folder"/*
