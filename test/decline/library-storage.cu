// Working storage of a library.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; library-storage

namespace cub {
struct TempStorage {
  int words[32];
};
} // namespace cub
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  __shared__ cub::TempStorage storage;
  storage.words[0] = n;
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
