// Nothing tells the block: what would.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// RUN: %rewrite %s -q --list --block=16x16 -- %mock 2>&1 | FileCheck %s --check-prefix=TOLD
// RUN: sh -c '%rewrite %s --block=16x0 -- %mock; test $? = 2' 2>&1 | FileCheck %s --check-prefix=BAD
// CHECK: declined k; block-shape (no launch tells how large blocks are, and no array's extents suggest it; --block=16x16 would)
// TOLD: rewritten k: s
// BAD: --block takes a number from 1 to 1024 or up to three of them, as 32x8, not '16x0'

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int w) {
  extern __shared__ float s[];
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  s[threadIdx.y * (blockDim.x + 2) + threadIdx.x + 1] = in[y * w + x];
  if (threadIdx.x == 0)
    s[threadIdx.y * (blockDim.x + 2)] = x > 0 ? in[y * w + x - 1] : 0;
  if (threadIdx.x == blockDim.x - 1)
    s[threadIdx.y * (blockDim.x + 2) + threadIdx.x + 2] = x + 1 < w ? in[y * w + x + 1] : 0;
  __syncthreads();
  float v = 0;
  for (int i = 0; i < 3; ++i)
    v += s[threadIdx.y * (blockDim.x + 2) + threadIdx.x + i];
  out[y * w + x] = v;
}

void run(const float *in, float *out, int w, int h, int bx, int by) {
  dim3 block(bx, by);
  k<<<dim3(w / bx, h / by), block, (bx + 2) * by * sizeof(float)>>>(in, out, w);
}
