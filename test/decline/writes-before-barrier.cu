// Global memory is written before the staged data is read.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; writes-before-barrier
//
// A thread may see its own store without a barrier, another one may not: in front of
// the staging, under a condition on data, by a function, through a pointer, and in the
// round before.
// CHECK: declined missing{{.*}}; writes-before-barrier
// CHECK: declined byFunction{{.*}}; writes-before-barrier
// CHECK: declined byPointer{{.*}}; writes-before-barrier
// CHECK: declined rounds{{.*}}; writes-before-barrier

__global__ void k(float *in, float *out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  in[g] = 0;
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

__global__ void missing(float *a, float *b, int n) {
  __shared__ float s[129];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  if (g < n && a[g] == -9999.f)
    a[g] = 0.f;
  s[t] = g < n ? a[g] : 0;
  if (t == 0)
    s[128] = 3;
  __syncthreads();
  if (g < n)
    b[g] = s[t + 1] - s[t];
}

__device__ inline void fix(float &x) {
  if (x < 0)
    x = 0;
}
__global__ void byFunction(float *a, float *b, int n) {
  __shared__ float s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  fix(a[g]);
  s[t] = a[g];
  __syncthreads();
  b[g] = s[127 - t];
}

__global__ void byPointer(float *a, float *b, int n) {
  __shared__ float s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  float *p = a + g;
  *p += 1;
  s[t] = *p;
  __syncthreads();
  b[g] = s[127 - t];
}

__global__ void rounds(float *a, float *b, int n) {
  __shared__ float s[2][128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = 0; i < n; ++i) {
    s[i % 2][t] = a[g];
    __syncthreads();
    a[g] = s[i % 2][127 - t] * 2;
  }
}

void run(float *in, float *out, int n) {
  k<<<n / 128, 128>>>(in, out, n);
  missing<<<n / 128, 128>>>(in, out, n);
  byFunction<<<n / 128, 128>>>(in, out, n);
  byPointer<<<n / 128, 128>>>(in, out, n);
  rounds<<<n / 128, 128>>>(in, out, n);
}
