// A tail that waits between its steps, but reads what others write within one: another order
// of its threads leaves other sums in the original as well, and says nothing.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=quick -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck %s
// CHECK: rewrote 'total'
// CHECK: executed before it was written
__global__ void total(const int *a, int *b) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  s[t] = a[blockIdx.x * 256 + t];
  __syncthreads();
  for (int o = 128; o > 32; o >>= 1) {
    if (t < o)
      s[t] += s[t + o];
    __syncthreads();
  }
  if (t < 32) {
    volatile int *v = s;
    v[t] += v[t + 32];
    __syncwarp();
    v[t] += v[t + 16];
    __syncwarp();
    v[t] += v[t + 8];
    __syncwarp();
    v[t] += v[t + 4];
    __syncwarp();
    v[t] += v[t + 2];
    __syncwarp();
    v[t] += v[t + 1];
  }
  if (t == 0)
    b[blockIdx.x] = s[0];
}

void launch(const int *a, int *b) { total<<<64, 256>>>(a, b); }
