// Windows whose elements one counter numbers: `k / 3`, `k % 3` are registers where the loop
// is unrolled.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
#include "buffers.h"

// TEXT-LABEL: void rank_rc{{[(]}}
// TEXT: v[k] = rc_t_w[rc_sy + k / 3][k % 3{{.*}}];
// CHECK-DAG: rewrote 'rank' {{.*}}'t' reloaded
__global__ void rank(const unsigned char *a, unsigned char *o, int w, int h) {
  __shared__ unsigned char t[10][34];
  for (int i = threadIdx.y; i < 10; i += 8)
    for (int j = threadIdx.x; j < 34; j += 32) {
      const int x = min(max(int(blockIdx.x) * 32 + j - 1, 0), w - 1),
                y = min(max(int(blockIdx.y) * 8 + i - 1, 0), h - 1);
      t[i][j] = a[y * w + x];
    }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h)
    return;
  unsigned char v[9];
#pragma unroll
  for (int k = 0; k < 9; k++)
    v[k] = t[threadIdx.y + k / 3][threadIdx.x + k % 3];
  unsigned char m = 0;
  for (int k = 0; k < 9; k++)
    m = max(int(m), int(v[k]));
  o[y * w + x] = m - v[4];
}

// Unsigned, from a round that is not the first, in steps, and backwards.
// CHECK-DAG: rewrote 'steps' {{.*}}'s' reloaded
__global__ void steps(const int *a, int *o, int n) {
  __shared__ int s[128 + 16];
  const int l = threadIdx.x, g = blockIdx.x * 128 + l;
  s[l] = g < n ? a[g] : 0;
  if (l < 16)
    s[l + 128] = g + 128 < n ? a[g + 128] : 0;
  __syncthreads();
  int sum = 0;
  for (unsigned k = 3; k < 23; k += 4)
    sum = sum * 3 + s[l + k / 2 + k % 5];
  for (int k = 11; k >= 0; k -= 3)
    sum = sum * 5 - s[l + 2 * (k / 4) + (k & 1)];
  for (int k = -4; k < 5; ++k)
    sum = sum * 7 + s[l + 4 + k / 3 + k % 2];
  if (g < n)
    o[g] = sum;
}

// Of two counters, and of a counter whose last round nobody knows: that one is no register.
// CHECK-DAG: rewrote 'two'
__global__ void two(const int *a, int *o, int n, int m) {
  __shared__ int s[64 + 32];
  const int l = threadIdx.x, g = blockIdx.x * 64 + l;
  s[l] = g < n ? a[g] : 0;
  if (l < 32)
    s[l + 64] = g + 64 < n ? a[g + 64] : 0;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 6; ++k)
      sum = sum * 3 + s[l + (i + k) / 2 + 3 * (k % 4)];
  for (int k = 0; k < m % 8; ++k)
    sum ^= s[l + k / 3];
  if (g < n)
    o[g] = sum;
}

int main() {
  Buf<unsigned char> a(61 * 45, 1), o(61 * 45, 2);
  rank<<<dim3(2, 6), dim3(32, 8)>>>(a.d, o.d, 61, 45);
  Buf<int> x(1000, 3), y(1000, 4), z(1000, 5);
  for (int n : {1000, 999, 130, 1}) {
    steps<<<8, 128>>>(x.d, y.d, n);
    two<<<16, 64>>>(x.d, z.d, n, n % 7);
  }
}
