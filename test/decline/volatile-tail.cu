// A tail that counts on a warp in step: nothing stands between its statements.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// RUN: %rewrite %s -q --list --assume-lockstep -- %mock 2>&1 | FileCheck --check-prefix=STEP %s
// CHECK: declined k{{.*}}; volatile-tail ('v[t + 16]' is what another lane has made of it in line 15)
// STEP: rewritten k

__global__ void k(const float *__restrict__ in, float *__restrict__ sums) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  if (t < 32) {
    volatile float *v = s;
    // Steps of one warp.
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0)
    sums[blockIdx.x] = s[0];
}

void run(const float *in, float *sums, int n) { k<<<n / 64, 64>>>(in, sums); }
