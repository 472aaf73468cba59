// _Pragma("unroll") is #pragma unroll: nothing of it depends on the compiler.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda
// RUN: rcache-check %s --rewritten=%t.cu --cuda-path=%cuda 2>&1 | FileCheck %s
// CHECK: equivalent: blur: {{.*}} compared bit for bit, {{[1-9][0-9]*}} of them by a rewritten kernel
#define UNROLLED _Pragma("unroll")
__global__ void blur(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float tile[132];
  const int g = blockIdx.x * 128 + threadIdx.x;
  tile[threadIdx.x] = g < n ? in[g] : 0.0f;
  if (threadIdx.x < 4)
    tile[threadIdx.x + 128] = g + 128 < n ? in[g + 128] : 0.0f;
  __syncthreads();
  float sum = 0;
  UNROLLED for (int i = 0; i < 5; ++i)
    sum += tile[threadIdx.x + i];
  if (g < n)
    out[g] = sum;
}

void run(const float *in, float *out, int n) { blur<<<(n + 127) / 128, 128>>>(in, out, n); }
