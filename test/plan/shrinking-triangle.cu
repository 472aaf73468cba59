// A triangle of rounds: half of the original's warps are done in the middle of it. A warp that
// owns the row keeps whole slots idle where these are 32 threads apart; where they are
// neighbours, each slot has a lane at work up to the last eight rounds.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu --self-check=off --explain-choice --cuda-path=%cuda 2>&1 \
// RUN:   | FileCheck %s
//
// CHECK: v: owned, 32 apart{{.*}}<- chosen
// CHECK: v: owned, neighbours
//
// With a slow function in the steps each slot has a branch of its own:
// CHECK: candidates of 'values'
// CHECK: v: owned, 32 apart{{.*}}owned-branches
__device__ int weight(int x, int n) {
  for (int r = 0; r < 4; ++r)
    x = (x ^ (x >> 7)) * 0x45d9f3b + n;
  return x;
}
__global__ void triangle(const int *__restrict__ in, int *__restrict__ out) {
  __shared__ int v[256];
  const int i = threadIdx.x;
  v[i] = in[blockIdx.x * 256 + i];
  __syncthreads();
  for (int n = 254; n >= 0; n--) {
    int x = 0;
    if (i <= n)
      x = max(weight(v[i + 1], n), weight(v[i], i));
    __syncthreads();
    if (i <= n)
      v[i] = x;
    __syncthreads();
  }
  if (i == 0)
    out[blockIdx.x] = v[0];
}
__global__ void values(const int *__restrict__ in, int *__restrict__ out) {
  __shared__ int v[256];
  const int i = threadIdx.x;
  v[i] = in[blockIdx.x * 256 + i];
  __syncthreads();
  for (int n = 254; n >= 0; n--) {
    int x = 0;
    if (i <= n)
      x = max(max(v[i + 1], v[i]), __float2int_rn(expf(0.01f * (i - n))));
    __syncthreads();
    if (i <= n)
      v[i] = x;
    __syncthreads();
  }
  if (i == 0)
    out[blockIdx.x] = v[0];
}
void run(const int *in, int *out) {
  triangle<<<8192, 256>>>(in, out);
  values<<<8192, 256>>>(in, out);
}
