// In place: the source would have been overwritten before it is read again.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; may-alias

__global__ void k(float *data, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = data[g];
  __syncthreads();
  data[g] = s[(threadIdx.x + n) & 127];
}

void run(float *data, int n) { k<<<(n + 127) / 128, 128>>>(data, n); }
