// Kernels whose threads compute several outputs, a block's width apart or next
// to each other: the plan says which thread computes which. Rows and columns of
// a separable filter with four or eight steps, with and without padding, by a
// moved pointer and by a base index, zeros and clamps at the borders; constant
// rounds of any first value and step; a result that a round sets first.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda --force -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s -o /dev/null --cuda-path=%cuda --kernel=rows_moved --kernel=cols_padded \
// RUN:   --kernel=cols_base --kernel=rows_base --kernel=rows_clamped -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=GAIN %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: %if slow %{ rcache-rewrite %s -o /dev/null -q --cuda-path=%cuda --kernel=rows_base --emit-candidates=%t.each -- -I%S/Inputs %}
// RUN: %if slow %{ find %t.each -name "rows_base.c*.cu" -exec grep -hv "^//" {} + | FileCheck --check-prefix=EACH %s %}
//
// A candidate's file has the kernel as it was, not as it was planned.
// EACH: void rows_base(
// EACH-NOT: threadIdx.x /
// EACH: void rows_base_rc{{2?}}(
//
// By default, where it pays.
// GAIN-DAG: rewrote 'rows_moved<8, 8, 1>' {{.*}}'s' reloaded
// GAIN-DAG: rewrote 'rows_moved<4, 4, 1>' {{.*}}'s' reloaded
// GAIN-DAG: rewrote 'rows_base'
// GAIN-DAG: rewrote 'rows_clamped'
// GAIN-DAG: rewrote 'cols_padded<8, 8>' {{.*}}'s' reloaded
// GAIN-DAG: rewrote 'cols_base'
// GAIN-DAG: each of the 8 outputs of a thread along y is planned as a thread of its own
//
// CHECK-NOT: left as it is
//
// A launch is asked whether lines are longer than nothing, and the product of
// a block and the rounds does not wrap. Each instantiation has its own rounds.
// TEXT-LABEL: {{^}}cols_padded{{_rc}}_launch(dim3 rc_grid, dim3 rc_given_block,
// TEXT: (STEPS == 8)
// TEXT: const dim3 rc_block(rc_given_block.x, rc_given_block.y * 8u,
// TEXT: rc_given_block.x <= 1024u
// TEXT: pitch != 0
// TEXT: (STEPS == 4)
// TEXT: const dim3 rc_block(rc_given_block.x, rc_given_block.y * 4u,
// TEXT: cols_padded<R, STEPS><<<rc_grid, rc_given_block, rc_shared, rc_stream>>>
#include "program.h"

__constant__ float Taps[33];

template <int R, int STEPS, int HALO>
__global__ void rows_moved(float *dst, const float *src, int w, int h,
                           int pitch) {
  __shared__ float s[4][(STEPS + 2 * HALO) * 16];
  const int baseX = (blockIdx.x * STEPS - HALO) * 16 + threadIdx.x;
  const int baseY = blockIdx.y * 4 + threadIdx.y;
  src += baseY * pitch + baseX;
  dst += baseY * pitch + baseX;
#pragma unroll
  for (int i = HALO; i < HALO + STEPS; i++)
    s[threadIdx.y][threadIdx.x + i * 16] = src[i * 16];
#pragma unroll
  for (int i = 0; i < HALO; i++)
    s[threadIdx.y][threadIdx.x + i * 16] =
        (baseX >= -i * 16) ? src[i * 16] : 0;
#pragma unroll
  for (int i = HALO + STEPS; i < HALO + STEPS + HALO; i++)
    s[threadIdx.y][threadIdx.x + i * 16] =
        (w - baseX > i * 16) ? src[i * 16] : 0;
  __syncthreads();
#pragma unroll
  for (int i = HALO; i < HALO + STEPS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -R; j <= R; j++)
      sum += Taps[R - j] * s[threadIdx.y][threadIdx.x + i * 16 + j];
    dst[i * 16] = sum;
  }
}

// The tile's second dimension runs along y, and is padded.
template <int R, int STEPS>
__global__ void cols_padded(float *dst, const float *src, int w, int h,
                            int pitch) {
  __shared__ float s[16][(STEPS + 2) * 8 + 1];
  const int baseX = blockIdx.x * 16 + threadIdx.x;
  const int baseY = (blockIdx.y * STEPS - 1) * 8 + threadIdx.y;
  src += baseY * pitch + baseX;
  dst += baseY * pitch + baseX;
  for (int i = 1; i < 1 + STEPS; i++)
    s[threadIdx.x][threadIdx.y + i * 8] = src[i * 8 * pitch];
  for (int i = 0; i < 1; i++)
    s[threadIdx.x][threadIdx.y + i * 8] =
        baseY >= -i * 8 ? src[i * 8 * pitch] : 0;
  for (int i = 1 + STEPS; i < 1 + STEPS + 1; i++)
    s[threadIdx.x][threadIdx.y + i * 8] =
        h - baseY > i * 8 ? src[i * 8 * pitch] : 0;
  __syncthreads();
#pragma unroll
  for (int i = 1; i < 1 + STEPS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -R; j <= R; j++)
      sum += Taps[R - j] * s[threadIdx.x][threadIdx.y + i * 8 + j];
    dst[i * 8 * pitch] = sum;
  }
}

// No pointer moves, no padding, the tile lies as the image; lines end anywhere.
__global__ void cols_base(float *__restrict__ dst,
                          const float *__restrict__ src, int w, int h,
                          int pitch) {
  __shared__ float s[6 * 8][32];
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y0 = (blockIdx.y * 4 - 1) * 8 + threadIdx.y;
  for (int k = 0; k < 6; ++k) {
    const int y = y0 + k * 8;
    s[threadIdx.y + k * 8][threadIdx.x] =
        x < w && y >= 0 && y < h ? src[y * pitch + x] : 0.0f;
  }
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    const int y = y0 + (k + 1) * 8;
    float sum = 0;
    for (int j = -4; j <= 4; ++j)
      sum += Taps[j + 4] * s[threadIdx.y + (k + 1) * 8 + j][threadIdx.x];
    if (x < w && y < h)
      dst[y * pitch + x] = sum;
  }
}

// A step of two, a result from outside that each round sets anew.
__global__ void rows_base(float *__restrict__ dst,
                          const float *__restrict__ src, int w, int h) {
  __shared__ float s[8][4 * 32 + 16];
  const int y = blockIdx.y * 8 + threadIdx.y, x0 = blockIdx.x * 128;
  for (int i = threadIdx.x; i < 4 * 32 + 16; i += 32) {
    const int x = x0 + i - 8;
    s[threadIdx.y][i] = y < h && x >= 0 && x < w ? src[y * w + x] : 0.0f;
  }
  __syncthreads();
  float sum;
  for (int i = 2; i < 10; i += 2) {
    const int at = threadIdx.x + (i - 2) * 16;
    sum = 0.5f;
    for (int j = 0; j <= 16; ++j)
      sum += Taps[j] * s[threadIdx.y][at + j];
    if (y < h && x0 + at < w)
      dst[y * w + x0 + at] = sum;
  }
}

// Clamped borders; rounds counted down.
__global__ void rows_clamped(float *__restrict__ dst,
                             const float *__restrict__ src, int w, int h) {
  __shared__ float s[4][(8 + 2) * 16];
  const int y = blockIdx.y * 4 + threadIdx.y;
  const int base = (blockIdx.x * 8 - 1) * 16 + threadIdx.x;
  for (int i = 0; i < 10; i++)
    s[threadIdx.y][threadIdx.x + i * 16] =
        src[min(y, h - 1) * w + min(max(base + i * 16, 0), w - 1)];
  __syncthreads();
  for (int i = 8; i >= 1; i--) {
    float sum = 0;
    for (int j = -8; j <= 8; j++)
      sum += Taps[8 - j] * s[threadIdx.y][threadIdx.x + i * 16 + j];
    if (y < h && base + i * 16 < w)
      dst[y * w + base + i * 16] = sum;
  }
}

// The outputs of a thread are neighbours.
__global__ void neighbours(float *__restrict__ dst,
                           const float *__restrict__ src, int n) {
  __shared__ float s[4 * 64 + 8];
  const int first = blockIdx.x * 256;
  for (int i = threadIdx.x; i < 4 * 64 + 8; i += 64) {
    const int g = first + i - 4;
    s[i] = g >= 0 && g < n ? src[g] : 0.0f;
  }
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    const int at = threadIdx.x * 4 + k;
    float sum = 0;
    for (int j = 0; j < 9; ++j)
      sum += Taps[j] * s[at + j];
    if (first + at < n)
      dst[first + at] = sum;
  }
}

// Two arrays of which a second loop of other rounds is staged; what a thread
// reads for all its outputs.
__global__ void two_arrays(float *__restrict__ dst,
                           const float *__restrict__ a,
                           const float *__restrict__ b, int w, int h) {
  __shared__ float s[8 * 4 + 2][32], t[8 * 4][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 32;
  const float scale = a[min(x, w - 1)];
  for (int k = 0; k < 4; ++k)
    t[threadIdx.y + k * 8][threadIdx.x] =
        b[min(y0 + int(threadIdx.y) + k * 8, h - 1) * w + min(x, w - 1)];
  for (int k = 0; k < 5; ++k)
    if (threadIdx.y + k * 8 < 34)
      s[threadIdx.y + k * 8][threadIdx.x] =
          a[min(max(y0 + int(threadIdx.y) + k * 8 - 1, 0), h - 1) * w +
            min(x, w - 1)];
  __syncthreads();
  if (x >= w)
    return;
  for (int k = 0; k < 4; ++k) {
    const int l = threadIdx.y + k * 8;
    if (y0 + l < h)
      dst[(y0 + l) * w + x] =
          scale * (s[l][threadIdx.x] + s[l + 2][threadIdx.x]) -
          t[l][threadIdx.x];
  }
}

int main() {
  std::vector<float> W = randoms<float>(33);
  cudaMemcpyToSymbol(Taps, W.data(), W.size() * sizeof(float));
  const int Sizes[][2] = {{256, 64}, {384, 128}};
  for (auto &S : Sizes) {
    int w = S[0], h = S[1];
    Buffer<float> In(randoms<float>(w * h)), Out(w * h), Out2(w * h);
    rows_moved<8, 8, 1>
        <<<dim3(w / 128, h / 4), dim3(16, 4)>>>(Out.Data, In.Data, w, h, w);
    Out.show("rows, 8 steps", w, h);
    rows_moved<4, 4, 1>
        <<<dim3(w / 64, h / 4), dim3(16, 4)>>>(Out.Data, In.Data, w, h, w);
    Out.show("rows, 4 steps", w, h);
    cols_padded<8, 8>
        <<<dim3(w / 16, h / 64), dim3(16, 8)>>>(Out2.Data, In.Data, w, h, w);
    Out2.show("columns, 8 steps", w, h);
    cols_padded<4, 4>
        <<<dim3(w / 16, h / 32), dim3(16, 8)>>>(Out2.Data, In.Data, w, h, w);
    Out2.show("columns, 4 steps", w, h);
  }
  const int Odd[][2] = {{256, 64}, {131, 37}, {7, 3}};
  for (auto &S : Odd) {
    int w = S[0], h = S[1];
    Buffer<float> In(randoms<float>(w * h)), B(randoms<float>(w * h)),
        Out(w * h);
    cols_base<<<dim3(blocks(w, 32), blocks(h, 32)), dim3(32, 8)>>>(
        Out.Data, In.Data, w, h, w);
    Out.show("columns by index", w, h);
    rows_base<<<dim3(blocks(w, 128), blocks(h, 8)), dim3(32, 8)>>>(
        Out.Data, In.Data, w, h);
    Out.show("rows by index", w, h);
    rows_clamped<<<dim3(blocks(w, 128), blocks(h, 4)), dim3(16, 4)>>>(
        Out.Data, In.Data, w, h);
    Out.show("rows, clamped", w, h);
    neighbours<<<blocks(w * h, 256), 64>>>(Out.Data, In.Data, w * h);
    Out.show("neighbours", w, h);
    two_arrays<<<dim3(blocks(w, 32), blocks(h, 32)), dim3(32, 8)>>>(
        Out.Data, In.Data, B.Data, w, h);
    Out.show("two arrays", w, h);
  }
}
