// A member of a struct that is not divided into numbers.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; struct-member ('s' holds structs)
// CHECK-NOT: struct-member

struct Inner { int n; };
struct Stat { float sum; Inner in; };
__global__ void k(const float *__restrict__ in, float *__restrict__ sums) {
  __shared__ Stat s[128];
  int t = threadIdx.x;
  s[t].sum = in[blockIdx.x * 128 + t];
  s[t].in.n = 1;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) {
      s[t].sum += s[t + d].sum;
      s[t].in.n += s[t + d].in.n;
    }
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = s[0].sum / s[0].in.n;
}

void run(const float *in, float *sums, int n) { k<<<n / 128, 128>>>(in, sums); }
