// Declined with emit-failed: indices of type size_t. 'x' wraps below zero, its
// domain needs 2^64, which the text of a condition cannot hold. A decline with
// a code of its own, or the signed form, would do. (seed 471, --force)
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

namespace fz {
static unsigned state = 1, rare = 97;
static unsigned next() {
  state = state * 1664525u + 1013904223u;
  return state >> 7;
}
static void put(float &v) {
  static const unsigned odd[] = {0xffc00000u, 0x7f800000u, 0xff800000u,
                                 0x00000007u, 0x80000000u, 0x7f7fffffu};
  unsigned r = next();
  if (r % rare < 6)
    memcpy(&v, &odd[r % rare], 4);
  else
    v = (int)(r % 4001) * 0.37f - 740.0f;
}
static void put(double &v) {
  static const unsigned long long odd[] = {
      0xfff8000000000000ull, 0x7ff0000000000000ull, 0xfff0000000000000ull,
      0x0000000000000009ull, 0x8000000000000000ull};
  unsigned r = next();
  if (r % rare < 5)
    memcpy(&v, &odd[r % rare], 8);
  else
    v = (int)(r % 4001) * 0.37 - 740.0;
}
static void put(int &v) { v = (int)(next() % 6001) - 3000; }
static void put(unsigned &v) { v = next() * 2654435761u; }
static void put(short &v) { v = (short)next(); }
static void put(unsigned short &v) { v = (unsigned short)next(); }
static void put(signed char &v) { v = (signed char)next(); }
static void put(unsigned char &v) { v = (unsigned char)next(); }
static void put(long long &v) { v = (long long)(next() % 2000001) - 1000000; }
template <class T> static void put(T &v) {
  put(v.x);
  put(v.y);
}

static void *raw[16];
static int raws;
struct Guarded {
  char *p;
  size_t bytes;
};
static Guarded outs[8];
static int nouts;

static void *device(size_t bytes) {
  void *p = 0;
  if (cudaMalloc(&p, bytes ? bytes : 1) != cudaSuccess) {
    printf("out of memory\n");
    exit(1);
  }
  raw[raws++] = p;
  return p;
}
/// count elements behind off unused ones; nothing behind them.
template <class T> static T *input(size_t count, size_t off, unsigned seed) {
  T *p = (T *)device((count + off) * sizeof(T));
  T *h = (T *)malloc((count + off + 1) * sizeof(T));
  state = seed;
  for (size_t i = 0; i < count + off; ++i)
    put(h[i]);
  cudaMemcpy(p, h, (count + off) * sizeof(T), cudaMemcpyHostToDevice);
  free(h);
  return p + off;
}
/// count elements between guard regions, filled like an input or with a pattern.
template <class T>
static T *output(size_t count, size_t off, unsigned seed) {
  const size_t guard = 256, bytes = (count + off) * sizeof(T) + 2 * guard;
  char *p = (char *)device(bytes), *h = (char *)malloc(bytes);
  memset(h, 0x5a, bytes);
  state = seed;
  if (seed)
    for (size_t i = 0; i < count + off; ++i) {
      T v;
      put(v);
      memcpy(h + guard + i * sizeof(T), &v, sizeof(T));
    }
  cudaMemcpy(p, h, bytes, cudaMemcpyHostToDevice);
  free(h);
  outs[nouts++] = Guarded{p, bytes};
  return (T *)(p + guard) + off;
}
static void finish(const char *kernel, int launch) {
  cudaError_t e = cudaGetLastError(), d = cudaDeviceSynchronize();
  unsigned long long hash = 1469598103934665603ull;
  for (int o = 0; o < nouts; ++o) {
    unsigned char *h = (unsigned char *)malloc(outs[o].bytes);
    cudaMemcpy(h, outs[o].p, outs[o].bytes, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < outs[o].bytes; ++i)
      hash = (hash ^ h[i]) * 1099511628211ull;
    free(h);
  }
  printf("%s %d %016llx %d %d\n", kernel, launch, hash, (int)e, (int)d);
  for (int r = 0; r < raws; ++r)
    cudaFree(raw[r]);
  raws = nouts = 0;
}
} // namespace fz

template <int BLOCK>
__global__ void k471(const float2 *in0, float *out, size_t n) {
__shared__ float2 s0[BLOCK + 4];
const int tid = threadIdx.x;
const size_t base = blockIdx.x * BLOCK;
const size_t g = base + tid;
{
  const size_t x = base + (size_t)(tid + 2) - 2;
  if (x < n)
    s0[tid + 2] = in0[x];
  else
    s0[tid + 2] = float2{0, 0};
}
if (tid < 2) {
  const size_t x = base + (size_t)(tid) - 2;
  if (x < n)
    s0[tid] = in0[x];
  else
    s0[tid] = float2{0, 0};
}
if (tid >= BLOCK - 2) {
  const size_t x = base + (size_t)(tid + 4) - 2;
  if (x < n)
    s0[tid + 4] = in0[x];
  else
    s0[tid + 4] = float2{0, 0};
}
__syncthreads();
if (!(g < n))
  return;
float acc = 0;
acc += (float)(s0[tid + 2 - 2].x + s0[tid + 2 - 2].y) * 3 + (float)(s0[tid + 2 + 1].x + s0[tid + 2 + 1].y) + (float)(s0[tid + 2 + 2].x + s0[tid + 2 + 2].y);
out[g] = acc;
}

static void run_k471() {
  {
    const int launch = 0;
    const int n = 513, bx = 256, off = 3, alias = 0;
    fz::rare = launch % 2 ? 1000003 : 97;
    float2 *d_in0 = fz::input<float2>(n, off, 13 + launch);
    float *d_out = fz::output<float>(n, off, 0);
    size_t d_n = n;
    dim3 grid((n + bx - 1) / bx, 1);
    dim3 block(256, 1);
    k471<256><<<grid, block, 0>>>(d_in0, d_out, d_n);
    fz::finish("k471", launch);
  }
  {
    const int launch = 1;
    const int n = 255, bx = 256, off = 1, alias = 0;
    fz::rare = launch % 2 ? 1000003 : 97;
    float2 *d_in0 = fz::input<float2>(n, off, 13 + launch);
    float *d_out = fz::output<float>(n, off, 0);
    size_t d_n = n;
    dim3 grid((n + bx - 1) / bx, 1);
    dim3 block(256, 1);
    k471<256><<<grid, block, 0>>>(d_in0, d_out, d_n);
    fz::finish("k471", launch);
  }
  {
    const int launch = 2;
    const int n = 33, bx = 256, off = 3, alias = 0;
    fz::rare = launch % 2 ? 1000003 : 97;
    float2 *d_in0 = fz::input<float2>(n, off, 13 + launch);
    float *d_out = fz::output<float>(n, off, 0);
    size_t d_n = n;
    dim3 grid((n + bx - 1) / bx, 1);
    dim3 block(256, 1);
    k471<256><<<grid, block, 0>>>(d_in0, d_out, d_n);
    fz::finish("k471", launch);
  }
  {
    const int launch = 3;
    const int n = 1287, bx = 256, off = 0, alias = 0;
    fz::rare = launch % 2 ? 1000003 : 97;
    float2 *d_in0 = fz::input<float2>(n, off, 13 + launch);
    float *d_out = fz::output<float>(n, off, 0);
    size_t d_n = n;
    dim3 grid((n + bx - 1) / bx, 1);
    dim3 block(256, 1);
    k471<256><<<grid, block, 0>>>(d_in0, d_out, d_n);
    fz::finish("k471", launch);
  }
}

int main() {
  run_k471();
  return 0;
}
