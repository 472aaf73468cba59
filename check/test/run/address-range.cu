// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// What verification inside an application needs: the allocation around a
// pointer, through the driver's entry point.
#include <cstdio>
int main() {
  char *p;
  cudaMalloc(&p, 1000);
  using Range = int (*)(unsigned long long *, size_t *, unsigned long long);
  void *f = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &f, 12000,
                                   cudaEnableDefault, &found);
  unsigned long long base = 0;
  size_t size = 0;
  int e = ((Range)f)(&base, &size, (unsigned long long)p + 777);
  printf("%d %d %d %zu\n", found == cudaDriverEntryPointSuccess, e,
         base == (unsigned long long)p, size);
  // CHECK: 1 0 1 1000
  printf("%d\n", ((Range)f)(&base, &size, (unsigned long long)&base) != 0);
  // CHECK: 1
}
