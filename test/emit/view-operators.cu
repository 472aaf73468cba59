// Views by value whose operators are const: what they give out is memory, and nothing of
// the view itself.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
// CHECK-DAG: rewrote 'apart'
// CHECK-DAG: rewrote 'inPlace'
// CHECK-DAG: rewrote 'rows'
// CHECK-DAG: 'moves' left as it is: {{.*}} (the parameter 'v' is modified by threads, or has a function called on it that may)
#include "program.h"

struct View {
  float *p;
  int n;
  __device__ float &operator[](int i) const { return p[i]; }
  __device__ float at(int i) const { return i >= 0 && i < n ? p[i] : 0; }
};
struct Grid {
  float *p;
  int width;
  __device__ float &operator()(int r, int c) const { return p[r * width + c]; }
};
struct Cursor {
  float *p;
  __device__ float &operator[](int i) { return *(p += i); }
};

#define STAGE(a)                                                                         \
  __shared__ float s[258];                                                               \
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;                                   \
  s[l + 1] = a.at(g);                                                                    \
  if (l < 1)                                                                             \
    s[0] = a.at(g - 1);                                                                  \
  if (l == 255)                                                                          \
    s[257] = a.at(g + 1);                                                                \
  __syncthreads();

__global__ void apart(View a, View o) {
  STAGE(a)
  if (g < o.n)
    o[g] = s[l] + s[l + 1] * 2.f + s[l + 2];
}
__global__ void inPlace(View v) { // (block by block: halos are the block's own)
  __shared__ float s[256];
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  s[l] = v.at(g);
  __syncthreads();
  if (g < v.n)
    v[g] = s[l] + s[255 - l] * 2.f + v[g];
}
__global__ void rows(Grid a, Grid o, int n) {
  __shared__ float s[16][16];
  const int x = threadIdx.x, y = threadIdx.y, c = blockIdx.x * 16 + x, r = blockIdx.y * 16 + y;
  s[y][x] = c < n && r < n ? a(r, c) : 0;
  __syncthreads();
  if (c < n && r < n)
    o(r, c) = s[y][x] + s[y][15 - x];
}
__global__ void moves(View a, Cursor v, int n) {
  STAGE(a)
  if (g < n)
    v[g] = s[l] + s[l + 2];
}

int main() {
  for (int n : {1000, 256, 40}) {
    const Buffer<float> a(randoms<float>(n));
    Buffer<float> b(n);
    apart<<<blocks(n, 256), 256>>>(View{a.Data, n}, View{b.Data, n}), b.show("apart", n);
    inPlace<<<blocks(n, 256), 256>>>(View{b.Data, n}), b.show("inPlace", n);
    moves<<<blocks(n, 256), 256>>>(View{a.Data, n}, Cursor{b.Data}, n), b.show("moves", n);
  }
  const int n = 40;
  const Buffer<float> a(randoms<float>(n * n));
  Buffer<float> b(n * n);
  rows<<<dim3(3, 3), dim3(16, 16)>>>(Grid{a.Data, n}, Grid{b.Data, n}, n), b.show("rows", n, n);
}
