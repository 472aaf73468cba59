// REQUIRES: cuda-toolkit
// How programs end: the status is the program's own.
// RUN: %status 3 %check run %s --args return | FileCheck %s
// RUN: %status 7 %check run %s --args exit | FileCheck %s
// RUN: not --crash %check run %s --args abort
// RUN: not --crash %check run %s --args crash
// RUN: %status 5 %check run %s -- -DMISSING 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: %status 5 %check run %s -- -DNESTED 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: %status 2 %check run %t.no.such.file.cu 2>&1 | FileCheck %s --check-prefix=NOFILE
// CHECK: main
// CHECK: handler of atexit
// CHECK: static destructor
// MISSING: this runtime does not have 'cublasCreate_v2'{{.*}}, which the program uses
// NESTED: launches from device code are not supported here
// NOFILE: there is no file '
#include <cstdio>
#include <cstdlib>
#include <cstring>
struct Last {
  ~Last() { printf("static destructor\n"); }
} last;
extern "C" int cublasCreate_v2(void **);
__global__ void kernel(int *p) {
  *p = 1;
#ifdef NESTED
  kernel<<<1, 1>>>(p);
#endif
}
int main(int argc, char **argv) {
  int *p;
  cudaMalloc(&p, 4);
  kernel<<<1, 1>>>(p);
#ifdef MISSING
  return cublasCreate_v2(nullptr);
#endif
  atexit([] { printf("handler of atexit\n"); });
  printf("main\n");
  if (argc > 1 && !strcmp(argv[1], "exit"))
    exit(7);
  if (argc > 1 && !strcmp(argv[1], "abort"))
    abort();
  if (argc > 1 && !strcmp(argv[1], "crash"))
    *(volatile int *)8 = 1;
  return 3;
}
