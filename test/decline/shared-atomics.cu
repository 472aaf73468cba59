// A histogram.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; shared-atomics

__global__ void k(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int bins[128];
  bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * blockDim.x + threadIdx.x] & 127], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

void run(const int *in, int *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
