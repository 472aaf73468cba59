// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// printf of the device: what it prints is compared line by line. No %h: where
// the CPU prints the short, a device takes a double from the arguments and what
// it prints is not defined ("Format specifiers" in the programming guide).
#include <cstdio>

__global__ void print(const char *name, float x, long long l) {
  printf("plain\n");
  printf("%d %5d|%-5d|%05d %u %x %X %o %c %%\n", -3, 42, 42, 42, 7u, 255, 255, 8, 'z');
  printf("%f %.3f %10.2f|%e %g %g\n", x, x, x, x, x, 1e-10);
  printf("%lld %llx %lu %zu\n", l, l, 123456789012ul, sizeof(l));
  printf("%s and %s, %10s|\n", "text", "more", "right");
  printf("%*d|\n", 6, 12);
  printf("%d %f %d %f %d\n", 1, 2.0, 3, 4.0, 5);
  printf("%p\n", (void *)0x1234);
  for (int i = 0; i < 3; ++i)
    printf("block %d thread %d i %d\n", blockIdx.x, threadIdx.x, i);
  int n = printf("%d %d\n", 1, 2);
  printf("returned %d\n", n);
  (void)name;
}
int main() {
  print<<<1, 1>>>(nullptr, 2.5f, 0x123456789abll);
  cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
