// Sizes of 64 bits without a sign may be any number, and what is made of them wraps: where
// a plan computes with them as with integers, the launch is asked that they are no more
// than a size can be. And an index counts elements of its own type.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -std=c++17 -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -std=c++17 -DRCACHE_ANY_LAUNCH -I%S/Inputs 2>&1 | FileCheck --check-prefix=DIFF %s
// DIFF: {{[1-9][0-9]*}} by a rewritten kernel
#include "buffers.h"

// CHECK-DAG: rewrote 'from'
// TEXT-LABEL: from_rc_launch(
// TEXT: first <= 0xffffffffffull
__global__ void from(const int *__restrict__ a, int *__restrict__ o, size_t n, size_t first) {
  __shared__ int s[130];
  const int t = threadIdx.x;
  const size_t g = first + blockIdx.x * 128ull + t;
  s[t + 1] = g < n ? a[g] : 0;
  if (t == 0)
    s[0] = g - 1 < n ? a[g - 1] : 0;
  if (t == 127)
    s[129] = g + 1 < n ? a[g + 1] : 0;
  __syncthreads();
  if (g < n)
    o[g] = s[t] + s[t + 1] + s[t + 2];
}

// CHECK-DAG: rewrote 'strided'
// TEXT-LABEL: strided_rc_launch(
// TEXT: skip <= 0xffffffffffull
__global__ void strided(const int *__restrict__ a, int *__restrict__ o, size_t n, size_t skip) {
  __shared__ int s[130];
  const int t = threadIdx.x;
  const size_t g = blockIdx.x * (size_t)128 + t;
  s[t] = g * 3 + skip < n ? a[g * 3 + skip] : 0;
  if (t < 2)
    s[t + 128] = (g + 128) * 3 + skip < n ? a[(g + 128) * 3 + skip] : 0;
  __syncthreads();
  if (g * 3 < n)
    o[g] = s[t] + s[t + 1] + s[t + 2];
}

// Every fourth round stores, with 2^62 elements between two rounds: to the same ones.
// CHECK-DAG: rewrote 'planes'
// TEXT-LABEL: planes_rc_launch(
// TEXT: (double)plane <= 34359738368.0
__global__ void planes(const int *__restrict__ a, int *__restrict__ o, int w, int h, size_t d, size_t plane,
                       unsigned every) {
  __shared__ int s[18][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (size_t z = 0; z < d; ++z) {
    for (int j = threadIdx.y; j < 18; j += 16)
      for (int i = threadIdx.x; i < 18; i += 16) {
        const int xx = blockIdx.x * 16 + i - 1, yy = blockIdx.y * 16 + j - 1;
        s[j][i] = xx >= 0 && xx < w && yy >= 0 && yy < h ? a[z + yy * w + xx] : 0;
      }
    __syncthreads();
    if (x < w && y < h && (z & every) == 0)
      o[z * plane + y * w + x] = s[threadIdx.y][threadIdx.x + 1] + s[threadIdx.y + 2][threadIdx.x + 1] + s[threadIdx.y + 1][threadIdx.x];
    __syncthreads();
  }
}

// A round's words and half words lie in different bytes.
// CHECK-DAG: 'mixed'
__global__ void mixed(const int *__restrict__ a, char *__restrict__ o, int w, int h, int d, int plane) {
  __shared__ int s[8][34];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  const int xx = min(x, w - 1), yy = min(y, h - 1);
  for (int z = 0; z < d; ++z) {
    s[ty][tx + 1] = a[(z * h + yy) * w + xx];
    if (tx == 0)
      s[ty][0] = x > 0 ? a[(z * h + yy) * w + xx - 1] : 0;
    if (tx == 31)
      s[ty][33] = x + 1 < w ? a[(z * h + yy) * w + x + 1] : 0;
    __syncthreads();
    if (x < w && y < h) {
      ((int *)o)[(z + 1) * plane + y * w + x] = s[ty][tx] - 2 * s[ty][tx + 1] + s[ty][tx + 2];
      ((short *)o)[(z + 1) * plane + y * w + x] = s[ty][tx + 1];
    }
    __syncthreads();
  }
}

int main() {
  for (size_t n : {1ull, 127ull, 1000ull, 2049ull}) {
    Buf<int> a(n + 300), o(n + 300), r(n + 300);
    a.nums(1);
    const int grid = int(n / 128) + 2;
    for (size_t first : {0ull, 1ull, 5ull, 1ull << 40, 1ull << 62, 0x7fffffffffffffffull, ~0ull - 200}) {
      CHECK((from<<<grid, 128>>>(a.d, o.d, n, first)));
      if (first < ~0ull - 400)
        CHECK((strided<<<grid, 128>>>(a.d, r.d, n, first)));
    }
    show("from", o);
    show("strided", r);
  }
  const int w = 40, h = 20;
  for (size_t plane : {size_t(w * h), size_t(1) << 62}) {
    const int d = 40;
    Buf<int> a(w * h + d), o(w * h * (plane < 10000 ? d : 1));
    a.nums(2);
    CHECK((planes<<<dim3(3, 2), dim3(16, 16)>>>(a.d, o.d, w, h, d, plane, 3)));
    show("planes", o);
  }
  Buf<int> a(32 * 8 * 88);
  Buf<char> o(120000);
  a.nums(3);
  CHECK((mixed<<<dim3(1, 1), dim3(32, 8)>>>(a.d, o.d, 32, 8, 88, 300)));
  show("mixed", o);
}
