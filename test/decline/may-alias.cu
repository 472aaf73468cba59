// In place: the source may be overwritten before it would be read again.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; may-alias

__global__ void k(float *in, float *out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  out[g] = s[(threadIdx.x + n) & 127];
}

void run(float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
