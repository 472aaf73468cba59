// REQUIRES: cuda-toolkit, nvcc
// Addresses of private arrays are integers in nvcc's code: what leaves such an array
// is found there as well, and does not run into the stack of the program that looks.
// RUN: %check run %s --device-code=nvcc 2>&1 | FileCheck %s --check-prefix=INSIDE --implicit-check-not=error
// RUN: %status 3 %check run %s --device-code=nvcc --args 40 2>&1 | FileCheck %s --check-prefix=ABOVE
// RUN: %status 3 %check run %s --device-code=nvcc --args -3000 2>&1 | FileCheck %s --check-prefix=BELOW
// INSIDE: 21 6
// ABOVE: error: access of 4 bytes at offset 64 of a private array of 64 bytes {{.*}}[out-of-bounds]
// BELOW: error: access of 4 bytes at offset -{{[0-9]+}} of a private array of {{[0-9]+}} bytes {{.*}}[out-of-bounds]
#include <cstdio>
#include <cstdlib>

__global__ void stack(const int *program, int *out, int length, int first) {
  int st[16];
  int top = first;
  for (int pc = 0; pc < length; ++pc) {
    if (program[pc] >= 0)
      st[top++] = program[pc];
    else {
      --top;
      st[top - 1] += st[top];
    }
  }
  out[threadIdx.x] = st[top - 1];
}
// A pointer that leads to one array, to another, or to memory.
__global__ void chosen(int *memory, int *out, int which) {
  int a[8], b[4];
  for (int i = 0; i < 8; ++i)
    a[i] = memory[i];
  for (int i = 0; i < 4; ++i)
    b[i] = memory[i + 1];
  int *p = which == 0 ? a : which == 1 ? b : memory;
  for (int i = 0; i < 3 + which; ++i)
    ++p[i * 2 % 4 + (which > 1 ? 5 : 0)];
  out[threadIdx.x] = a[memory[0] & 7] + b[memory[1] & 3] - a[which & 7] + p[1];
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? abs(atoi(argv[1])) : 5;
  int *program, *out, host[64];
  cudaMalloc(&program, 4096 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(program, 0, 4096 * sizeof(int));
  for (int i = 0; i < 64; ++i)
    host[i] = argc > 1 ? 1 : i < 3 ? 6 + i : -1;
  cudaMemcpy(program, host, sizeof(host), cudaMemcpyHostToDevice);
  stack<<<1, 32>>>(program, out, n, argc > 1 && atoi(argv[1]) < 0 ? -2000 : 0);
  cudaMemcpy(host, out, 32 * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d ", host[5]);
  for (int which = 0; which < 3; ++which)
    chosen<<<1, 32>>>(program, out, which);
  cudaMemcpy(host, out, 32 * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", host[0] != 12345 ? 6 : 0);
}
