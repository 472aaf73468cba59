// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax of each row of a matrix: a warp a row, trees in shared memory, a
// barrier of the block at each step. -DBY=8

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

__global__ void softmax(const float *in, float *out, int w, int h) {
  __shared__ float s[BY][32];
  const int y = blockIdx.x * BY + threadIdx.y;
  const int lane = threadIdx.x;
  float most = -1e30f;
  if (y < h)
    for (int x = lane; x < w; x += 32)
      most = fmaxf(most, in[size_t(y) * w + x]);
  s[threadIdx.y][lane] = most;
  __syncthreads();
  for (int k = 16; k > 0; k /= 2) {
    if (lane < k)
      s[threadIdx.y][lane] =
          fmaxf(s[threadIdx.y][lane], s[threadIdx.y][lane + k]);
    __syncthreads();
  }
  most = s[threadIdx.y][0];
  __syncthreads();
  float sum = 0;
  if (y < h)
    for (int x = lane; x < w; x += 32)
      sum += __expf(in[size_t(y) * w + x] - most);
  s[threadIdx.y][lane] = sum;
  __syncthreads();
  for (int k = 16; k > 0; k /= 2) {
    if (lane < k)
      s[threadIdx.y][lane] += s[threadIdx.y][lane + k];
    __syncthreads();
  }
  sum = s[threadIdx.y][0];
  if (y < h)
    for (int x = lane; x < w; x += 32)
      out[size_t(y) * w + x] = __expf(in[size_t(y) * w + x] - most) / sum;
}

// Rows of 512.
static void launch(const float *in, float *out, int w, int h) {
  const int rows = int(size_t(w) * h / 512);
  if (rows)
    softmax<<<(rows + BY - 1) / BY, dim3(32, BY)>>>(in, out, 512, rows);
}

int main(int argc, char **argv) {
  bench::measure2d<float>(bench::label(argc, argv), "row-softmax-512",
                          "32x" STRING(BY), 8, launch, 8192);
  return 0;
}
