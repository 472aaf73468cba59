# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a program whose kernel takes very many registers of PTX:

    many_registers.py STEPS [FACTOR] > program.cu

Each step reads an element, branches, and makes some twenty registers. FACTOR: of the last step,
for a program that differs.
"""
import sys

steps = int(sys.argv[1])
factor = sys.argv[2] if len(sys.argv) > 2 else "3"
print("__global__ void kernel(const int *a, int *o, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x, s = i;\n"
      "  if (i >= n)\n    return;")
for k in range(steps):
    f = factor if k == steps - 1 else "3"
    print(f"  int v{k} = a[(i + {k * 7}) % n] * {f};\n"
          f"  if (v{k} & {1 << k % 5})\n"
          f"    s = (s ^ v{k}) + (s >> {k % 7 + 1}) * v{k // 2};\n"
          f"  else\n"
          f"    o[i] = s - v{k} * v{k // 3};")
print("  o[i] = s;\n}\n"
      "int main() {\n"
      "  const int n = 256;\n"
      "  int h[n], *a, *o;\n"
      "  for (int i = 0; i < n; ++i)\n    h[i] = i * i % 101;\n"
      "  cudaMalloc(&a, sizeof(h));\n"
      "  cudaMalloc(&o, sizeof(h));\n"
      "  cudaMemcpy(a, h, sizeof(h), cudaMemcpyHostToDevice);\n"
      "  kernel<<<2, 128>>>(a, o, n);\n"
      "  cudaDeviceSynchronize();\n"
      "}")
