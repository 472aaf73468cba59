// sorts, permutations, butterflies in shared memory
#include "shown.h"

// ---- 1 bitonic key/value, SDK style
#define SHARED_SIZE_LIMIT 1024U
typedef unsigned int uint;
__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir) {
  if ((keyA > keyB || (keyA == keyB && valA > valB)) == dir) {
    uint t;
    t = keyA; keyA = keyB; keyB = t;
    t = valA; valA = valB; valB = t;
  }
}
__global__ void bitonicSortShared(uint *d_DstKey, uint *d_DstVal, const uint *d_SrcKey, const uint *d_SrcVal, uint dir) {
  __shared__ uint s_key[SHARED_SIZE_LIMIT];
  __shared__ uint s_val[SHARED_SIZE_LIMIT];
  d_SrcKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_SrcVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_DstKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_DstVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  s_key[threadIdx.x + 0] = d_SrcKey[0] * 2654435761u;
  s_val[threadIdx.x + 0] = threadIdx.x + d_SrcVal[0];
  s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcKey[(SHARED_SIZE_LIMIT / 2)] * 2654435761u;
  s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = threadIdx.x + 512 + d_SrcVal[(SHARED_SIZE_LIMIT / 2)];
  for (uint size = 2; size <= SHARED_SIZE_LIMIT; size <<= 1) {
    uint ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
    if (size == SHARED_SIZE_LIMIT) ddd = dir;
    for (uint stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
    }
  }
  __syncthreads();
  d_DstKey[0] = s_key[threadIdx.x];
  d_DstVal[0] = s_val[threadIdx.x];
  d_DstKey[(SHARED_SIZE_LIMIT / 2)] = s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
  d_DstVal[(SHARED_SIZE_LIMIT / 2)] = s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
}

// ---- 2 odd-even transposition of rows of 96 floats
template <int LEN>
__global__ void oddEvenRows(float *data, int rows) {
  __shared__ float line[LEN];
  const int tid = threadIdx.x;
  for (int r = blockIdx.x; r < rows; r += gridDim.x) {
    float *p = data + (size_t)r * LEN;
    line[2 * tid] = p[2 * tid] * ((2 * tid * 13) % 17);
    line[2 * tid + 1] = p[2 * tid + 1] * (((2 * tid + 1) * 13) % 17);
    __syncthreads();
    for (int phase = 0; phase < LEN; ++phase) {
      int i = 2 * tid + (phase & 1);
      if (i + 1 < LEN) {
        float a = line[i], b = line[i + 1];
        line[i] = fminf(a, b);
        line[i + 1] = fmaxf(a, b);
      }
      __syncthreads();
    }
    p[2 * tid] = line[2 * tid];
    p[2 * tid + 1] = line[2 * tid + 1];
    __syncthreads();
  }
}

// ---- 3 fast Walsh transform
__global__ void fwtBatch(float *d_Output, const float *d_Input, int log2N) {
  extern __shared__ float s_data[];
  const int N = 1 << log2N;
  const size_t base = (size_t)blockIdx.x << log2N;
  const float *d_Src = d_Input + base;
  float *d_Dst = d_Output + base;
  for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = d_Src[pos];
  for (int stride = N >> 1; stride > 0; stride >>= 1) {
    __syncthreads();
    for (int pos = threadIdx.x; pos < N / 2; pos += blockDim.x) {
      int lo = pos & (stride - 1);
      int i0 = ((pos - lo) << 1) + lo;
      int i1 = i0 + stride;
      float D0 = s_data[i0], D1 = s_data[i1];
      s_data[i0] = D0 + D1;
      s_data[i1] = D0 - D1;
    }
  }
  __syncthreads();
  for (int pos = threadIdx.x; pos < N; pos += blockDim.x) d_Dst[pos] = s_data[pos];
}

// ---- 4 FFT stages with a twiddle table in global memory
namespace fft {
constexpr int kN = 512;
constexpr int kLog = 9;
__device__ __forceinline__ float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__global__ void radix2Block(const float2 *__restrict__ in, float2 *__restrict__ out, const float2 *__restrict__ table, int nbatch) {
  __shared__ float2 z[kN];
  __shared__ float2 tw[kN / 2];
  int b = blockIdx.x;
  if (b >= nbatch) return;
  int t = threadIdx.x;
  tw[t] = table[t];
  unsigned r0 = __brev((unsigned)t) >> (32 - kLog), r1 = __brev((unsigned)(t + kN / 2)) >> (32 - kLog);
  z[r0] = in[(size_t)b * kN + t];
  z[r1] = in[(size_t)b * kN + t + kN / 2];
  __syncthreads();
  for (int s = 0; s < kLog; ++s) {
    int m = 1 << s;
    int j = t & (m - 1);
    int k = ((t >> s) << (s + 1)) + j;
    float2 w = tw[j << (kLog - 1 - s)];
    float2 u = z[k], v = cmul(w, z[k + m]);
    z[k] = make_float2(u.x + v.x, u.y + v.y);
    z[k + m] = make_float2(u.x - v.x, u.y - v.y);
    __syncthreads();
  }
  out[(size_t)b * kN + t] = z[t];
  out[(size_t)b * kN + t + kN / 2] = z[t + kN / 2];
}
}  // namespace fft

// ---- 5 reverse, then rotate each chunk by an amount read from memory
__global__ void ReverseRotate(const unsigned char *in, unsigned char *out, const int *amount, size_t n) {
  __shared__ unsigned char buf[1024];
  size_t chunk = (size_t)blockIdx.x * 1024;
  int len = n - chunk < 1024 ? (int)(n - chunk) : 1024;
  for (int i = threadIdx.x; i < len; i += blockDim.x) buf[len - 1 - i] = in[chunk + i];
  __syncthreads();
  int rot = amount[blockIdx.x] * 37 % len;
  for (int i = threadIdx.x; i < len; i += blockDim.x) {
    int j = i + rot;
    if (j >= len) j -= len;
    out[chunk + i] = buf[j];
  }
}

// ---- 6 AoS -> SoA through shared (particle records of 7 words)
#define NFIELD 7
#define AOS_BLOCK 128
__global__ void aos2soa(const float *__restrict__ aos, float *__restrict__ soa, int count) {
  __shared__ float rec[AOS_BLOCK * NFIELD];
  int first = blockIdx.x * AOS_BLOCK;
  int here = min(AOS_BLOCK, count - first);
  for (int k = threadIdx.x; k < here * NFIELD; k += AOS_BLOCK) rec[k] = aos[(size_t)first * NFIELD + k];
  __syncthreads();
  if (threadIdx.x < here) {
#pragma unroll
    for (int f = 0; f < NFIELD; ++f) soa[(size_t)f * count + first + threadIdx.x] = rec[threadIdx.x * NFIELD + f];
  }
}

// ---- 7 Batcher odd-even merge sort with comparator, doubles, guard by padding
struct DescAbs {
  __device__ bool operator()(double a, double b) const { return fabs(a) < fabs(b); }
};
template <class Key, unsigned N, class Less>
__global__ void batcherSort(const Key *src, Key *dst, unsigned total, Key pad, Less swapIf) {
  __shared__ Key k[N];
  unsigned o = blockIdx.x * N, t = threadIdx.x;
  for (unsigned i = t; i < N; i += N / 2) k[i] = o + i < total ? src[o + i] - (Key)((o + i) * 29u % 23u) : pad;
  __syncthreads();
  for (unsigned size = 2; size <= N; size <<= 1) {
    unsigned stride = size / 2, offset = t & (stride - 1);
    {
      unsigned pos = 2 * t - (t & (stride - 1));
      Key a = k[pos], b = k[pos + stride];
      if (swapIf(a, b)) { k[pos] = b; k[pos + stride] = a; }
      stride >>= 1;
    }
    for (; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * t - (t & (stride - 1));
      if (offset >= stride) {
        Key a = k[pos - stride], b = k[pos];
        if (swapIf(a, b)) { k[pos - stride] = b; k[pos] = a; }
      }
    }
    __syncthreads();
  }
  for (unsigned i = t; i < N; i += N / 2)
    if (o + i < total) dst[o + i] = k[i];
}

// ---- 8 5/3 integer lifting wavelet + de-interleave, 2-D block (one row of block per line)
__global__ void dwt53_rows(const short *in, short *out, int width, int height) {
  __shared__ short s[4][256];
  int y = blockIdx.y * 4 + threadIdx.y;
  int x0 = blockIdx.x * 256;
  int t = threadIdx.x;  // 0..127
  short *row = s[threadIdx.y];
  bool live = y < height;
  int len = min(256, width - x0);
  for (int i = t; i < 256; i += 128) row[i] = (live && i < len) ? in[(size_t)y * width + x0 + i] : (short)0;
  __syncthreads();
  // predict
  {
    int r = 2 * t + 2 < 256 ? 2 * t + 2 : 254;
    short d = row[2 * t + 1] - ((row[2 * t] + row[r]) >> 1);
    row[2 * t + 1] = d;
  }
  __syncthreads();
  {
    int l = t ? 2 * t - 1 : 1;
    row[2 * t] += (short)((row[l] + row[2 * t + 1] + 2) >> 2);
  }
  __syncthreads();
  short lo = row[2 * t], hi = row[2 * t + 1];
  __syncthreads();
  row[t] = lo;
  row[128 + t] = hi;
  __syncthreads();
  if (!live) return;
  for (int i = t; i < len; i += 128) out[(size_t)y * width + x0 + i] = row[i];
}

#include <cmath>
int main() {
  {
    size_t n = 1 << 24;
    uint *k = mk<uint>(n), *v = mk<uint>(n), *ok = mk<uint>(n), *ov = mk<uint>(n);
    bitonicSortShared<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(ok, ov, k, v, 1);
    show("bitonicSortShared", ov, n * 4);
    cudaFree(k); cudaFree(v); cudaFree(ok); cudaFree(ov);
  }
  {
    int rows = 100003;
    float *d = mk<float>((size_t)rows * 96);
    oddEvenRows<96><<<132 * 24, 48>>>(d, rows);
    show("oddEvenRows", d, (size_t)rows * 96 * 4);
    cudaFree(d);
  }
  {
    int L = 11, batch = 16385;
    float *a = mk<float>((size_t)batch << L), *o = mk<float>((size_t)batch << L);
    fwtBatch<<<batch, 256, sizeof(float) << L>>>(o, a, L);
    show("fwtBatch", o, ((size_t)batch << L) * 4);
    cudaFree(a); cudaFree(o);
  }
  {
    int nb = 40001;
    float2 ht[fft::kN / 2], *tab;
    for (int i = 0; i < fft::kN / 2; i++) {
      ht[i].x = (float)cos(-2 * M_PI * i / fft::kN);
      ht[i].y = (float)sin(-2 * M_PI * i / fft::kN);
    }
    cudaMalloc(&tab, sizeof ht);
    cudaMemcpy(tab, ht, sizeof ht, cudaMemcpyHostToDevice);
    float2 *a = (float2 *)mk<float>((size_t)nb * fft::kN * 2), *o = (float2 *)mk<float>((size_t)nb * fft::kN * 2);
    fft::radix2Block<<<nb, fft::kN / 2>>>(a, o, tab, nb);
    show("radix2Block", o, (size_t)nb * fft::kN * 8);
    cudaFree(a); cudaFree(o);
  }
  {
    size_t n = 130000007;
    unsigned nb = (n + 1023) / 1024;
    unsigned char *a = mk<unsigned char>(n), *o = mk<unsigned char>(n);
    int *am = mk<int>(nb);
    ReverseRotate<<<nb, 256>>>(a, o, am, n);
    show("ReverseRotate", o, n);
    cudaFree(a); cudaFree(o);
  }
  {
    int cnt = 5000011;
    float *a = mk<float>((size_t)cnt * NFIELD), *o = mk<float>((size_t)cnt * NFIELD);
    aos2soa<<<(cnt + AOS_BLOCK - 1) / AOS_BLOCK, AOS_BLOCK>>>(a, o, cnt);
    show("aos2soa", o, (size_t)cnt * NFIELD * 4);
    cudaFree(a); cudaFree(o);
  }
  {
    unsigned n = 16777333;
    double *a = mk<double>(n), *o = mk<double>(n);
    batcherSort<double, 512><<<(n + 511) / 512, 256>>>(a, o, n, 0.0, DescAbs());
    show("batcherSort", o, (size_t)n * 8);
    cudaFree(a); cudaFree(o);
  }
  {
    int w = 8194, h = 6001;
    short *a = mk<short>((size_t)w * h), *o = mk<short>((size_t)w * h);
    dwt53_rows<<<dim3((w + 255) / 256, (h + 3) / 4), dim3(128, 4)>>>(a, o, w, h);
    show("dwt53_rows", o, (size_t)w * h * 2);
  }
  return 0;
}
