// Nothing tells a block of three dimensions: what would.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// RUN: %rewrite %s -q --list --block=8x8x4 -- %mock 2>&1 | FileCheck %s --check-prefix=TOLD
// RUN: sh -c '%rewrite %s --block=16x0 -- %mock; test $? = 2' 2>&1 | FileCheck %s --check-prefix=BAD
// CHECK: declined k; block-shape (no launch tells how large blocks are; --block=8x8x8 would)
// TOLD: rewritten k: s
// BAD: --block takes a number from 1 to 1024 or up to three of them, as 32x8, not '16x0'

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
  extern __shared__ float s[];
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z, row = (threadIdx.z * blockDim.y + threadIdx.y) * (blockDim.x + 2);
  const float *line = in + (z * h + y) * w;
  s[row + threadIdx.x + 1] = line[x];
  if (threadIdx.x == 0)
    s[row] = x > 0 ? line[x - 1] : 0;
  if (threadIdx.x == blockDim.x - 1)
    s[row + threadIdx.x + 2] = x + 1 < w ? line[x + 1] : 0;
  __syncthreads();
  float v = 0;
  for (int i = 0; i < 3; ++i)
    v += s[row + threadIdx.x + i];
  out[(z * h + y) * w + x] = v;
}

void run(const float *in, float *out, int w, int h, int d, int bx, int by, int bz) {
  dim3 block(bx, by, bz);
  k<<<dim3(w / bx, h / by, d / bz), block, (bx + 2) * by * bz * sizeof(float)>>>(in, out, w, h);
}
