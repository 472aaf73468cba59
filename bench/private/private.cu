// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private arrays with indices of run time. nvcc -O3 -arch=sm_90 private.cu -o old; rcache-rewrite private.cu -o private_rc.cu; nvcc ... -o new
#include "timing.h"

constexpr int Threads = 128, Blocks = 132 * 64, N = Threads * Blocks;

// 1. A histogram a thread: lanes differ.
template <int Bins> __global__ void histogram(const int *__restrict__ data, int *__restrict__ out, int per) {
  int bins[Bins];
  for (int i = 0; i < Bins; ++i)
    bins[i] = 0;
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < per; ++i)
    ++bins[data[i * 1081344 + t] & (Bins - 1)];
  int most = 0;
  for (int i = 1; i < Bins; ++i)
    if (bins[i] > bins[most])
      most = i;
  out[t] = most * 1000 + bins[most];
}

// 2. A stack: lanes differ as far as their data does.
__global__ void stack(const int *__restrict__ data, int *__restrict__ out, int per) {
  int stack[32], top = 0, sum = 0;
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < per; ++i) {
    const int d = data[i * 1081344 + t];
    if ((d & 3) && top < 32)
      stack[top++] = d;
    else if (top > 0)
      sum += stack[--top];
  }
  out[t] = sum + top;
}

// 3. The median of 25 by insertion.
__global__ void median(const float *__restrict__ in, float *__restrict__ out) {
  float v[25];
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < 25; ++i) {
    const float x = in[(i % 16) * 1081344 + t] + float(i / 16);
    int j = i;
    while (j > 0 && v[j - 1] > x) {
      v[j] = v[j - 1];
      --j;
    }
    v[j] = x;
  }
  out[t] = v[12];
}

// 4. A table of 97 values that are drawn and replaced.
__global__ void shuffle97(const float *__restrict__ in, float *__restrict__ out, int rounds) {
  float r[97];
  const int t = blockIdx.x * 128 + threadIdx.x;
  unsigned state = t * 2654435761u + 12345u;
  for (int i = 0; i < 97; ++i)
    r[i] = in[(i % 16) * 1081344 + t];
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    state = state * 1664525u + 1013904223u;
    const int j = (state >> 8) % 97;
    sum += r[j];
    r[j] = float(state >> 8);
  }
  out[t] = sum;
}

// 5. Romberg: a row of the table, all lanes the same element.
__global__ void romberg(const float *__restrict__ in, float *__restrict__ out, int levels) {
  float row[16];
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < levels; ++i) {
    float before = row[0];
    row[0] = in[i * 1081344 + t];
    float four = 4;
    for (int j = 1; j <= i; ++j) {
      const float old = row[j];
      row[j] = row[j - 1] + (row[j - 1] - before) / (four - 1);
      before = old;
      four *= 4;
    }
  }
  out[t] = row[levels - 1];
}

// 6. One row of an edit distance, all lanes the same element.
__global__ void distance(const int *__restrict__ a, const int *__restrict__ b, int *__restrict__ out, int la, int lb) {
  int row[48];
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int j = 0; j <= lb; ++j)
    row[j] = j;
  for (int i = 1; i <= la; ++i) {
    int diagonal = row[0];
    row[0] = i;
    const int x = a[(i & 15) * 1081344 + t] & 3;
    for (int j = 1; j <= lb; ++j) {
      const int old = row[j];
      row[j] = min(min(old, row[j - 1]) + 1, diagonal + (x != (b[j] & 3)));
      diagonal = old;
    }
  }
  out[t] = row[lb];
}

// 7. Doubles, taken in another order by each lane.
__global__ void permuted(const double *__restrict__ in, double *__restrict__ out, int rounds) {
  double v[24];
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < 24; ++i)
    v[i] = in[(i % 16) * 1081344 + t];
  double sum = 0;
  int at = t % 24;
  for (int i = 0; i < rounds; ++i) {
    sum += v[at];
    at = (at * 5 + 7 + i) % 24;
    v[at] = sum;
  }
  out[t] = sum;
}

// 8. Blocks of 16 x 16, a small matrix that is pivoted.
__global__ void pivots(const float *__restrict__ in, float *__restrict__ out, int n) {
  float m[4][4];
  const int t = blockIdx.x * 256 + threadIdx.y * 16 + threadIdx.x;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      m[i][j] = in[(i * 4 + j) * 1081344 + t];
  float sum = 0;
  for (int c = 0; c < n; ++c) {
    int p = c;
    for (int i = c + 1; i < n; ++i)
      if (fabsf(m[i][c]) > fabsf(m[p][c]))
        p = i;
    for (int j = 0; j < n; ++j) {
      const float x = m[c][j];
      m[c][j] = m[p][j];
      m[p][j] = x;
    }
    sum += m[c][c];
    for (int i = c + 1; i < n; ++i)
      m[i][c] = m[i][c] - m[c][c];
  }
  out[t] = sum;
}

int main() {
  static_assert(N == 1081344, "the pitch in the kernels");
  int *I = device<int>(size_t(N) * 16, true), *IO = device<int>(N, false);
  float *F = device<float>(size_t(N) * 16, true), *FO = device<float>(N, false);
  double *D = device<double>(size_t(N) * 16, true), *DO = device<double>(N, false);
  time("histogram 8", IO, N, [&] { histogram<8><<<Blocks, 128>>>(I, IO, 16); });
  time("histogram 32", IO, N, [&] { histogram<32><<<Blocks, 128>>>(I, IO, 16); });
  time("histogram 64", IO, N, [&] { histogram<64><<<Blocks, 128>>>(I, IO, 16); });
  time("stack", IO, N, [&] { stack<<<Blocks, 128>>>(I, IO, 16); });
  time("median", FO, N, [&] { median<<<Blocks, 128>>>(F, FO); });
  time("shuffle97", FO, N, [&] { shuffle97<<<Blocks, 128>>>(F, FO, 200); });
  time("romberg", FO, N, [&] { romberg<<<Blocks, 128>>>(F, FO, 12); });
  time("distance", IO, N, [&] { distance<<<Blocks, 128>>>(I, I, IO, 40, 40); });
  time("permuted", DO, N, [&] { permuted<<<Blocks, 128>>>(D, DO, 100); });
  time("pivots", FO, N, [&] { pivots<<<Blocks / 2, dim3(16, 16)>>>(F, FO, 4); });
}
