// REQUIRES: cuda-toolkit
// Two files of a program whose kernels, functions and variables of the device have one
// name: each file has its own.
// RUN: %check run %s %S/../Inputs/same_names.cu | FileCheck %s
// RUN: %check run %S/../Inputs/same_names.cu %s | FileCheck %s
// With separate compilation, static ones alone.
// RUN: %check run %s %S/../Inputs/same_names.cu -- -rdc=true -DSTATIC=static | FileCheck %s
// CHECK: first: 11 21 31 41 51 61
// CHECK: second: 12 22 32 42 52 62
// CHECK: host: 71 72
#define FILE_NUMBER 1
#define SHOW first
#include "../Inputs/same_names.h"
void second();
int main() {
  first();
  second();
  first();
  int seen = 0;
  cudaMemcpyFromSymbol(&seen, seven, sizeof(seen));
  printf("host: %d %d\n", seen, secondsSeven());
}
