// Private arrays among many values that nobody knows, in loops that are followed round by
// round: the ranges of all other values are no part of a proof about one of them, which
// took the budget of the analysis. And lists without their braces: structs in rows.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --only=private --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'exchanges' {{.*}}'bins' of each thread {{.*}}'seen' of each thread
// CHECK-DAG: rewrote 'bare_lists' {{.*}}'rows' of each thread
#include "program.h"

template <class T> __device__ void exchange(T &a, T &b) {
  const T t = a;
  a = b;
  b = t;
}

__global__ void exchanges(const int *x, unsigned *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n)
    return;
  unsigned sum = 7u;
  for (int round = 0; round < 2; ++round) {
    int bins[16][2] = {};
    unsigned seen[5][2];
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 2; ++j)
        seen[i][j] = (unsigned)(x[t + i] & 31);
    for (int i = 0; i < 20; ++i) {
      exchange(bins[(unsigned)(x[t + i] * 7) & 15][i % 2],
               bins[(unsigned)(x[t + i] * 7) & 15][(unsigned)(x[t + i] * 7) & 1]);
      if (x[t + i] & 4) {
        seen[(unsigned)(i * 3 + x[t + 1]) % 5u][i % 2] = (unsigned)(t & 7);
        sum = sum * 31u + seen[(unsigned)(i * 3 + x[t + 1]) % 5u][i % 2];
      }
      if (x[t + i] & 4)
        if (bins[(unsigned)(x[t] + i) % 16u][i % 2] > bins[(unsigned)(x[t + i]) & 15][i % 2])
          bins[(unsigned)(x[t] + i) % 16u][i % 2] = bins[(unsigned)(x[t + i]) & 15][i % 2];
      int &r = bins[(unsigned)(x[t + i] * 7) & 15][i % 2];
      r += (i & 3);
      r = bins[(unsigned)(x[t + i]) & 15][(unsigned)(x[t + i]) & 1];
    }
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 2; ++j)
        sum = sum * 33u + (unsigned)bins[i][j];
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 2; ++j)
        sum = sum * 33u + seen[i][j];
  }
  out[t] = sum;
}

struct Cell {
  int a, b;
};

__global__ void bare_lists(const int *x, unsigned *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n)
    return;
  Cell rows[4][2] = {{1, 2, {3, 4}}, {{5}, 6}};
  for (int i = 0; i < 9; ++i)
    rows[x[t + i] & 3][x[t] & 1].b += rows[i & 3][x[t + i] & 1].a;
  unsigned sum = 0;
  for (int i = 0; i < 8; ++i)
    sum = sum * 33u + rows[i / 2][i % 2].a * 7 + rows[i / 2][i % 2].b;
  out[t] = sum;
}

int main() {
  const int n = 130;
  Buffer<int> x(randoms<int>(n + 32));
  Buffer<unsigned> out(n);
  exchanges<<<2, 65>>>(x.Data, out.Data, n);
  out.show("exchanges");
  bare_lists<<<2, 65>>>(x.Data, out.Data, n);
  out.show("bare_lists");
}
