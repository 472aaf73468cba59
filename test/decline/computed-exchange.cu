// Values computed by other threads, again and again.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; computed-exchange

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    float v = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += v;
    __syncthreads();
  }
  out[g] = s[threadIdx.x];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
