// Rows that are clamped beside a sum: the sum of the row's beginning and a border need not
// fit where the border does, a size_t beside it makes no border unsigned, and what is asked
// of a launch are the sums that are written, not those of texts that were given up.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --cuda-path=%cuda 2>&1 \
// RUN:   | FileCheck %s
// RUN: rcache-check diff --device-code=nvcc %s %t.cu -- -DRCACHE_ANY_LAUNCH 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EXEC
// RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.cu
//
// CHECK-DAG: rewrote 'rows<int>'
// CHECK-DAG: rewrote 'rows<unsigned long>'
// CHECK-DAG: rewrote 'rows<unsigned{{( int)?}}>'
// CHECK-DAG: rewrote 'rows<long long>'
// CHECK-DAG: rewrote 'offset'
// CHECK-DAG: rewrote 'tiles'
// EXEC: equivalent: 16 launches compared, {{.*}}; 16 by a rewritten kernel
// TEXT: min(max({{.*}} - 1, 0), last){{ \+|;}}
#include <cstdio>

#define B 128

template <typename Pitch>
__global__ void rows(const float *in, float *out, int w, Pitch pitch, int last) {
  __shared__ float s[B + 2];
  const int t = threadIdx.x, b = blockIdx.x * B, y = blockIdx.y;
  for (int i = t; i < B + 2; i += B)
    s[i] = in[y * pitch + min(max(b + i - 1, 0), last)];
  __syncthreads();
  if (b + t < w)
    out[y * pitch + b + t] = s[t] - s[t + 1] + s[t + 2];
}
__global__ void offset(const float *in, float *out, int n, unsigned off) {
  __shared__ float s[B + 2];
  const int t = threadIdx.x, b = blockIdx.x * B;
  for (int i = t; i < B + 2; i += B)
    s[i] = in[off + max(b + i - 1, 0)];
  __syncthreads();
  if (b + t < n)
    out[b + t] = s[t] - s[t + 1] + s[t + 2];
}
__global__ void tiles(const int *__restrict__ in, int *__restrict__ out, int w, int h,
                      int pitch) {
  __shared__ int c[16][20];
  const int x0 = blockIdx.x * 16, x = x0 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int i = threadIdx.x; i < 20; i += 16)
    c[threadIdx.y][i] = y < h ? in[y * pitch + min(max(x0 + i - 2, 0), w - 1)] : 0;
  __syncthreads();
  if (y < h && x < pitch)
    out[y * pitch + x] = c[threadIdx.y][threadIdx.x] - c[threadIdx.y][threadIdx.x + 1] +
                         c[threadIdx.y][threadIdx.x + 4];
}

template <typename T> void print(const char *Name, T *d, int n) {
  T h[4096];
  cudaMemcpy(h, d, n * sizeof(T), cudaMemcpyDeviceToHost);
  double x = 0;
  for (int i = 0; i < n; ++i)
    x = x * 1.01 + h[i];
  std::printf("%s %a\n", Name, x);
}

int main() {
  const int w = 300, p = 320, h = 5, all = p * h;
  static float f[4096];
  static int g[4096];
  for (int i = 0; i < 4096; ++i)
    f[i] = (i * 7919 % 1009) / 177.3f, g[i] = i * 7919 % 1009;
  float *in, *out;
  int *a, *b;
  cudaMalloc(&in, sizeof f);
  cudaMalloc(&out, sizeof f);
  cudaMalloc(&a, sizeof g);
  cudaMalloc(&b, sizeof g);
  cudaMemcpy(in, f, sizeof f, cudaMemcpyHostToDevice);
  cudaMemcpy(a, g, sizeof g, cudaMemcpyHostToDevice);
  // No border: 0x7fffffff.
  for (int last : {w - 1, 17, 0x7fffffff}) {
    rows<int><<<dim3(3, h), B>>>(in, out, w, p, last);
    print("int", out, all);
    rows<size_t><<<dim3(3, h), B>>>(in, out, w, p, last);
    print("size_t", out, all);
    rows<unsigned><<<dim3(3, h), B>>>(in, out, w, p, last);
    print("unsigned", out, all);
    rows<long long><<<dim3(3, h), B>>>(in, out, w, p, last);
    print("long long", out, all);
  }
  offset<<<3, B>>>(in, out, w, 30);
  print("offset", out, w);
  for (int border : {64, 0x7fffffff, 0x7ffffc00}) {
    tiles<<<dim3(4, 3), dim3(16, 16)>>>(a, b, border, 40, 72);
    print("tiles", b, 40 * 72);
  }
}
