#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what the original and the rewritten program printed.

usage: table.py OLD NEW    lines `kernel n milliseconds hash`
"""
import sys


def read(path):
    with open(path) as lines:
        words = [line.split() for line in lines]
    return {(w[0], w[1]): (float(w[2]), w[3]) for w in words if len(w) == 4}


def main():
    old, new = read(sys.argv[1]), read(sys.argv[2])
    print(f"{'kernel':14} {'n':>5} {'old ms':>9} {'new ms':>9} {'gain':>6} {'of cuBLAS':>10} bits")
    for key, (before, bits) in old.items():
        after, now = new[key]
        library = new["cublas_double" if "double" in key[0] else "cublas", key[1]][0]
        print(f"{key[0]:14} {key[1]:>5} {before:9.3f} {after:9.3f} {before / after:5.2f}x"
              f" {library / after:9.1%}  {'same' if bits == now else 'DIFFERENT'}")


if __name__ == "__main__":
    main()
