// l10 -- newer C++: groups, functors, halves, structs, generic trees and scans, carry-less products.
#include "shown.h"
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cstdint>
namespace cg = cooperative_groups;

template <typename T>
T *make_input(size_t n, uint32_t range, uint32_t seed, T scale = T(1))
{
  T *host = (T *)malloc(n * sizeof(T));
  uint32_t a = seed * 0x85ebca6bu + 1u;
  for (size_t i = 0; i < n; i++) {
    a += 0x6D2B79F5u;
    uint32_t t = a;
    t = (t ^ (t >> 15)) * (t | 1u);
    t ^= t + (t ^ (t >> 7)) * (t | 61u);
    host[i] = T((t ^ (t >> 14)) % range) * scale;
  }
  T *dev = nullptr;
  cudaMalloc((void **)&dev, n * sizeof(T));
  cudaMemcpy(dev, host, n * sizeof(T), cudaMemcpyHostToDevice);
  free(host);
  return dev;
}

__device__ int reduce_sum(cg::thread_group g, int *temp, int val)
{
  int lane = g.thread_rank();
  // Each iteration halves the number of active threads
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[lane] = val;
    g.sync();  // wait for all threads to store
    if (lane < i) val += temp[lane + i];
    g.sync();  // wait for all threads to load
  }
  return val;  // only thread 0 has the full sum
}
__device__ int thread_sum(const int *input, int n)
{
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += blockDim.x * gridDim.x) {
    int4 in = ((const int4 *)input)[i];
    sum += in.x + in.y + in.z + in.w;
  }
  return sum;
}

// class 1: sum by a cooperative group, vector loads
__global__ void sum_kernel_block(int *sums, const int *input, int n)
{
  int my_sum = thread_sum(input, n);
  extern __shared__ int temp[];
  auto g = cg::this_thread_block();
  int block_sum = reduce_sum(g, temp, my_sum);
  if (g.thread_rank() == 0) sums[blockIdx.x] = block_sum;
}

// class 1: half2 sums, tree by blockDim.x
__global__ void reduce_half2(const __half2 *in, __half2 *out, int n)
{
  __shared__ __half2 tile[1024];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 v = __float2half2_rn(0.f);
  for (; i < n; i += gridDim.x * blockDim.x) v = __hadd2(v, in[i]);
  tile[threadIdx.x] = v;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) tile[threadIdx.x] = __hadd2(tile[threadIdx.x], tile[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}

struct Cplx {
  float re, im;
};
struct ComplexProduct {
  static __device__ Cplx identity() { return Cplx{1.f, 0.f}; }
  __device__ Cplx operator()(const Cplx &a, const Cplx &b) const
  {
    return Cplx{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

// class 1: any operator over any type; a ladder of block sizes, unrolled end
template <typename T, class Op, int BS>
__global__ void reduce_generic(const T *__restrict__ in, T *__restrict__ out, size_t n, Op op)
{
  __shared__ T sm[BS];
  const int tid = threadIdx.x;
  T acc = Op::identity();
  for (size_t i = (size_t)blockIdx.x * BS * 4 + tid, k = 0; k < 4; ++k, i += BS)
    if (i < n) acc = op(acc, in[i]);
  sm[tid] = acc;
  __syncthreads();
  if (BS >= 1024) { if (tid < 512) sm[tid] = op(sm[tid], sm[tid + 512]); __syncthreads(); }
  if (BS >= 512) { if (tid < 256) sm[tid] = op(sm[tid], sm[tid + 256]); __syncthreads(); }
  if (BS >= 256) { if (tid < 128) sm[tid] = op(sm[tid], sm[tid + 128]); __syncthreads(); }
  if (BS >= 128) { if (tid < 64) sm[tid] = op(sm[tid], sm[tid + 64]); __syncthreads(); }
  if (BS >= 64) { if (tid < 32) sm[tid] = op(sm[tid], sm[tid + 32]); __syncthreads(); }
  if (tid < 16) {
#pragma unroll
    for (int s = 16; s >= 1; s >>= 1) {
      if (tid < s) sm[tid] = op(sm[tid], sm[tid + s]);
      __syncwarp(0xffffu);
    }
  }
  if (tid == 0) out[blockIdx.x] = sm[0];
}

// class 1: three trees after one another on one array: mean, deviation, greatest score
__global__ void standardise(const float *x, float *z, float *peak)
{
  __shared__ float w[256];
  auto tree = [&](float v, bool maximum) {
    w[threadIdx.x] = v;
    __syncthreads();
    for (int d = 128; d; d >>= 1) {
      if (threadIdx.x < d) {
        float o = w[threadIdx.x + d];
        w[threadIdx.x] = maximum ? fmaxf(w[threadIdx.x], o) : w[threadIdx.x] + o;
      }
      __syncthreads();
    }
    float r = w[0];
    __syncthreads();
    return r;
  };
  const size_t g = (size_t)blockIdx.x * 256 + threadIdx.x;
  const float v = x[g];
  const float mean = tree(v, false) / 256.f;
  const float dev = sqrtf(tree((v - mean) * (v - mean), false) / 255.f) + 1e-6f;
  const float score = (v - mean) / dev;
  const float top = tree(fabsf(score), true);
  z[g] = score / top;
  if (threadIdx.x == 0) peak[blockIdx.x] = top;
}

// class 1: sums of the rows of 16x16 blocks, modulo addressing along x
__global__ void row_sums_16x16(const double *m, double *sums, int ld)
{
  __shared__ double s[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.x * 16 + ty;
  double acc = 0.0;
  for (int c = tx; c < ld; c += 16) acc += m[(size_t)row * ld + c];
  s[ty][tx] = acc;
  __syncthreads();
  for (int k = 1; k < 16; k *= 2) {
    if (tx % (2 * k) == 0) s[ty][tx] += s[ty][tx + k];
    __syncthreads();
  }
  if (tx == 0) sums[row] = s[ty][0];
}

// class 2: weighted logarithms, 1024 structs of two doubles
struct __align__(16) Moments {
  double w, wx;
};
__global__ void weighted_mean(const double *x, const double *weight, double *mean, int n)
{
  __shared__ Moments mom[1024];
  const int t = threadIdx.x;
  Moments a{0.0, 0.0};
  for (int i = blockIdx.x * 1024 + t; i < n; i += gridDim.x * 1024) {
    a.w += weight[i];
    a.wx += weight[i] * x[i];
  }
  mom[t] = a;
  __syncthreads();
  int active = 1024;
  while (active > 1) {
    active >>= 1;
    if (t < active) {
      mom[t].w += mom[t + active].w;
      mom[t].wx += mom[t + active].wx;
    }
    __syncthreads();
  }
  if (t == 0) mean[blockIdx.x] = mom[0].w > 0.0 ? mom[0].wx / mom[0].w : 0.0;
}

// class 3: running maximum of shorts, two buffers swapped by pointer
__global__ void running_max(const short *in, short *out, int n)
{
  __shared__ short bufA[512], bufB[512];
  short *src = bufA, *dst = bufB;
  const int t = threadIdx.x;
  const int g = blockIdx.x * 512 + t;
  src[t] = g < n ? in[g] : (short)-32768;
  __syncthreads();
  for (int d = 1; d < 512; d <<= 1) {
    short v = src[t];
    if (t >= d) v = max(v, src[t - d]);
    dst[t] = v;
    __syncthreads();
    short *swap = src;
    src = dst;
    dst = swap;
  }
  if (g < n) out[g] = src[t];
}

// class 3: delta decoding, eight values a thread, threads' sums scanned in place, 64 threads
template <int PER>
__global__ void delta_decode(const signed char *delta, const int *start, int *value)
{
  __shared__ int sums[64];
  const int t = threadIdx.x;
  const size_t base = ((size_t)blockIdx.x * 64 + t) * PER;
  int part[PER];
  int run = 0;
#pragma unroll
  for (int k = 0; k < PER; ++k) part[k] = run += delta[base + k];
  sums[t] = run;
  __syncthreads();
  for (int d = 1; d < 64; d += d) {
    int add = 0;
    if (t >= d) add = sums[t - d];
    __syncthreads();
    if (t >= d) sums[t] += add;
    __syncthreads();
  }
  const int first = start[blockIdx.x] + (t ? sums[t - 1] : 0);
#pragma unroll
  for (int k = 0; k < PER; ++k) value[base + k] = first + part[k];
}

__device__ __forceinline__ void clmul64(uint64_t a, uint64_t b, uint64_t &lo, uint64_t &hi)
{
  lo = hi = 0;
#pragma unroll 4
  for (int i = 0; i < 64; ++i) {
    const uint64_t m = 0 - (b >> i & 1);
    lo ^= (a << i) & m;
    hi ^= (i ? a >> (64 - i) : 0) & m;
  }
}

// class 6: 512-bit factors, Karatsuba's three products of 256 bits, three groups of eight threads a factor pair
__global__ void karatsuba_gf2(const uint64_t *A, const uint64_t *B, uint64_t *C)
{
  __shared__ uint64_t a[12], b[12];
  __shared__ uint64_t part[3][8];
  const int t = threadIdx.x;
  if (t < 8) {
    a[t] = A[blockIdx.x * 8 + t];
    b[t] = B[blockIdx.x * 8 + t];
  }
  __syncthreads();
  if (t < 4) {
    a[8 + t] = a[t] ^ a[4 + t];
    b[8 + t] = b[t] ^ b[4 + t];
  }
  __syncthreads();
  if (t < 24) {
    const int which = t / 8, k = t % 8;
    uint64_t r = 0;
    for (int i = 0; i < 4; ++i) {
      uint64_t lo, hi;
      if (k - i >= 0 && k - i < 4) {
        clmul64(a[which * 4 + i], b[which * 4 + k - i], lo, hi);
        r ^= lo;
      }
      if (k - 1 - i >= 0 && k - 1 - i < 4) {
        clmul64(a[which * 4 + i], b[which * 4 + k - 1 - i], lo, hi);
        r ^= hi;
      }
    }
    part[which][k] = r;
  }
  __syncthreads();
  if (t < 8) part[2][t] ^= part[0][t] ^ part[1][t];
  __syncthreads();
  if (t < 16) {
    uint64_t w = t < 8 ? part[0][t] : part[1][t - 8];
    if (t >= 4 && t < 12) w ^= part[2][t - 4];
    C[blockIdx.x * 16 + t] = w;
  }
}

// class 6: long carry-less product, both operands staged chunk by chunk, the running words kept in shared memory
template <int CH>
__global__ void long_clmul(const uint32_t *P, int np, const uint32_t *Qp, int nq, uint32_t *R)
{
  __shared__ uint32_t ps[2 * CH];
  __shared__ uint32_t qs[CH];
  __shared__ uint64_t run[CH];
  const int t = threadIdx.x;
  const int k0 = blockIdx.x * CH;
  run[t] = 0;
  for (int j0 = 0; j0 < nq; j0 += CH) {
    const int lo = k0 - j0 - CH;
    ps[t] = lo + t >= 0 && lo + t < np ? P[lo + t] : 0u;
    ps[t + CH] = lo + CH + t >= 0 && lo + CH + t < np ? P[lo + CH + t] : 0u;
    qs[t] = j0 + t < nq ? Qp[j0 + t] : 0u;
    __syncthreads();
    for (int j = 0; j < CH; ++j) {
      uint64_t x = ps[CH + t - j];
      const uint32_t y = qs[j];
      uint64_t z = 0;
      for (int i = 0; i < 32; ++i) z ^= (x << i) & (0 - (uint64_t)(y >> i & 1));
      run[t] ^= z;
    }
    __syncthreads();
  }
  // high halves go to the next word of the same chunk, or to the next chunk's first word
  if (k0 + t < np + nq) {
    uint32_t w = (uint32_t)run[t];
    if (t > 0) w ^= (uint32_t)(run[t - 1] >> 32);
    R[(k0 + t)] = w;
  }
  if (t == CH - 1) R[np + nq + CH + blockIdx.x] = (uint32_t)(run[CH - 1] >> 32);
}

int main()
{
  {
    int n = 1 << 24;
    int *in = make_input<int>(n, 1 << 16, 1), *s = mk<int>(4096);
    sum_kernel_block<<<2048, 256, 256 * sizeof(int)>>>(s, in, n);
    show("sum_kernel_block", s, 2048 * 4);
    __half *hh = (__half *)malloc((size_t)n * 2);
    for (int i = 0; i < n; ++i) hh[i] = __float2half((float)((i * 31) % 64) / 256.f);
    __half2 *dh, *oh;
    cudaMalloc(&dh, (size_t)n * 2);
    cudaMalloc(&oh, 2048 * 4);
    cudaMemcpy(dh, hh, (size_t)n * 2, cudaMemcpyHostToDevice);
    free(hh);
    reduce_half2<<<2048, 128>>>(dh, oh, n / 2);
    show("reduce_half2", oh, 2048 * 4);
    float *c = make_input<float>(n, 1000, 2, 0.001445f), *o = mk<float>(n);
    reduce_generic<Cplx, ComplexProduct, 128><<<n / 2 / 512, 128>>>((Cplx *)c, (Cplx *)o, (size_t)n / 2 - 3, ComplexProduct());
    show("reduce_generic_complex", o, (size_t)n / 2 / 512 * 8);
    float *peak = mk<float>(n / 256);
    standardise<<<n / 256, 256>>>(c, o, peak);
    show("standardise", o, (size_t)n * 4);
  }
  {
    int rows = 16384, ld = 500;
    double *m = make_input<double>((size_t)rows * ld, 1 << 20, 3, 1.0 / 3), *w = mk<double>((size_t)rows * ld), *s = mk<double>(rows);
    row_sums_16x16<<<rows / 16, dim3(16, 16)>>>(m, s, ld);
    show("row_sums_16x16", s, rows * 8);
    weighted_mean<<<528, 1024>>>(m, w, s, rows * ld);
    show("weighted_mean", s, 528 * 8);
  }
  {
    int n = (1 << 24) - 300;
    short *in = make_input<short>(n, 32000, 4), *out = mk<short>(n);
    running_max<<<(n + 511) / 512, 512>>>(in, out, n);
    show("running_max", out, (size_t)n * 2);
    int blocks = 1 << 15;
    signed char *d = make_input<signed char>((size_t)blocks * 512, 127, 5);
    int *st = make_input<int>(blocks, 100000, 6), *v = mk<int>((size_t)blocks * 512);
    delta_decode<8><<<blocks, 64>>>(d, st, v);
    show("delta_decode_8", v, (size_t)blocks * 512 * 4);
  }
  {
    int pairs = 1 << 16;
    uint32_t *a = make_input<uint32_t>((size_t)pairs * 16, 0xfffffffbu, 7), *b = make_input<uint32_t>((size_t)pairs * 16, 0xfffffffbu, 8);
    uint64_t *c = mk<uint64_t>((size_t)pairs * 16);
    karatsuba_gf2<<<pairs, 32>>>((uint64_t *)a, (uint64_t *)b, c);
    show("karatsuba_gf2", c, (size_t)pairs * 16 * 8);
    int np = 1 << 20, nq = 200, blocks = (np + nq + 127) / 128;
    uint32_t *r = mk<uint32_t>((size_t)np + nq + 128 + blocks);
    long_clmul<128><<<blocks, 128>>>(a, np, b, nq, r);
    show("long_clmul", r, ((size_t)np + nq + 128 + blocks) * 4);
  }
  return 0;
}
