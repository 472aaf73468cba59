// Tables of constants that an index of run time keeps in local memory: one static copy for
// all threads, whatever the block. By elements that are const, by nobody who changes them, in
// loops, several in a declaration, handed on, constexpr, strings, structs. Tables that change,
// that begin with what is known at run time only, or that a lambda copies are none. And
// private arrays as long as their initialiser.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --only=private -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'weights' (1 launch): 't' once for all threads
// CHECK-DAG: rewrote 'mixed<7>' {{.*}}'t' once for all threads; 'off' once for all threads; 'b' once for all threads; 'p' once
// CHECK-DAG: rewrote 'handed' {{.*}}'w' once for all threads
// CHECK-DAG: rewrote 'beside' {{.*}}'w' once for all threads; 'h' of each thread in shared memory
// CHECK-DAG: rewrote 'steps' {{.*}}'dx' once for all threads; 'dy' once for all threads
// CHECK-DAG: rewrote 'bases' {{.*}}'name' once for all threads; 'code' once
// CHECK-DAG: rewrote 'changed' {{.*}}'t' of each thread in shared memory
// CHECK-DAG: rewrote 'begun' {{.*}}'t' of each thread in shared memory
// CHECK-DAG: rewrote 'placed' {{.*}}'t' once for all threads
// CHECK-DAG: rewrote 'halves' {{.*}}'t' of each thread
// CHECK-DAG: 'around' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'copied' left as it is: {{.*}}[private-use]
// CHECK-DAG: rewrote 'unsized' {{.*}}'a' of each thread {{.*}}'b' of each thread {{.*}}'c' of each thread {{.*}}'d' of each thread
// TEXT-LABEL: void weights_rc(
// TEXT: // Tables of constants, one copy for all threads: t.
// TEXT: static const float t[16] =
// TEXT-LABEL: void mixed_rc(
// TEXT: static const float t[97] =
// TEXT: static constexpr int off[] =
// TEXT-LABEL: void steps_rc(
// TEXT: static const int dx[6] = {{.*}}, dy[6] =
// TEXT-LABEL: void unsized_rc(
// TEXT: int a[5][64];
// SAME: equivalent: 13 launches compared, {{.*}} 11 by a rewritten kernel
#include "program.h"
#include <cuda_fp16.h>

enum { Three = 3 };
struct Pair {
  float a;
  int b;
};

__global__ void weights(const int *x, float *out, int n) {
  const float t[16] = {1.5f, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -15, 16.5f};
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int i = 0; i < 20; ++i)
    s += t[x[g + i] & 15];
  out[g] = s;
}

template <int N> __global__ void mixed(const int *x, float *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int i = 0; i < 20; ++i) {
    float t[97] = {1.5f, N, 1.0f / 3, Three, 1 << 3, 6};
    constexpr int off[] = {3, 1, 4, 1, 5, N};
    unsigned char b[3][2] = {{1, 2}, {Three, 200}, {5}};
    Pair p[5] = {{1.5f, 2}, {2, 3}};
    s += t[(x[g + i] + off[x[g] % 6u]) % 97u] + b[x[g] % 3u][i & 1] + p[x[g + i] % 5u].a;
  }
  out[g] = s;
}

__device__ float at(const float *t, int i) { return t[i & 7]; }
__global__ void handed(const int *x, float *out, int n) {
  const float w[8] = {0, 1, 2, 3, 4, 5, 6, 7.5f};
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int i = 0; i < 16; ++i)
    s += at(w, x[g + i + 1]);
  out[g] = s;
}
__global__ void beside(const int *x, float *out, int n) {
  const float w[8] = {0, 1, 2, 3, 4, 5, 6, 7.5f};
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  float h[12] = {};
  for (int i = 0; i < 16; ++i)
    h[x[g + i] % 12u] += w[x[g + i + 1] & 7];
  float s = 0;
  for (int i = 0; i < 12; ++i)
    s = fmaxf(s, h[i]);
  out[g] = s;
}

__global__ void steps(const int *x, int *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  const int dx[6] = {1, 0, -1, 0, 1, -1}, dy[6] = {0, 1, 0, -1, 1, -1};
  int cx = 0, cy = 0;
  for (int i = 0; i < 20; ++i) {
    cx += dx[x[g + i] % 6u];
    cy += dy[x[g + i] % 6u] * 2;
  }
  out[g] = cx * 100 + cy;
}

__global__ void bases(const int *x, int *out, int n) {
  const char name[] = "ACGTN";
  const unsigned short code[5] = {'a' + 1, 0x7f, 2u, 'c', 1};
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  int s = 0;
  for (int i = 0; i < 20; ++i)
    s = s * 7 + name[x[g + i] % 5u] + code[x[g + i] % 5u];
  out[g] = s;
}

__global__ void changed(const int *x, float *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  float t[16] = {1.5f, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -15, 16.5f};
  t[x[g] & 15] = 3;
  out[g] = t[x[g + 1] & 15];
}

__global__ void begun(const int *x, float *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  const float t[8] = {1.5f, 2, (float)n, 4, 5};
  out[g] = t[x[g + 1] & 7];
}

__global__ void copied(const int *x, int *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  const int t[8] = {1, 2, 3, 4, 5};
  auto f = [t](int i) { return t[i & 7]; };
  out[g] = f(x[g]) + t[x[g + 1] & 7];
}

// By its address as well.
__global__ void placed(const int *x, int *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  const int t[8] = {4, 5, 6, 7, 1};
  const int *p = t + (x[g] & 3);
  out[g] = p[x[g + 1] & 3] + t[x[g + 2] & 7];
}
__global__ void halves(const int *x, float *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  const __half t[8] = {__half(1.5f), __float2half(2.f)};
  out[g] = __half2float(t[x[g] & 7]);
}
__global__ void around(const int *x, int *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  int a[4] = {1, 2, 3, g};
  int (*t[8])[4] = {&a, &a, &a, &a, &a, &a, &a, &a};
  out[g] = (*t[x[g] & 7])[x[g + 1] & 3];
}

typedef int Some[];
__global__ void unsized(const int *x, int *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  int a[] = {1, 2, g, 4, 5};
  unsigned b[][2] = {{1, 2}, {3, 4u + g}, {5}};
  Some c = {1, g, 7, 8, 9};
  char d[][2] = {{1, 2}, {3, 4}};
  for (int i = 0; i < 8; ++i) {
    a[x[g + i] % 5u] += i;
    b[x[g + i] % 3u][i & 1] ^= i;
    c[x[g + i] % 5u] += 7;
    d[x[g + i] & 1][x[g] & 1] += 1;
  }
  out[g] = a[x[g] % 5u] + b[x[g] % 3u][0] + c[x[g] % 5u] + d[x[g] & 1][1];
}

int main() {
  const int n = 256;
  const Buffer<int> x(randoms<int>(n + 64)), k(n);
  const Buffer<float> o(n);
  weights<<<n / 64, 64>>>(x.Data, o.Data, n);
  o.show("weights", n);
  mixed<7><<<n / 64, dim3(16, 4)>>>(x.Data, o.Data, n);
  o.show("mixed", n);
  handed<<<n / 64, 64>>>(x.Data, o.Data, n);
  o.show("handed", n);
  beside<<<n / 64, 64>>>(x.Data, o.Data, n);
  o.show("beside", n);
  steps<<<n / 64, 64>>>(x.Data, k.Data, n);
  k.show("steps", n);
  bases<<<n / 64, 64>>>(x.Data, k.Data, n);
  k.show("bases", n);
  changed<<<n / 64, 64>>>(x.Data, o.Data, n);
  o.show("changed", n);
  begun<<<n / 64, 64>>>(x.Data, o.Data, n);
  o.show("begun", n);
  placed<<<n / 64, 64>>>(x.Data, k.Data, n);
  k.show("placed", n);
  halves<<<n / 64, 64>>>(x.Data, o.Data, n);
  o.show("halves", n);
  around<<<n / 64, 64>>>(x.Data, k.Data, n);
  k.show("around", n);
  copied<<<n / 64, 64>>>(x.Data, k.Data, n);
  k.show("copied", n);
  unsized<<<n / 64, 64>>>(x.Data, k.Data, n);
  k.show("unsized", n);
}
