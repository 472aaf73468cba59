// In place: the source may be overwritten before it would be read again, and how
// often it is read is known at run time only.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; may-alias

__global__ void k(float *a, int n, int m) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = a[g];
  __syncthreads();
  float v = 0;
  for (int j = 0; j < m; ++j)
    v += s[(threadIdx.x + j * n) & 127];
  a[g] = v;
}

void run(float *a, int n, int m) { k<<<(n + 127) / 128, 128>>>(a, n, m); }
