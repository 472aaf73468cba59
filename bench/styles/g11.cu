// sorting and scanning inside a block, compaction
#include "shown.h"

#define SHARED_SIZE 1024
__device__ inline void Comparator(unsigned &a, unsigned &b, unsigned dir) {
  if ((a > b) == dir) {
    unsigned t = a;
    a = b;
    b = t;
  }
}
__global__ void bitonicSortShared(unsigned *dst, const unsigned *src, unsigned dir) {
  __shared__ unsigned s_key[SHARED_SIZE];
  src += blockIdx.x * SHARED_SIZE + threadIdx.x;
  dst += blockIdx.x * SHARED_SIZE + threadIdx.x;
  s_key[threadIdx.x] = src[0] * 2654435761u >> 7;
  s_key[threadIdx.x + SHARED_SIZE / 2] = src[SHARED_SIZE / 2] * 40503u + threadIdx.x * 977u;
  for (unsigned size = 2; size < SHARED_SIZE; size <<= 1) {
    unsigned ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      Comparator(s_key[pos], s_key[pos + stride], ddd);
    }
  }
  for (unsigned stride = SHARED_SIZE / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    Comparator(s_key[pos], s_key[pos + stride], dir);
  }
  __syncthreads();
  dst[0] = s_key[threadIdx.x];
  dst[SHARED_SIZE / 2] = s_key[threadIdx.x + SHARED_SIZE / 2];
}

template <class T, int N>
__global__ void odd_even_sort(T *data) {
  __shared__ T s[2 * N];
  const int t = threadIdx.x;
  T *d = data + (size_t)blockIdx.x * 2 * N;
  s[t] = d[t];
  s[t + N] = d[t + N];
  for (int phase = 0; phase < 2 * N; ++phase) {
    __syncthreads();
    int i = 2 * t + (phase & 1);
    if (i + 1 < 2 * N) {
      T a = s[i], b = s[i + 1];
      if (b < a) {
        s[i] = b;
        s[i + 1] = a;
      }
    }
  }
  __syncthreads();
  d[t] = s[t];
  d[t + N] = s[t + N];
}

// LSD radix sort of 256 keys, one bit per pass with a shared scan
__global__ void radix_split_block(const int *in, int *out, int bits) {
  __shared__ int key[256];
  __shared__ int scan[256];
  const int t = threadIdx.x;
  key[t] = (in[blockIdx.x * 256 + t] * 19 + t * 7) & ((1 << bits) - 1);
  for (int b = 0; b < bits; ++b) {
    __syncthreads();
    int k = key[t];
    int zero = ((k >> b) & 1) ^ 1;
    scan[t] = zero;
    __syncthreads();
    for (int off = 1; off < 256; off <<= 1) {
      int v = t >= off ? scan[t - off] : 0;
      __syncthreads();
      scan[t] += v;
      __syncthreads();
    }
    int total = scan[255];
    int pos = zero ? scan[t] - 1 : total + t - scan[t];
    key[pos] = k;
  }
  __syncthreads();
  out[blockIdx.x * 256 + t] = key[t];
}

// segmented inclusive scan, heads marked by the key's low value
struct SegPair { float v; int f; };
__global__ void segmented_scan(const float *val, const int *flag, float *out, int n) {
  __shared__ SegPair s[512];
  const int t = threadIdx.x;
  const int g = blockIdx.x * blockDim.x + t;
  SegPair me;
  me.v = g < n ? val[g] : 0.f;
  me.f = g < n ? (flag[g] < 2) : 1;
  s[t] = me;
  __syncthreads();
  for (int d = 1; d < 512; d *= 2) {
    SegPair o;
    o.v = 0.f;
    o.f = 0;
    if (t >= d) o = s[t - d];
    __syncthreads();
    if (t >= d) {
      if (!me.f) me.v += o.v;
      me.f |= o.f;
      s[t] = me;
    }
    __syncthreads();
  }
  if (g < n) out[g] = s[t].v;
}

// keep elements above a threshold, packed to the front of each block's segment
__global__ void compact_block(const float *in, float *out, int *cnt, float thr) {
  __shared__ int pos[256];
  __shared__ float packed[256];
  const int t = threadIdx.x;
  float v = in[blockIdx.x * 256 + t];
  int keep = v > thr;
  pos[t] = keep;
  packed[t] = 0.f;
  __syncthreads();
  for (int off = 1; off < 256; off *= 2) {
    int a = 0;
    if (t >= off) a = pos[t - off];
    __syncthreads();
    pos[t] += a;
    __syncthreads();
  }
  if (keep) packed[pos[t] - 1] = v;
  __syncthreads();
  out[blockIdx.x * 256 + t] = packed[t];
  if (t == 255) cnt[blockIdx.x] = pos[255];
}

// sort by counting smaller elements
#define RB 128
__global__ void rank_sort(const float *in, float *out) {
  __shared__ float a[RB];
  __shared__ float b[RB];
  int t = threadIdx.x;
  float v = in[(size_t)blockIdx.x * RB + t];
  a[t] = v;
  __syncthreads();
  int r = 0;
  for (int j = 0; j < RB; ++j) r += (a[j] < v) || (a[j] == v && j < t);
  b[r] = v;
  __syncthreads();
  out[(size_t)blockIdx.x * RB + t] = b[t];
}

// short list per thread, insertion sort in a private array
#define LST 24
__global__ void insertion_sort_lists(const int *in, int *out, int nlist) {
  int l = blockIdx.x * blockDim.x + threadIdx.x;
  if (l >= nlist) return;
  int a[LST];
  for (int i = 0; i < LST; ++i) {
    int v = in[(size_t)i * nlist + l] * 5 + (i * 11 + l) % 13;
    int j = i;
    while (j > 0 && a[j - 1] > v) {
      a[j] = a[j - 1];
      --j;
    }
    a[j] = v;
  }
  for (int i = 0; i < LST; ++i) out[(size_t)i * nlist + l] = a[i];
}

int main() {
  const int n = 1 << 22;
  {
    unsigned *a = mk<unsigned>(n), *b = mk<unsigned>(n);
    bitonicSortShared<<<n / SHARED_SIZE, SHARED_SIZE / 2>>>(b, a, 1);
    show("bitonicSortShared", b, (size_t)n * 4);
    float *f = mk<float>(n);
    odd_even_sort<float, 128><<<n / 256, 128>>>(f);
    show("odd_even_sort", f, (size_t)n * 4);
  }
  {
    int *a = mk<int>(n), *b = mk<int>(n);
    radix_split_block<<<n / 256, 256>>>(a, b, 8);
    show("radix_split_block", b, (size_t)n * 4);
    const int nl = n / LST;
    insertion_sort_lists<<<(nl + 127) / 128, 128>>>(a, b, nl);
    show("insertion_sort_lists", b, (size_t)nl * LST * 4);
  }
  {
    const int m = n - 100;
    float *v = mk<float>(n), *o = mk<float>(n);
    int *f = mk<int>(n), *c = mk<int>(n / 256);
    segmented_scan<<<(m + 511) / 512, 512>>>(v, f, o, m);
    show("segmented_scan", o, (size_t)m * 4);
    compact_block<<<n / 256, 256>>>(v, o, c, 7.5f);
    show("compact_block", o, (size_t)n * 4);
    show("compact_block.cnt", c, n / 64);
    rank_sort<<<n / RB, RB>>>(v, o);
    show("rank_sort", o, (size_t)n * 4);
  }
  return 0;
}
