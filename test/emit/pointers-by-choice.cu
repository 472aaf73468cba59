// Shared arrays that each round's pointers choose, and three that change places, are the rows
// of one, and which row is which is a number. And pointers that do something else.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'chosen' {{.*}}'in_turn' owned by a warp
// CHECK-DAG: rewrote 'tiles' {{.*}}'in_turn' owned by a warp
// CHECK-DAG: note: launches that pass {{.*}}rounds = 3 run the rewritten kernel
// CHECK-DAG: rewrote 'three' {{.*}}'in_turn' owned by a warp
// CHECK-DAG: rewrote 'backwards' {{.*}}'in_turn' owned by a warp
// CHECK-DAG: rewrote 'rowsOfOne' {{.*}}'s' owned by a warp
// CHECK-DAG: rewrote 'pairs' {{.*}}'in_turn' owned by a warp; 'in_turn_' owned by a warp
// CHECK-DAG: rewrote 'secondFirst' {{.*}}'s' owned by a warp
// CHECK-DAG: rewrote 'lastFirst' {{.*}}'s' owned by a warp
// CHECK-DAG: 'bothWays' left as it is
// CHECK-DAG: 'byElement' left as it is
// CHECK-DAG: rewrote 'meet' {{.*}}'a' kept shared; 'b' kept shared; 'c' kept shared
#include "program.h"

__global__ void chosen(const int *u, int *v, int n) {
  __shared__ int a[128];
  __shared__ int b[128];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  a[t] = g < n ? u[g] : 0;
  __syncthreads();
  for (int r = 0; r < 7; ++r) {
    const int *from = (r % 2 == 0) ? a : b; // of the round before
    int *const to = r & 1 ? (a) : b, *same = to;
    same[t] = t >= 1 << r ? max(from[t], from[t - (1 << r)] - r) : from[t];
    __syncthreads();
  }
  if (g < n)
    v[g] = b[t] + a[t];
}

__global__ void tiles(const unsigned char *u, unsigned char *v, int w, int h, int rounds) {
  __shared__ unsigned char ping[16][16], pong[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int gx = min((int)blockIdx.x * 16 + x, w - 1), gy = min((int)blockIdx.y * 16 + y, h - 1);
  ping[y][x] = u[gy * w + gx];
  __syncthreads();
  const int xm = x > 0 ? x - 1 : 0, xp = x < 15 ? x + 1 : 15;
  const int ym = y > 0 ? y - 1 : 0, yp = y < 15 ? y + 1 : 15;
  for (int r = 0; r < rounds; ++r) {
    unsigned char(*in)[16] = r & 1 ? pong : ping;
    unsigned char(*out)[16] = r & 1 ? ping : pong;
    int m = in[y][x];
    m = min(m, (int)in[y][xm]);
    m = min(m, (int)in[y][xp]);
    m = min(m, (int)in[ym][x]);
    m = min(m, (int)in[yp][x]);
    out[y][x] = (unsigned char)m;
    __syncthreads();
  }
  const unsigned char last = rounds & 1 ? pong[y][x] : ping[y][x];
  if ((int)blockIdx.x * 16 + x < w && (int)blockIdx.y * 16 + y < h)
    v[gy * w + gx] = last;
}

__global__ void three(const int *u, int *v, int n) {
  __shared__ int a[64], b[64], c[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *before = a, *now = b, *next = c;
  before[t] = g < n ? u[g] : 0;
  now[t] = g < n ? u[g] * 3 : 1;
  __syncthreads();
  for (int step = 0; step < 5; ++step) {
    next[t] = t > 0 && t < 63 ? max(now[t - 1], now[t + 1]) - before[t] : now[t];
    __syncthreads();
    int *x = before;
    before = now;
    now = next;
    next = x;
  }
  if (g < n)
    v[g] = now[t] - before[t];
}

__global__ void backwards(const int *u, int *v, int n) {
  __shared__ int a[64], b[64], c[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *p = a;
  int *q = b;
  int *w = c;
  p[t] = q[t] = g < n ? u[g] : 0;
  __syncthreads();
  for (int step = 0; step < 4; ++step) {
    w[t] = t > 1 ? max(q[t - 2], p[t]) : q[t] + 1;
    __syncthreads();
    int *x = w;
    w = p;
    p = q;
    q = x;
  }
  if (g < n)
    v[g] = q[t];
}

__global__ void rowsOfOne(const int *u, int *v, int n) {
  __shared__ int s[3][64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[2][t] = g < n ? u[g] : 0;
  __syncthreads();
  for (int step = 0; step < 4; ++step) {
    int *from = step & 1 ? s[1] : s[2], *to = step & 1 ? s[2] : s[1];
    to[t] = t > 0 ? max(from[t - 1], from[t]) : from[t];
    __syncthreads();
  }
  if (g < n)
    v[g] = s[2][t];
}

// Rows by their numbers, too: the second is the first pointer's.
__global__ void secondFirst(const int *u, int *v, int n) {
  __shared__ int s[2][64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *p = s[1], *q = s[0];
  p[t] = g < n ? u[g] : 0;
  q[t] = g < n ? u[g] - 7 : 1;
  __syncthreads();
  for (int r = 0; r < 3; ++r) {
    q[t] = p[t] + p[t ^ 1];
    __syncthreads();
    int *z = p;
    p = q;
    q = z;
  }
  if (g < n)
    v[g] = p[t] + s[0][t ^ 8] * 5 - s[1][t];
}

__global__ void lastFirst(const int *u, int *v, int n) {
  __shared__ int s[3][64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *p = s[2], *q = s[0], *w = s[1];
  p[t] = g < n ? u[g] : 0;
  q[t] = w[t] = t;
  __syncthreads();
  for (int r = 0; r < 4; ++r) {
    w[t] = t > 0 ? max(q[t - 1], p[t]) : p[t] - q[t];
    __syncthreads();
    int *z = p;
    p = q;
    q = w;
    w = z;
  }
  if (g < n)
    v[g] = p[t] + s[0][t] * 5 - s[2][t];
}

// (Two rows of three, and three in another order than they turn.)
__global__ void someOfThree(const int *u, int *v, int n) {
  __shared__ int s[3][64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *p = s[1], *q = s[2];
  p[t] = g < n ? u[g] : 0;
  s[0][t] = q[t] = t;
  __syncthreads();
  for (int r = 0; r < 3; ++r) {
    q[t] = p[t] + p[t ^ 1];
    __syncthreads();
    int *z = p;
    p = q;
    q = z;
  }
  if (g < n)
    v[g] = p[t] + s[0][t] * 5 - s[1][t];
}
__global__ void otherOrder(const int *u, int *v, int n) {
  __shared__ int s[3][64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *p = s[0], *q = s[2], *w = s[1];
  p[t] = g < n ? u[g] : 0;
  q[t] = w[t] = t;
  __syncthreads();
  for (int r = 0; r < 4; ++r) {
    w[t] = t > 0 ? max(q[t - 1], p[t]) : p[t] - q[t];
    __syncthreads();
    int *z = p;
    p = q;
    q = w;
    w = z;
  }
  if (g < n)
    v[g] = p[t] + s[0][t] * 5 - s[2][t];
}

__global__ void pairs(const int *u, int *v, int n) {
  __shared__ int a[64], b[64];
  __shared__ short c[64], d[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *p = a, *q = b;
  short *k = c, *l = d;
  p[t] = g < n ? u[g] : 0;
  k[t] = (short)t;
  __syncthreads();
  for (int step = 1; step < 64; step *= 2) {
    const bool other = t >= step && p[t - (t >= step ? step : 0)] > p[t];
    q[t] = t >= step ? max(p[t], p[t - step]) : p[t];
    l[t] = t >= step ? max(k[t], k[t - step]) : k[t];
    __syncthreads();
    int *x = p;
    p = q;
    q = x;
    short *y = k;
    k = l;
    l = y;
  }
  if (g < n)
    v[g] = p[t] * 64 + k[t];
}

__global__ void bothWays(const int *u, int *v, int n) {
  __shared__ int a[64], b[64], c[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *p = a, *q = b, *w = c;
  p[t] = q[t] = w[t] = g < n ? u[g] : 0;
  __syncthreads();
  for (int step = 0; step < 4; ++step) {
    w[t] = t > 1 ? max(q[t - 2], p[t]) : q[t] + 1;
    __syncthreads();
    if (step == 2) {
      int *x = p;
      p = q;
      q = w;
      w = x;
    } else {
      int *x = p;
      p = w;
      w = q;
      q = x;
    }
  }
  if (g < n)
    v[g] = q[t];
}

__global__ void byElement(const int *u, int *v, int n) {
  __shared__ int a[64], b[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  a[t] = g < n ? u[g] : 0;
  b[t] = t;
  __syncthreads();
  const int *from = a[0] > 40 ? a : b;
  if (g < n)
    v[g] = from[63 - t] + b[t];
}

__global__ void meet(const int *u, int *v, int n) {
  __shared__ int a[64], b[64], c[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *before = a, *now = b, *next = c;
  before[t] = now[t] = next[t] = g < n ? u[g] : 0;
  __syncthreads();
  for (int step = 0; step < 3; ++step) {
    next[t] = t > 0 ? max(now[t - 1], before[t]) : 7;
    __syncthreads();
    before = now; // and next is before, too
    now = next;
    next = before;
    __syncthreads();
  }
  if (g < n)
    v[g] = now[t];
}

int main() {
  const int n = 500;
  Buffer<int> x(randoms<int>(n)), o(n);
  chosen<<<blocks(n, 128), 128>>>(x.Data, o.Data, n);
  o.show("chosen");
  Buffer<unsigned char> p(randoms<unsigned char>(45 * 37)), q(45 * 37);
  tiles<<<dim3(3, 3), dim3(16, 16)>>>(p.Data, q.Data, 45, 37, 3);
  q.show("tiles");
#define RUN(k)                                                                                     \
  k<<<blocks(n, 64), 64>>>(x.Data, o.Data, n);                                                     \
  o.show(#k)
  RUN(three);
  RUN(backwards);
  RUN(rowsOfOne);
  RUN(secondFirst);
  RUN(lastFirst);
  RUN(someOfThree);
  RUN(otherOrder);
  RUN(pairs);
  RUN(bothWays);
  RUN(byElement);
  RUN(meet);
}
