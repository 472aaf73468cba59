// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s --device-code=clang 2>&1 | FileCheck %s
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
// Where it happens, who called that, who launched it: each with its place.
__device__ void put(int *o, int i) {
  // CHECK: inlined.cu:[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}[out-of-bounds]
  o[i] = i;
}
// CHECK: inlined into {{.*}}inlined.cu:[[#@LINE+1]]:
__global__ void kernel(int *o) { put(o, threadIdx.x); }
// CHECK: in kernel kernel, launch 1, block (0,0,0), thread (32,0,0)
void launch(int *o, int n) {
  // CHECK: launched from {{.*}}inlined.cu:[[#@LINE+2]]:
  // CHECK-NEXT: kernel<<<1, n>>>(o);
  kernel<<<1, n>>>(o);
}
int main() {
  int *o;
  cudaMalloc(&o, 32 * sizeof(int));
  launch(o, 32);
  launch(o, 64);
  return 0;
}
