// Quotients and remainders of quotients and remainders.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; too-hard

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[((threadIdx.x * 5 / 3) % 97 * 7 / 2 % 89 * 11 / 3) % 83] = in[g];
  __syncthreads();
  out[g] = s[((threadIdx.x * 13 / 5) % 71 * 3 / 2 % 67 * 5 / 3) % 61 * 7 / 3 % 53];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
