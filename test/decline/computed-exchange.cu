// Values computed by other threads, again and again, in elements that belong to no
// one thread.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// RUN: %rewrite %s -o %t.cu -- %mock 2>&1 | FileCheck --check-prefix=NOTE %s
// CHECK: declined k{{.*}}; computed-exchange
// What keeps a warp from holding the array is said in the list as in the remark.
// CHECK: declined total; computed-exchange ('s' is updated in place): a warp could hold the array, but memory is read in a loop of unknown length, which needs all warps
// NOTE: 'total' left as it is: {{.*}}[computed-exchange]
// NOTE: note: a warp could hold the array, but memory is read in a loop of unknown length, which needs all warps

__global__ void k(const float *__restrict__ in, float *__restrict__ sums, int n) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  int i = 2 * t + 1;
  for (int r = 0; r < 3; ++r) {
    if (t < 63) {
      float v = s[i];
      s[i] = s[i + 1];
      s[i + 1] = 0.5f * v;
    }
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = s[0];
}

__global__ void total(const float *__restrict__ in, float *__restrict__ sums, int n) {
  __shared__ float s[128];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * 128 + t; i < n; i += 128 * gridDim.x)
    sum += in[i];
  s[t] = sum;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = s[0];
}

void run(const float *in, float *sums, int n) {
  k<<<(n + 127) / 128, 128>>>(in, sums, n);
  total<<<80, 128>>>(in, sums, n);
}
