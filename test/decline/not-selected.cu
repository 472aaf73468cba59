// Another kernel was asked for.
// RUN: %rewrite %s -q --list --kernel=other --kernels-elsewhere -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; not-selected

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
