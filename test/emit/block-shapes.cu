// Blocks of two dimensions that only the launch knows: the kernel is planned for the usual ones, and
// each launch picks its own. Of several that the file shows, each has its kernel.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ rcache-rewrite %t.cu -o %t.again.cu --force -- -I%S/Inputs 2> /dev/null %}
// RUN: %if slow %{ cmp %t.cu %t.again.cu %}
// RUN: %if slow %{ rcache-rewrite %s -o %t.one.cu --force --block=8x4 -- -I%S/Inputs 2> %t.remarks %}
// RUN: %if slow %{ FileCheck %s --check-prefix=ONE < %t.remarks %}
#include "program.h"

// CHECK-DAG: rewrote 'heat'
// CHECK-DAG: blocks of 32 x 8 threads: the same
// CHECK-DAG: blocks of 32 x 32 threads: the same
// TEXT-DAG: heat{{_rc}}<<<
// TEXT-DAG: heat{{_rc}}_block32x8<<<
// TEXT-DAG: heat{{_rc}}_block32x32<<<
// ONE: rewrote 'heat'
// ONE: with blocks of 8 x 4 threads (assumed)
// ONE-NOT: blocks of 32 x 8 threads
// ONE: rewrote 'shown<int>'
// ONE: blocks of {{[0-9]+ x [0-9]+}} threads
__global__ void heat(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
  extern __shared__ float tile[];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * blockDim.x + tx, y = blockIdx.y * blockDim.y + ty;
  const int pitch = blockDim.x + 2, l = (ty + 1) * pitch + tx + 1;
  if (x < w && y < h) {
    tile[l] = in[y * w + x];
    if (tx == 0)
      tile[l - 1] = x > 0 ? in[y * w + x - 1] : 0.f;
    if (tx == blockDim.x - 1)
      tile[l + 1] = x + 1 < w ? in[y * w + x + 1] : 0.f;
    if (ty == 0)
      tile[l - pitch] = y > 0 ? in[(y - 1) * w + x] : 0.f;
    if (ty == blockDim.y - 1)
      tile[l + pitch] = y + 1 < h ? in[(y + 1) * w + x] : 0.f;
  }
  __syncthreads();
  if (x < w - 1 && y < h - 1 && x > 0 && y > 0)
    out[y * w + x] = 0.25f * (tile[l - 1] + tile[l + 1] + tile[l - pitch] + tile[l + pitch]);
}

// CHECK-DAG: rewrote 'product'
__global__ void product(const float *A, const float *B, float *C, int n) {
  extern __shared__ float s[];
  const int bs = blockDim.x;
  float *As = s, *Bs = s + bs * bs;
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * bs + ty, col = blockIdx.x * bs + tx;
  float sum = 0;
  for (int t = 0; t < n / bs; ++t) {
    As[ty * bs + tx] = A[row * n + t * bs + tx];
    Bs[ty * bs + tx] = B[(t * bs + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < bs; ++k)
      sum += As[ty * bs + k] * Bs[k * bs + tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

// Two shapes that the file shows.
// CHECK-DAG: rewrote 'shown<int>' (2 launches)
// TEXT-DAG: shown{{_rc_block[0-9]+x[0-9]+}}<T><<<
template <typename T>
__global__ void shown(const T *__restrict__ in, T *__restrict__ out, int w, int h) {
  __shared__ T s[18][34];
  const int x0 = blockIdx.x * blockDim.x, y0 = blockIdx.y * blockDim.y;
  for (int j = threadIdx.y; j < blockDim.y + 2; j += blockDim.y)
    for (int i = threadIdx.x; i < blockDim.x + 2; i += blockDim.x)
      s[j][i] = x0 + i < w && y0 + j < h ? in[(y0 + j) * w + x0 + i] : T(0);
  __syncthreads();
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x < w && y < h)
    out[y * w + x] = s[threadIdx.y][threadIdx.x] - s[threadIdx.y + 2][threadIdx.x + 2] +
                     s[threadIdx.y + 1][threadIdx.x];
}

int main() {
  const int W = 150, H = 70;
  for (dim3 block : {dim3(16, 16), dim3(32, 8), dim3(8, 8), dim3(32, 32), dim3(64, 4), dim3(5, 7)}) {
    Buffer<float> in(randoms<float>(W * H)), out(W * H);
    const size_t shared = (block.x + 2) * (block.y + 2) * sizeof(float);
    heat<<<dim3(blocks(W, block.x), blocks(H, block.y)), block, shared>>>(in.Data, out.Data, W, H);
    out.show("heat", block.x, block.y);
  }
  for (int bs : {8, 16, 32}) {
    const int N = 64;
    Buffer<float> a(randoms<float>(N * N)), b(randoms<float>(N * N)), c(N * N);
    product<<<dim3(N / bs, N / bs), dim3(bs, bs), 2 * bs * bs * sizeof(float)>>>(a.Data, b.Data, c.Data, N);
    c.show("product", bs);
  }
  Buffer<int> in(randoms<int>(W * H)), out(W * H);
  shown<int><<<dim3(blocks(W, 32), blocks(H, 8)), dim3(32, 8)>>>(in.Data, out.Data, W, H);
  out.show("shown", 32, 8);
  shown<int><<<dim3(blocks(W, 16), blocks(H, 16)), dim3(16, 16)>>>(in.Data, out.Data, W, H);
  out.show("shown", 16, 16);
}
