// A reason that holds at several places is told once, with the lines of the others.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck %s
// CHECK: :[[#@LINE+9]]:{{.*}}'sum' left as it is: {{.*}} [uses-shuffles]
// CHECK: note: nothing to do
// CHECK-NEXT: note: the same at lines [[#@LINE+8]] and [[#@LINE+9]]
// CHECK-NOT: uses-shuffles
__global__ void sum(const float *in, float *out, int n) {
  __shared__ float s[32];
  const int t = threadIdx.x;
  float v = t < n ? in[t] : 0.f;

  v += __shfl_down_sync(0xffffffffu, v, 16);
  v += __shfl_down_sync(0xffffffffu, v, 8);
  v += __shfl_down_sync(0xffffffffu, v, 4);
  s[t / 32] = v;
  __syncthreads();
  if (t == 0)
    out[0] = s[0] + s[1];
}

int main() {
  float *a, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  sum<<<1, 64>>>(a, b, 64);
}
