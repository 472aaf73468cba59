// Outputs shared out among threads: tiles higher (and wider) than the block,
// with loops that stride by the block. Clamped, zero and wrapped borders; halos
// by strides, by a linear index and by the first thread of a row; rounds left
// by continue, break and return; bounds in the loop's own condition; a counter
// declared before; sources that may be what is written.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda --force -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s -o /dev/null --cuda-path=%cuda --kernel=relax --kernel=columns --kernel=ring -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=GAIN %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: %if slow %{ rcache-check %s --kernel=quarters --rewritten=%t.cu --prove -- -I%S/Inputs %}
//
// CHECK-DAG: rewrote 'relax'
// CHECK-DAG: rewrote 'quarters' {{.*}}'t' reloaded
// CHECK-DAG: each of the 2 outputs of a thread along x is planned as a thread of its own
// CHECK-DAG: rewrote 'slopes'
// CHECK-DAG: rewrote 'columns'
// CHECK-DAG: rewrote 'ring'
// CHECK-DAG: rewrote 'twoWrites'
//
// GAIN-DAG: rewrote 'relax' {{.*}}'t' reloaded
// GAIN-DAG: rewrote 'columns' {{.*}}'c' reloaded
// Two remainders an element, and more elements than before.
// GAIN-DAG: 'ring' left as it is: no gain is predicted
//
// TEXT-LABEL: {{^}}static inline void relax{{_rc}}_launch(
// TEXT: const dim3 rc_block(rc_given_block.x, rc_given_block.y * 4u,
#include "program.h"

// 32 x 8 threads, 32 x 32 outputs.
__global__ void relax(const float *u, float *v, int nx, int ny, float rate) {
  __shared__ float t[34][34];
  const int i = blockIdx.x * 32 + threadIdx.x, j0 = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 34; r += 8) {
    const int y = min(max(j0 + r - 1, 0), ny - 1);
    for (int c = threadIdx.x; c < 34; c += 32)
      t[r][c] = u[y * nx + min(max((int)blockIdx.x * 32 + c - 1, 0), nx - 1)];
  }
  __syncthreads();
  if (i >= nx)
    return;
  const int l = threadIdx.x + 1;
  for (int r = threadIdx.y; r < 32; r += 8) {
    if (j0 + r >= ny)
      break;
    const float mid = t[r + 1][l];
    v[(j0 + r) * nx + i] = mid + rate * (t[r][l] + t[r + 2][l] + t[r + 1][l - 1] +
                                         t[r + 1][l + 1] - 4.0f * mid);
  }
}

// 16 x 4 threads, 32 x 12 outputs: both axes.
__global__ void quarters(const int *__restrict__ in, int *__restrict__ out,
                         int w, int h) {
  __shared__ int t[12 + 2][32 + 2];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 12;
  for (int b = threadIdx.y; b < 14; b += blockDim.y)
    for (int a = threadIdx.x; a < 34; a += blockDim.x) {
      const int x = x0 + a - 1, y = y0 + b - 1;
      t[b][a] = x >= 0 && x < w && y >= 0 && y < h ? in[y * w + x] : 0;
    }
  __syncthreads();
  for (int b = threadIdx.y; b < 12; b += blockDim.y)
    for (int a = threadIdx.x; a < 32; a += blockDim.x) {
      if (x0 + a >= w || y0 + b >= h)
        continue;
      int sum = 0;
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l)
          sum += (3 * k + l + 1) * t[b + k][a + l];
      out[(y0 + b) * w + x0 + a] = sum;
    }
}

// The first thread of a row adds the element behind it.
__global__ void slopes(const float *in, float *out, int w, int h) {
  __shared__ float t[17][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 16;
  for (int r = threadIdx.y; r < 17; r += 4) {
    const int y = min(y0 + r, h - 1);
    t[r][threadIdx.x] = in[y * w + min(x, w - 1)];
    if (threadIdx.x == 0)
      t[r][32] = in[y * w + min(x + 32, w - 1)];
  }
  __syncthreads();
  int r = threadIdx.y;
  for (; r < 16; r += 4) {
    if (x >= w || y0 + r >= h)
      continue;
    out[(y0 + r) * w + x] =
        fabsf(t[r][threadIdx.x + 1] - t[r][threadIdx.x]) +
        fabsf(t[r + 1][threadIdx.x] - t[r][threadIdx.x]);
  }
}

// The image's end in the loop's condition; a tile linearised by hand.
__global__ void columns(const float *__restrict__ in, float *__restrict__ out,
                        int w, int h, float a, float b) {
  __shared__ float c[(24 + 6) * 16];
  const int x = blockIdx.x * 16 + threadIdx.x, top = blockIdx.y * 24;
  for (int r = threadIdx.y; r < 30; r += 8) {
    int y = top + r - 3;
    y = y < 0 ? 0 : y > h - 1 ? h - 1 : y;
    c[r * 16 + threadIdx.x] = x < w ? in[y * w + x] : 0.0f;
  }
  __syncthreads();
  if (x < w)
    for (int r = threadIdx.y; r < 24 && top + r < h; r += 8) {
      float sum = 0;
      for (int k = 0; k < 7; ++k)
        sum += c[(r + k) * 16 + threadIdx.x] * (k == 3 ? a : b);
      out[(top + r) * w + x] = sum;
    }
}

// Wrapped around; a linear index fills; bytes; a return where rows end.
__global__ void ring(const unsigned char *__restrict__ in,
                     unsigned char *__restrict__ out, int w, int h) {
  __shared__ unsigned char t[18][34];
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 18 * 34; k += 128) {
    const int x = (blockIdx.x * 32 + k % 34 + w - 1) % w,
              y = (blockIdx.y * 16 + k / 34 + h - 1) % h;
    t[k / 34][k % 34] = in[y * w + x];
  }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 16; r += 4) {
    const int y = blockIdx.y * 16 + r;
    if (y >= h || x >= w)
      return;
    unsigned char m = 0;
    for (int b = 0; b < 3; ++b)
      for (int a = 0; a < 3; ++a)
        m = max(m, t[r + b][threadIdx.x + a]);
    out[y * w + x] = m;
  }
}

// A thread's second write counts: rounds are not shared out anew.
__global__ void twoWrites(const float *__restrict__ in,
                          float *__restrict__ out, int w, int h) {
  __shared__ float t[16][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 16;
  for (int r = threadIdx.y; r < 16; r += 8) {
    t[threadIdx.y][threadIdx.x] = -1.0f;
    t[r][threadIdx.x] = x < w && y0 + r < h ? in[(y0 + r) * w + x] : 0.0f;
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 16; r += 8)
    if (x < w && y0 + r < h)
      out[(y0 + r) * w + x] = t[r][threadIdx.x] + t[r ^ 1][threadIdx.x];
}

int main() {
  const int Sizes[][2] = {{64, 96}, {131, 37}, {5, 3}};
  for (auto &S : Sizes) {
    const int w = S[0], h = S[1];
    Buffer<float> In(randoms<float>(w * h)), Out(w * h);
    Buffer<int> Ints(randoms<int>(w * h)), Sums(w * h);
    Buffer<unsigned char> Bytes(randoms<unsigned char>(w * h)), Most(w * h);
    relax<<<dim3(blocks(w, 32), blocks(h, 32)), dim3(32, 8)>>>(
        In.Data, Out.Data, w, h, 0.1f);
    Out.show("relax", w, h);
    quarters<<<dim3(blocks(w, 32), blocks(h, 12)), dim3(16, 4)>>>(
        Ints.Data, Sums.Data, w, h);
    Sums.show("quarters", w, h);
    slopes<<<dim3(blocks(w, 32), blocks(h, 16)), dim3(32, 4)>>>(
        In.Data, Out.Data, w, h);
    Out.show("slopes", w, h);
    columns<<<dim3(blocks(w, 16), blocks(h, 24)), dim3(16, 8)>>>(
        In.Data, Out.Data, w, h, 0.5f, 0.25f);
    Out.show("columns", w, h);
    ring<<<dim3(blocks(w, 32), blocks(h, 16)), dim3(32, 4)>>>(
        Bytes.Data, Most.Data, w, h);
    Most.show("ring", w, h);
    twoWrites<<<dim3(blocks(w, 32), blocks(h, 16)), dim3(32, 8)>>>(
        In.Data, Out.Data, w, h);
    Out.show("two writes", w, h);
  }
}
