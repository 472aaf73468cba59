// before
#include <cooperative_groups.h>
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  __shared__ float s[128 + 8];
  int t = warp.meta_group_rank() * 32 + warp.thread_rank(), g = blockIdx.x * 128 + t;
  s[t] = in[g];
  if (t < 8)
    s[t + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[t + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after: (The ids of the block's own group, `this_thread_block().thread_rank()`, are understood.)
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  if (t < 8)
    s[t + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[t + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
