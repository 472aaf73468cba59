#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which loops with a number of rounds nvcc unrolls unasked: loops of R rounds and a body
of some operators, compiled to PTX; a loop that is left has a branch back.

usage: unrolling.py [--nvcc=NVCC] [--arch=sm_90]

Prints, a row a kind of body, the operators (as the source has them, indices and the
counter's use included) in all rounds of the largest loop that was unrolled with all
smaller ones, and of the smallest one that was left. lib/Model/FoldedNumbers.cpp holds
the limit that the tool takes, below all of these."""
import argparse
import os
import re
import subprocess
import tempfile

BODIES = {
    # name: (text of one operation, operators in it, operators around it)
    "sums of neighbours": ("sum += s[t + j] * (j + {k});", 5, 0),
    "absolute differences": ("a = fabsf(a - 0.{k}f);", 3, 6),
    "if": ("if (a > 0.{k}f) a -= 0.3f;", 2, 6),
    "?:": ("a = a > 0.{k}f ? a - 0.3f : a;", 4, 6),
    "bits": ("x = (x << 3) ^ (x >> 5);", 4, 6),
}
ROUNDS = (3, 5, 7, 9, 11, 13, 17, 21, 25)
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)

KERNEL = """__global__ void k(const float *in, float *out, int n) {{
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  float sum = 0;
  unsigned x = n;
  for (int j = 0; j < {rounds}; ++j) {{
    float a = s[t + j];
    {body}
    sum += a * (j + 1) + x;
  }}
  out[t] = sum;
}}
"""


NESTED = """__global__ void k(const float *in, float *out, int n) {{
  __shared__ float s[16][512];
  int t = threadIdx.x;
  s[0][t] = in[t];
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < {rounds}; ++j)
    for (int i = 0; i < {rounds}; ++i) {{
      float a = s[j][t + i];
      {body}
      sum += a * (j + i * 0.5f);
    }}
  out[t] = sum;
}}
"""


def is_left(nvcc, arch, text, folder):
    source, ptx = os.path.join(folder, "k.cu"), os.path.join(folder, "k.ptx")
    with open(source, "w") as f:
        f.write(text)
    subprocess.run([nvcc, "-O3", "-ptx", f"-arch={arch}", source, "-o", ptx], check=True)
    with open(ptx) as f:
        lines = f.read().splitlines()
    seen = set()
    for line in lines:
        if m := re.match(r"(\$\w+):", line):
            seen.add(m.group(1))
        elif (m := re.search(r"bra(?:\.uni)?\s+(\$\w+);", line)) and m.group(1) in seen:
            return True
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="sm_90")
    args = parser.parse_args()
    print(subprocess.run([args.nvcc, "--version"], capture_output=True, text=True)
          .stdout.splitlines()[-1])
    print(f"{'body':24} {'unrolled':>9} {'left':>6}   (operators in all rounds)")
    with tempfile.TemporaryDirectory() as folder:
        nested = [(f"{name}, nested", NESTED, (2, 3, 4, 5), *body)
                  for name, body in BODIES.items() if name not in ("bits", "sums of neighbours")]
        single = [(name, KERNEL, ROUNDS, *body) for name, body in BODIES.items()]
        for name, kernel, many, text, own, around in single + nested:
            found = []
            for rounds in many:
                for size in SIZES:
                    total = (rounds if kernel is KERNEL else rounds**2) * (size * own + around + 4)
                    if not 60 <= total <= 1200:
                        continue
                    body = "\n    ".join(text.format(k=k + 1) for k in range(size))
                    found.append((total, is_left(args.nvcc, args.arch,
                                                 kernel.format(rounds=rounds, body=body),
                                                 folder)))
            found.sort()
            left = [n for n, is_loop in found if is_loop]
            least = min(left, default=None)
            most = max((n for n, is_loop in found
                        if not is_loop and (least is None or n < least)), default=0)
            print(f"{name:24} {most:9} {least if least is not None else '-':>6}")


if __name__ == "__main__":
    main()
