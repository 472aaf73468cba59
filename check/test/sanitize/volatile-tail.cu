// REQUIRES: cuda-toolkit
// RUN: %status 0 %check run %s
// RUN: %status 3 %check run %s --volatile-races 2>&1 | FileCheck %s
// The tail of an old reduction counts on a warp in step: no race by default, one
// on request, with the line and a mark below the place.
// CHECK: volatile-tail.cu:[[# @LINE + 9]]:{{[0-9]+}}: error: {{.*}}[shared-race]
// CHECK-NEXT: s[t] += s[t + d];
// CHECK-NEXT: ^
__global__ void kernel(int *o) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = t;
  s[t + 32] = 0;
  for (int d = 16; d > 0; d /= 2)
    s[t] += s[t + d];
  if (t == 0)
    *o = s[0];
}
int main() {
  int *o;
  cudaMalloc(&o, sizeof(int));
  kernel<<<1, 32>>>(o);
  return cudaDeviceSynchronize();
}
