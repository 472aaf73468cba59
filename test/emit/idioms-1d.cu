// Idioms of 1-D kernels: strided staging, tile loop with accumulators, grid
// stride, in place, structs, templates in namespaces, cudaLaunchKernel. The
// rewritten program prints the checksums of the original for sizes around the
// block, in two thread orders, and is left alone by a second run.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check run %s > %t.original
// RUN: rcache-check run %t.cu > %t.rewritten
// RUN: diff %t.original %t.rewritten
// RUN: rcache-check run --schedule=random:7 %t.cu > %t.random
// RUN: diff %t.original %t.random
// RUN: rcache-rewrite %t.cu -o %t.again.cu --cuda-path=%cuda 2> /dev/null
// RUN: cmp %t.cu %t.again.cu
// RUN: %if slow %{ %nvcc -std=c++17 -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
// RUN: %clang-cuda -std=c++17 -c %t.cu -o %t.o2
//
// CHECK-DAG: rewrote 'flt::(anonymous namespace)::avg<3, float>'
// CHECK-DAG: rewrote 'flt::(anonymous namespace)::avg<9, int>'
// CHECK-DAG: rewrote 'accum'
// CHECK-DAG: rewrote 'gridstride'
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include <cstdio>
#include <cstdlib>
#include <cstring>
namespace flt { namespace {
template <int R, typename T>
__global__ void __launch_bounds__(128, 4) avg(const T *__restrict__ in, T *__restrict__ out, unsigned n) {
  __shared__ T buf[128 + 2 * R];
  const unsigned t = threadIdx.x;
  const unsigned gid = blockIdx.x * 128 + t;
  for (unsigned i = t; i < 128 + 2 * R; i += 128) {
    int src = (int)(blockIdx.x * 128 + i) - R;
    buf[i] = (src >= 0 && src < (int)n) ? in[src] : T(0);
  }
  __syncthreads();
  if (gid < n) {
    T acc = T(0);
#pragma unroll
    for (int k = -R; k <= R; k++) acc += buf[t + R + k];
    out[gid] = acc / T(2 * R + 1);
  }
}
} }
__global__ void accum(float *x, const float *y, int n, int tiles) {  // tile loop, accumulators
  __shared__ float s[64];
  int t = threadIdx.x;
  float acc = 0.f, m = -1e30f;
  for (int b = 0; b < tiles; ++b) {
    int i = b * 64 + t;
    s[t] = i < n ? y[i] * 2.0f : 0.0f;
    __syncthreads();
    for (int j = 0; j < 64; ++j) { acc += s[j] * (float)(t + 1); m = fmaxf(m, s[j]); }
    __syncthreads();
  }
  int g = blockIdx.x * blockDim.x + t;
  if (g < n) x[g] = acc + m;
}
__global__ void gridstride(const int *a, int *b, int n) {
  extern __shared__ int sh[];
  for (int base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x) {
    int i = base + threadIdx.x;
    sh[threadIdx.x + 1] = i < n ? a[i] : 0;
    if (threadIdx.x == 0) sh[0] = base > 0 ? a[base - 1] : 0;
    if (threadIdx.x == blockDim.x - 1) sh[blockDim.x + 1] = i + 1 < n ? a[i + 1] : 0;
    __syncthreads();
    if (i < n) b[i] = sh[threadIdx.x] - 2 * sh[threadIdx.x + 1] + sh[threadIdx.x + 2];
    __syncthreads();
  }
}
__global__ void inplace(short *d, int n) {
  __shared__ short s[256];
  int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = g < n ? d[g] : (short)0;
  __syncthreads();
  if (g < n) d[g] = s[255 - threadIdx.x] + s[threadIdx.x ^ 1];
}
__device__ float pick(const float *p, int i) { return p[i] + p[i + 1]; }
__global__ void viafn(const float *a, float *b, int n) {
  __shared__ float s[129];
  int g = blockIdx.x * 128 + threadIdx.x;
  if (g < n) s[threadIdx.x] = a[g];
  if (threadIdx.x == 127 && g + 1 < n) s[128] = a[g + 1];
  __syncthreads();
  if (g < n - 1) b[g] = pick(s, threadIdx.x);
}
struct P { float x, y; };
__global__ void pairs(const P *a, float *b, int n) {
  __shared__ P s[130];
  int g = blockIdx.x * 128 + threadIdx.x, l = threadIdx.x + 1;
  P z; z.x = 0; z.y = 1;
  s[l] = g < n ? a[g] : z;
  if (threadIdx.x < 1) s[0] = g >= 1 ? a[g - 1] : z;
  if (threadIdx.x >= 127) s[129] = g + 1 < n ? a[g + 1] : z;
  __syncthreads();
  if (g >= n) return;
  b[g] = s[l - 1].x * s[l].y + s[l + 1].x;
}
template <typename T> void show(const char *name, const T *d, int n) {
  T *h = (T *)malloc(n * sizeof(T)); cudaMemcpy(h, d, n * sizeof(T), cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull; const unsigned char *p = (const unsigned char *)h;
  for (size_t i = 0; i < n * sizeof(T); ++i) f = (f ^ p[i]) * 1099511628211ull;
  printf("%s %llx\n", name, f); free(h);
}
int main() {
  for (int n : {1, 63, 128, 1000, 4096}) {
    float *a, *b; cudaMalloc(&a, n * 8 + 64); cudaMalloc(&b, n * 8 + 64);
    float *h = (float *)malloc(n * 8); for (int i = 0; i < 2 * n; ++i) h[i] = (i * 37 % 101) * 0.25f - 3;
    cudaMemcpy(a, h, n * 8, cudaMemcpyHostToDevice); cudaMemset(b, 0, n * 8);
    cudaStream_t st; cudaStreamCreate(&st);
    flt::avg<3, float><<<(n + 127) / 128, 128, 0, st>>>(a, b, n); cudaDeviceSynchronize(); show("avg3", b, n);
    flt::avg<1><<<dim3((n + 127) / 128), dim3(128)>>>((const float *)a, b, (unsigned)n); show("avg1", b, n);
    flt::avg<9, int><<<(n + 127) / 128, 128>>>((int *)a, (int *)b, n); show("avg9", b, n);
    cudaMemset(b, 0, n * 8);
    accum<<<(n + 63) / 64, 64>>>(b, a, n, (n + 63) / 64); show("accum", b, n);
    int bs = n > 500 ? 256 : 96;
    gridstride<<<3, bs, (bs + 2) * sizeof(int)>>>((int *)a, (int *)b, n); show("gs", b, n);
    { const float *pa = a; float *pb = b; int nn = n; void *args[] = {&pa, &pb, &nn};
      cudaLaunchKernel((const void *)viafn, dim3((n + 127) / 128), dim3(128), args, 0, 0); show("fn", b, n); }
    pairs<<<(n + 127) / 128, 128>>>((P *)a, b, n); show("pairs", b, n);
    inplace<<<(n + 255) / 256, 256>>>((short *)b, n); show("inplace", b, n);
    cudaFree(a); cudaFree(b); free(h);
  }
}
