// Blocks that are arguments of the function that launches: whole, as numbers,
// through a second function, with different values. A kernel in two dimensions
// is planned for one of them; launches with other blocks run the original.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda --force -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s -o /dev/null --print-after=model --cuda-path=%cuda -- -I%S/Inputs | FileCheck --check-prefix=MODEL %s
//
// CHECK-DAG: rewrote 'mean' {{.*}}'t' reloaded
// CHECK-DAG: rewrote 'edges' {{.*}}'t' reloaded
// CHECK-DAG: rewrote 'ends'
//
// TEXT-LABEL: {{^}}static inline void mean{{_rc}}_launch(
// TEXT: rc_block.x == 32 && rc_block.y == 4 && rc_block.z == 1
// TEXT-LABEL: {{^}}static inline void edges{{_rc}}_launch(
// TEXT: rc_block.x == 16 && rc_block.y == 8 && rc_block.z == 1
//
// MODEL-LABEL: kernel mean
// MODEL: block 32x4
// MODEL-LABEL: kernel edges
// MODEL: block 16x8
#include "program.h"

// The tile has the block's size.
__global__ void mean(const float *__restrict__ in, float *__restrict__ out,
                     int w, int h) {
  extern __shared__ float t[];
  const int tw = blockDim.x + 2;
  for (int j = threadIdx.y; j < blockDim.y + 2; j += blockDim.y)
    for (int i = threadIdx.x; i < tw; i += blockDim.x) {
      const int x = int(blockIdx.x * blockDim.x) + i - 1,
                y = int(blockIdx.y * blockDim.y) + j - 1;
      t[j * tw + i] = x >= 0 && x < w && y >= 0 && y < h ? in[y * w + x] : 0;
    }
  __syncthreads();
  const int x = blockIdx.x * blockDim.x + threadIdx.x,
            y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  float sum = 0;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      sum += t[(threadIdx.y + j) * tw + threadIdx.x + i];
  out[y * w + x] = sum / 9;
}

// A tile for the largest block.
__global__ void edges(const float *__restrict__ in, float *__restrict__ out,
                      int w, int h) {
  __shared__ float t[17][17];
  const int x = blockIdx.x * blockDim.x + threadIdx.x,
            y = blockIdx.y * blockDim.y + threadIdx.y;
  const bool on = x < w && y < h;
  t[threadIdx.y][threadIdx.x] = on ? in[y * w + x] : 0;
  if (threadIdx.x == blockDim.x - 1)
    t[threadIdx.y][threadIdx.x + 1] = x + 1 < w && y < h ? in[y * w + x + 1] : 0;
  if (threadIdx.y == blockDim.y - 1)
    t[threadIdx.y + 1][threadIdx.x] = x < w && y + 1 < h ? in[(y + 1) * w + x] : 0;
  __syncthreads();
  if (on)
    out[y * w + x] = fabsf(t[threadIdx.y][threadIdx.x + 1] -
                           t[threadIdx.y][threadIdx.x]) +
                     fabsf(t[threadIdx.y + 1][threadIdx.x] -
                           t[threadIdx.y][threadIdx.x]);
}

// One dimension: any block will do.
__global__ void ends(const float *__restrict__ in, float *__restrict__ out,
                     int n) {
  extern __shared__ float t[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  t[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n)
    out[i] = threadIdx.x + 1 < blockDim.x ? t[threadIdx.x + 1] - t[threadIdx.x]
                                          : t[threadIdx.x];
}

static void launchMean(const float *in, float *out, int w, int h, dim3 block) {
  const dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
  mean<<<grid, block, (block.x + 2) * (block.y + 2) * sizeof(float)>>>(in, out,
                                                                       w, h);
}

void launchEdges(const float *in, float *out, int w, int h, int bx, int by) {
  dim3 block(bx, by);
  edges<<<dim3(blocks(w, bx), blocks(h, by)), block>>>(in, out, w, h);
}
template <typename T>
void throughEdges(const T *in, T *out, int w, int h, const dim3 &block) {
  launchEdges(in, out, w, h, block.x, block.y);
}

static void launchEnds(const float *in, float *out, int n, int threads) {
  ends<<<blocks(n, threads), threads, threads * sizeof(float)>>>(in, out, n);
}

int main() {
  const int Sizes[][2] = {{96, 24}, {37, 21}};
  for (auto &S : Sizes) {
    const int w = S[0], h = S[1];
    Buffer<float> In(randoms<float>(w * h)), Out(w * h);
    launchMean(In.Data, Out.Data, w, h, dim3(32, 4));
    Out.show("mean", w, h);
    launchMean(In.Data, Out.Data, w, h, {16, 16});
    Out.show("mean", w, h);
    throughEdges(In.Data, Out.Data, w, h, dim3(16, 8));
    Out.show("edges", w, h);
    launchEnds(In.Data, Out.Data, w * h, 64);
    launchEnds(In.Data, Out.Data, w * h, 96);
    Out.show("ends", w, h);
  }
}
