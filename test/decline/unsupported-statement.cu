// A statement that the model cannot hold.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; unsupported-statement

struct List {
  const float *first, *last;
  __device__ const float *begin() const { return first; }
  __device__ const float *end() const { return last; }
};
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  float sum = s[127 - threadIdx.x];
  for (float x : List{in, in + 4})
    sum += x;
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
