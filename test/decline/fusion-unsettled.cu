// Two products in one sum, of which the one with the distances is the same in
// several rounds: which of them is fused hangs on how the loops are unrolled.
// Unrolled by the source, it is one for all outputs of a thread; what cannot be shown
// to keep its order is declined as well. A number has to
// be that of the rounds.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --list --cuda-path=%cuda -- -I%S/../emit/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff --device-code=nvcc %s %t.cu -- -I%S/../emit/Inputs
//
// CHECK-DAG: declined smooth; fusion-unsettled
// CHECK-DAG: declined smoothCalled; fusion-unsettled
// CHECK-DAG: declined neighbours; fusion-unsettled
// CHECK-DAG: declined smoothUnrolled; fusion-unsettled
// CHECK-DAG: rewritten distances
// CHECK-DAG: rewritten counted
// CHECK-DAG: declined halfCounted; fusion-unsettled
// CHECK-DAG: rewritten pull
// Of what is loaded by `y * w + x` no two rounds have the same, whatever w is:
// CHECK-DAG: rewritten weighted
// ... but by `(y / 8 + x / 16) * w` some do:
// CHECK-DAG: declined diagonal; fusion-unsettled
#include "program.h"

#define STAGE                                                                  \
  __shared__ float s[12][20];                                                  \
  for (int j = threadIdx.y; j < 12; j += 8)                                    \
    for (int i = threadIdx.x; i < 20; i += 16)                                 \
      s[j][i] = in[min(max(int(blockIdx.y) * 8 + j - 2, 0), h - 1) * w +       \
                   min(max(int(blockIdx.x) * 16 + i - 2, 0), w - 1)];          \
  __syncthreads();                                                             \
  const int x = blockIdx.x * 16 + threadIdx.x,                                 \
            y = blockIdx.y * 8 + threadIdx.y;                                  \
  const float mid = s[threadIdx.y + 2][threadIdx.x + 2];                       \
  if (x >= w || y >= h)                                                        \
    return;                                                                    \
  float sum = 0, all = 0;

__global__ void smooth(const float *__restrict__ in, float *__restrict__ out,
                       int w, int h, float a, float b) {
  STAGE
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i) {
      const float v = s[threadIdx.y + 2 + j][threadIdx.x + 2 + i], d = v - mid;
      const float near = -(i * i + j * j) * a;
      const float g = __expf(near - d * d * b);
      sum += g * v;
      all += g;
    }
  out[y * w + x] = sum / all;
}

__device__ float weight(float far, float a, float d, float b) {
  return __expf(d * d * b + far * a);
}
__global__ void smoothCalled(const float *__restrict__ in,
                             float *__restrict__ out, int w, int h, float a,
                             float b) {
  STAGE
  for (int k = 0; k < 25; ++k) {
    const int i = k % 5, j = k / 5;
    const float v = s[threadIdx.y + j][threadIdx.x + i];
    const float g = weight((i - 2) * (i - 2) + (j - 2) * (j - 2), -a, v - mid, -b);
    sum += g * v;
    all += g;
  }
  out[y * w + x] = sum / all;
}

__global__ void smoothUnrolled(const float *__restrict__ in,
                               float *__restrict__ out, int w, int h, float a,
                               float b) {
  STAGE
#pragma unroll
  for (int j = -2; j <= 2; ++j)
#pragma unroll
    for (int i = -2; i <= 2; ++i) {
      const float v = s[threadIdx.y + 2 + j][threadIdx.x + 2 + i], d = v - mid;
      const float g = __expf(-(i * i + j * j) * a - d * d * b);
      sum += g * v;
      all += g;
    }
  out[y * w + x] = sum / all;
}

// What is v in one round is u in the next.
__global__ void neighbours(const float *__restrict__ in,
                           float *__restrict__ out, int w, int h, float a,
                           float b) {
  STAGE
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 4; ++i) {
      const float u = s[threadIdx.y + j][threadIdx.x + i] - mid;
      const float v = s[threadIdx.y + j][threadIdx.x + i + 1] - mid;
      sum += u * u + v * v * a;
    }
  out[y * w + x] = sum + b + all;
}

// Both products from memory, another element each round.
__global__ void distances(const float *__restrict__ in,
                          float *__restrict__ out, int w, int h, float a,
                          float b) {
  STAGE
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) {
      const float u = s[threadIdx.y + j][threadIdx.x + i] - mid;
      float v = u * b;
      v -= mid;
      sum += u * u + v * v * a;
    }
  out[y * w + x] = sum + b + all;
}

// The first round's sum is one of two products when the loop is unrolled.
__global__ void counted(const float *__restrict__ in, float *__restrict__ out,
                        int w, int h, float a, float b) {
  STAGE
  sum = a * mid;
#pragma unroll 4
  for (int i = 1; i <= 2; ++i)
    sum += b * (s[threadIdx.y + 2 + i][threadIdx.x + 2] +
                s[threadIdx.y + 2 - i][threadIdx.x + 2]);
  out[y * w + x] = sum + all;
}
__global__ void halfCounted(const float *__restrict__ in,
                            float *__restrict__ out, int w, int h, float a,
                            float b) {
  STAGE
  sum = a * mid;
#pragma unroll 2
  for (int i = 0; i <= 2; ++i)
    sum += b * (s[threadIdx.y + 2 + i][threadIdx.x + 2] +
                s[threadIdx.y + 2 - i][threadIdx.x + 2]);
  out[y * w + x] = sum + all;
}

// Members set one by one, in a function: each body is met once.
__device__ float3 towards(float4 me, float4 other, float3 sum) {
  float3 r;
  r.x = other.x - me.x;
  r.y = other.y - me.y;
  r.z = other.z - me.z;
  const float far = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f,
              s = other.w / (far * sqrtf(far));
  sum.x += r.x * s;
  sum.y += r.y * s;
  sum.z += r.z * s;
  return sum;
}
__global__ void pull(const float4 *__restrict__ in, float *__restrict__ out,
                     int n) {
  __shared__ float4 s[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float4 me = in[min(i, n - 1)];
  float3 sum = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += 64) {
    s[threadIdx.x] = in[min(first + int(threadIdx.x), n - 1)];
    __syncthreads();
    for (int k = 0; k < 64; ++k)
      sum = towards(me, s[k], sum);
    __syncthreads();
  }
  if (i < n)
    out[i] = sum.x + sum.y + sum.z;
}

#define WEIGHTED(NAME, INDEX)                                                  \
  __global__ void NAME(const float2 *__restrict__ in, float *__restrict__ out, \
                       int w, int h) {                                         \
    __shared__ float s[10][18];                                                \
    const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx,    \
              y = blockIdx.y * 8 + ty;                                         \
    for (int j = ty; j < 10; j += 8)                                           \
      for (int i = tx; i < 18; i += 16) {                                      \
        const int p = blockIdx.x * 16 + i - 1, q = blockIdx.y * 8 + j - 1;     \
        if (p >= 0 && p < w && q >= 0 && q < h) {                              \
          const float2 c = in[INDEX];                                          \
          s[j][i] = 0.3f * c.x + 0.7f * c.y;                                   \
        } else {                                                               \
          s[j][i] = 0;                                                         \
        }                                                                      \
      }                                                                        \
    __syncthreads();                                                           \
    if (x < w && y < h)                                                        \
      out[y * w + x] = s[ty][tx] - s[ty + 2][tx + 1];                          \
  }
WEIGHTED(weighted, q * w + p)
WEIGHTED(diagonal, (q / 8 + p / 16) * w)

int main() {
  const int Sizes[][2] = {{64, 24}, {37, 11}};
  for (auto &S : Sizes) {
    const int w = S[0], h = S[1];
    const dim3 Grid(blocks(w, 16), blocks(h, 8)), Block(16, 8);
    Buffer<float> In(randoms<float>(w * h)), Out(w * h);
    smooth<<<Grid, Block>>>(In.Data, Out.Data, w, h, 0.1f, 0.01f);
    smoothCalled<<<Grid, Block>>>(In.Data, Out.Data, w, h, 0.1f, 0.01f);
    smoothUnrolled<<<Grid, Block>>>(In.Data, Out.Data, w, h, 0.1f, 0.01f);
    Out.show("smooth", w, h);
    pull<<<blocks(w * h / 4, 64), 64>>>((const float4 *)In.Data, Out.Data,
                                        w * h / 4);
    Out.show("pull", w, h);
    distances<<<Grid, Block>>>(In.Data, Out.Data, w, h, 0.1f, 0.01f);
    Out.show("distances", w, h);
    counted<<<Grid, Block>>>(In.Data, Out.Data, w, h, 0.1f, 0.01f);
    Out.show("counted", w, h);
    halfCounted<<<Grid, Block>>>(In.Data, Out.Data, w, h, 0.1f, 0.01f);
    neighbours<<<Grid, Block>>>(In.Data, Out.Data, w, h, 0.1f, 0.01f);
    const Buffer<float> Pairs(randoms<float>(2 * w * h));
    weighted<<<Grid, Block>>>((const float2 *)Pairs.Data, Out.Data, w, h);
    Out.show("weighted", w, h);
    diagonal<<<Grid, Block>>>((const float2 *)Pairs.Data, Out.Data, w, h);
    Out.show("diagonal", w, h);
  }
}
