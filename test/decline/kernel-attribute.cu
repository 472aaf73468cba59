// What a cluster is told to be is said of the kernel, not of what it computes.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; kernel-attribute
// CHECK: declined behind{{.*}}; kernel-attribute

#define CLUSTER __attribute__((cluster_dims(2, 1, 1)))
#define BODY                                                                   \
  __shared__ float s[257];                                                     \
  const int g = blockIdx.x * 256 + threadIdx.x;                                \
  s[threadIdx.x + 1] = g < n ? in[g] : 0.0f;                                   \
  if (threadIdx.x == 0)                                                        \
    s[0] = g > 0 && g <= n ? in[g - 1] : 0.0f;                                 \
  __syncthreads();                                                             \
  if (g < n)                                                                   \
    out[g] = s[threadIdx.x] + s[threadIdx.x + 1];

__global__ void CLUSTER k(const float *in, float *out, int n) { BODY }
// Known to nvcc alone, and said in a declaration before.
__attribute__((nv_something)) __global__ void behind(const float *in, float *out, int n);
__global__ void behind(const float *in, float *out, int n) { BODY }

void run(const float *in, float *out, int n) {
  k<<<(n + 255) / 256, 256>>>(in, out, n);
  behind<<<(n + 255) / 256, 256>>>(in, out, n);
}
