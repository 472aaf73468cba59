// column store operators
#include "h.h"
#include <cstdint>
#include <climits>

using key_t32 = uint32_t;
constexpr unsigned RADIX_BITS = 6, RADIX = 1u << RADIX_BITS;

__global__ void radix_count(const key_t32 *keys, uint32_t *counts, size_t n, unsigned shift) {
  __shared__ uint32_t local[RADIX];
  if (threadIdx.x < RADIX) local[threadIdx.x] = 0;
  __syncthreads();
  const size_t base = (size_t)blockIdx.x * blockDim.x * 8;
  for (unsigned k = 0; k < 8; ++k) {
    size_t i = base + k * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&local[(keys[i] >> shift) & (RADIX - 1)], 1u);
  }
  __syncthreads();
  if (threadIdx.x < RADIX) counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

__global__ void bitonic_block_sort(key_t32 *keys) {
  __shared__ key_t32 s[512];
  key_t32 *mine = keys + (size_t)blockIdx.x * 512;
  const unsigned t = threadIdx.x;
  s[t] = mine[t];
  __syncthreads();
  for (unsigned k = 2; k <= 512; k <<= 1)
    for (unsigned j = k >> 1; j > 0; j >>= 1) {
      const unsigned p = t ^ j;
      if (p > t) {
        const key_t32 a = s[t], b = s[p];
        const bool up = (t & k) == 0;
        if ((a > b) == up) {
          s[t] = b;
          s[p] = a;
        }
      }
      __syncthreads();
    }
  mine[t] = s[t];
}

struct AggPartial { long long sum; int count, lo, hi, pad; };

// SELECT sum(price*qty), count(*), min(price), max(price) WHERE lo <= date < hi
__global__ void agg_filter(const int *price, const int *qty, const int *date, int dlo, int dhi, size_t n, AggPartial *out) {
  __shared__ long long s_sum[256];
  __shared__ int s_cnt[256], s_min[256], s_max[256];
  const unsigned t = threadIdx.x;
  long long sum = 0;
  int cnt = 0, mn = INT_MAX, mx = INT_MIN;
  for (size_t i = (size_t)blockIdx.x * 256 + t; i < n; i += (size_t)gridDim.x * 256) {
    if (date[i] >= dlo && date[i] < dhi) {
      sum += (long long)price[i] * qty[i];
      ++cnt;
      mn = min(mn, price[i]);
      mx = max(mx, price[i]);
    }
  }
  s_sum[t] = sum;
  s_cnt[t] = cnt;
  s_min[t] = mn;
  s_max[t] = mx;
  __syncthreads();
  for (unsigned w = 128; w != 0; w >>= 1) {
    if (t < w) {
      s_sum[t] += s_sum[t + w];
      s_cnt[t] += s_cnt[t + w];
      s_min[t] = min(s_min[t], s_min[t + w]);
      s_max[t] = max(s_max[t], s_max[t + w]);
    }
    __syncthreads();
  }
  if (t == 0) {
    AggPartial a{s_sum[0], s_cnt[0], s_min[0], s_max[0], 0};
    out[blockIdx.x] = a;
  }
}

// dictionary decode: 8 bit codes to doubles
__global__ void dict_decode(const uint8_t *codes, const double *dict, double *vals, size_t n) {
  __shared__ double d[256];
  d[threadIdx.x] = dict[threadIdx.x];
  __syncthreads();
  for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) vals[i] = d[codes[i]] * 1.19;
}

template <class T> static void sig(const char *n, const T *d, size_t c) {
  const size_t b = c * sizeof(T);
  auto *h = (uint8_t *)malloc(b);
  cudaMemcpy(h, d, b, cudaMemcpyDeviceToHost);
  uint64_t f = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < b; ++i) f = (f ^ h[i]) * 0x100000001b3ull;
  printf("%s|%016lx\n", n, f);
  free(h);
}

int main() {
  const size_t n = 8 << 20, nu = n - 321;
  key_t32 *h = (key_t32 *)malloc(n * 4), *k;
  uint32_t s = 1;
  for (size_t i = 0; i < n; ++i) h[i] = s = s * 1664525u + 1013904223u;
  cudaMalloc(&k, n * 4);
  cudaMemcpy(k, h, n * 4, cudaMemcpyHostToDevice);
  free(h);
  const unsigned nb = (nu + 2047) / 2048;
  uint32_t *c;
  cudaMalloc(&c, (size_t)nb * RADIX * 4);
  radix_count<<<nb, 256>>>(k, c, nu, 12);
  bitonic_block_sort<<<n / 512, 512>>>(k);
  int *p = mk<int>(n), *q = mk<int>(n + 3), *dt = mk<int>(n + 7);
  AggPartial *ap;
  cudaMalloc(&ap, 1056 * sizeof(AggPartial));
  agg_filter<<<1056, 256>>>(p, q + 3, dt + 7, 3, 9, nu, ap);
  uint8_t *codes = mk<uint8_t>(n);
  double *dict = mk<double>(256), *v;
  cudaMalloc(&v, n * 8);
  cudaMemset(v, 0, n * 8);
  dict_decode<<<2048, 256>>>(codes, dict, v, nu);
  cudaDeviceSynchronize();
  sig("count", c, (size_t)nb * RADIX);
  sig("sorted", k, n);
  sig("agg", ap, 1056);
  sig("decode", v, n);
}
