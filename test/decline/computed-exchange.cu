// Values computed by other threads, again and again, in elements that belong to no
// one thread.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; computed-exchange

__global__ void k(const float *__restrict__ in, float *__restrict__ sums, int n) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  int i = 2 * t + 1;
  for (int r = 0; r < 3; ++r) {
    if (t < 63) {
      float v = s[i];
      s[i] = s[i + 1];
      s[i + 1] = 0.5f * v;
    }
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = s[0];
}

void run(const float *in, float *sums, int n) { k<<<(n + 127) / 128, 128>>>(in, sums, n); }
