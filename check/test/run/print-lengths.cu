// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// Length modifiers of the device's printf, and what follows them.
#include <cstdio>
__global__ void print(long long l, char c, short s, float f) {
  // CHECK: 4464 4464 -24 232 7
  printf("%hd %hu %hhd %hhu %d\n", 70000, 70000, 1000, 1000, 7);
  // CHECK-NEXT: 1250999896491 -1 18446744073709551615 8 0x10
  printf("%lld %ld %lu %zu %p\n", l, -1l, -1l, sizeof(l), (void *)16);
  // CHECK-NEXT: a -3 2.5 |   7|  2.50|
  printf("%c %hd %g |%*d|%6.2f|\n", c, s, f, 4, 7, f);
}
int main() {
  print<<<1, 1>>>(0x123456789abll, 'a', -3, 2.5f);
  return cudaDeviceSynchronize();
}
