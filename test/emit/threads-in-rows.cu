// Blocks in a line whose threads compute row and column of a tile from their number.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'tiles<32>' {{.*}}staged once for several blocks
// CHECK-DAG: the block's 1024 threads are planned in rows of 32, as they compute their coordinates
// CHECK-DAG: rewrote 'box'
// CHECK-DAG: the block's 256 threads are planned in rows of 16, as they compute their coordinates
// TEXT: The block's threads in rows.
// TEXT-NEXT: const dim3 rc_block(rc_given_block.x / 32u, rc_given_block.y * 32u,
// SAME: equivalent: 2 launches {{.*}}; 2 by a rewritten kernel
#include "program.h"

template <int BS>
__global__ void tiles(int N, int K, float alpha, const float *A, const float *B, float beta,
                      float *C) {
  __shared__ float As[BS * BS], Bs[BS * BS];
  const unsigned col = threadIdx.x % BS, row = threadIdx.x / BS;
  A += blockIdx.x * BS * K;
  B += blockIdx.y * BS;
  C += blockIdx.x * BS * N + blockIdx.y * BS;
  float sum = 0.f;
  for (int k = 0; k < K; k += BS) {
    As[row * BS + col] = A[row * K + col];
    Bs[row * BS + col] = B[row * N + col];
    __syncthreads();
    A += BS;
    B += BS * N;
    for (int d = 0; d < BS; ++d)
      sum += As[row * BS + d] * Bs[d * BS + col];
    __syncthreads();
  }
  C[row * N + col] = alpha * sum + beta * C[row * N + col];
}

__global__ void box(const int *in, int *out, int w, int h) {
  __shared__ int s[18][18];
  const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
  const int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  for (int i = tid; i < 18 * 18; i += blockDim.x) {
    const int gx = blockIdx.x * 16 + i % 18 - 1, gy = blockIdx.y * 16 + i / 18 - 1;
    s[i / 18][i % 18] = gx >= 0 && gx < w && gy >= 0 && gy < h ? in[gy * w + gx] : 0;
  }
  __syncthreads();
  int sum = 0;
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx)
      sum += s[ty + dy][tx + dx] * (dx - dy);
  if (x < w && y < h)
    out[y * w + x] = sum;
}

int main(int argc, char **) {
  const int n = 128 * argc, w = 70 * argc, h = 45; // no constants
  Buffer<float> a(randoms<float>(n * n)), b(randoms<float>(n * n)), c(randoms<float>(n * n));
  tiles<32><<<dim3(n / 32, n / 32), 1024>>>(n, n, 0.7f, a.Data, b.Data, 0.3f, c.Data);
  c.show("tiles");
  if (argc > 9) // what the plan is made for
    tiles<32><<<dim3(128, 128), 1024>>>(4096, 4096, 1, a.Data, b.Data, 0, c.Data);
  Buffer<int> in(randoms<int>(w * h)), out(w * h);
  box<<<dim3((w + 15) / 16, (h + 15) / 16), 256>>>(in.Data, out.Data, w, h);
  out.show("box");
  if (argc > 9)
    box<<<dim3(256, 256), 256>>>(in.Data, out.Data, 4096, 4096);
}
