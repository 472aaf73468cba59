// A pointer that runs along.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; non-affine-index

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  float *p = s;
  for (int i = 0; i < n; ++i)
    *p++ = in[g];
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }

// The loop ends where the sum does: no array of registers knows how far.
// CHECK: declined until{{.*}}; {{.*}}hangs on 'k', whose values are not known before it has them
__global__ void until(const float *__restrict__ in, float *__restrict__ out, float x) {
  __shared__ float s[128 + 16];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  if (t < 16)
    s[t + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k <= 16 && sum < x; k++)
    sum += s[t + k];
  out[g] = sum;
}

void run2(const float *in, float *out, float x) { until<<<8, 128>>>(in, out, x); }
