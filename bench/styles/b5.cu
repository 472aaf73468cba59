#include "shown.h"
typedef unsigned int uint;

#define SHARED_SIZE_LIMIT 1024u
__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir) {
  uint t;
  if ((keyA > keyB) == dir) {
    t = keyA; keyA = keyB; keyB = t;
    t = valA; valA = valB; valB = t;
  }
}
__global__ void bitonicSortShared(uint *d_DstKey, uint *d_DstVal, uint *d_SrcKey, uint *d_SrcVal, uint arrayLength, uint dir) {
  __shared__ uint s_key[SHARED_SIZE_LIMIT];
  __shared__ uint s_val[SHARED_SIZE_LIMIT];
  d_SrcKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_SrcVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_DstKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_DstVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  s_key[threadIdx.x + 0] = d_SrcKey[0];
  s_val[threadIdx.x + 0] = d_SrcVal[0];
  s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcKey[(SHARED_SIZE_LIMIT / 2)];
  s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcVal[(SHARED_SIZE_LIMIT / 2)];
  for (uint size = 2; size < arrayLength; size <<= 1) {
    uint ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
    for (uint stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], ddd);
    }
  }
  for (uint stride = arrayLength / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], dir);
  }
  __syncthreads();
  d_DstKey[0] = s_key[threadIdx.x + 0];
  d_DstVal[0] = s_val[threadIdx.x + 0];
  d_DstKey[(SHARED_SIZE_LIMIT / 2)] = s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
  d_DstVal[(SHARED_SIZE_LIMIT / 2)] = s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
}

// XOR-partner bitonic, float, one element per thread
__global__ void bitonic_xor(float *values) {
  extern __shared__ float sh[];
  const unsigned int tid = threadIdx.x;
  float *v = values + (size_t)blockIdx.x * blockDim.x;
  sh[tid] = v[tid];
  __syncthreads();
  for (unsigned int k = 2; k <= blockDim.x; k *= 2) {
    for (unsigned int j = k / 2; j > 0; j /= 2) {
      unsigned int ixj = tid ^ j;
      if (ixj > tid) {
        if ((tid & k) == 0) {
          if (sh[tid] > sh[ixj]) { float t = sh[tid]; sh[tid] = sh[ixj]; sh[ixj] = t; }
        } else {
          if (sh[tid] < sh[ixj]) { float t = sh[tid]; sh[tid] = sh[ixj]; sh[ixj] = t; }
        }
      }
      __syncthreads();
    }
  }
  v[tid] = sh[tid];
}

// odd-even transposition
#define OE_N 200
__global__ void oddEvenSort(const short *src, short *dst, int rows) {
  __shared__ short a[OE_N];
  int r = blockIdx.x;
  int i = threadIdx.x;
  for (int k = i; k < OE_N; k += blockDim.x) a[k] = src[r * OE_N + k];
  __syncthreads();
  for (int step = 0; step < OE_N; ++step) {
    int p = 2 * i + (step & 1);
    if (p + 1 < OE_N) {
      short x = a[p], y = a[p + 1];
      if (x > y) { a[p] = y; a[p + 1] = x; }
    }
    __syncthreads();
  }
  for (int k = i; k < OE_N; k += blockDim.x) dst[r * OE_N + k] = a[k];
}

// radix-2 FFT in shared, 512 points
__global__ void fft_radix2_512(const float2 *in, float2 *out, int batch) {
  __shared__ float re[512];
  __shared__ float im[512];
  const int N = 512, LOGN = 9;
  const float2 *src = in + blockIdx.x * N;
  float2 *dst = out + blockIdx.x * N;
  int t = threadIdx.x;
  for (int i = t; i < N; i += blockDim.x) {
    int r = __brev((unsigned)i) >> (32 - LOGN);
    float2 c = src[i];
    re[r] = c.x;
    im[r] = c.y;
  }
  __syncthreads();
  for (int s = 1; s <= LOGN; ++s) {
    int m = 1 << s, mh = m >> 1;
    int grp = t / mh, pos = t % mh;
    int i0 = grp * m + pos, i1 = i0 + mh;
    float sn, cs;
    sincosf(-6.283185307f * pos / m, &sn, &cs);
    float tr = cs * re[i1] - sn * im[i1];
    float ti = cs * im[i1] + sn * re[i1];
    float ur = re[i0], ui = im[i0];
    re[i0] = ur + tr; im[i0] = ui + ti;
    re[i1] = ur - tr; im[i1] = ui - ti;
    __syncthreads();
  }
  for (int i = t; i < N; i += blockDim.x) dst[i] = make_float2(re[i], im[i]);
}

// fast Walsh transform, radix 4 as SDK
__global__ void fwtBatch1Kernel(float *d_Output, float *d_Input, int log2N) {
  const int N = 1 << log2N;
  const int base = blockIdx.x << log2N;
  extern __shared__ float s_data[];
  float *d_Src = d_Input + base;
  float *d_Dst = d_Output + base;
  for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = d_Src[pos];
  const int pos = threadIdx.x;
  for (int stride = N >> 2; stride > 0; stride >>= 2) {
    int lo = pos & (stride - 1);
    int i0 = ((pos - lo) << 2) + lo;
    int i1 = i0 + stride;
    int i2 = i1 + stride;
    int i3 = i2 + stride;
    __syncthreads();
    float D0 = s_data[i0];
    float D1 = s_data[i1];
    float D2 = s_data[i2];
    float D3 = s_data[i3];
    float T;
    T = D0; D0 = D0 + D2; D2 = T - D2;
    T = D1; D1 = D1 + D3; D3 = T - D3;
    T = D0; s_data[i0] = D0 + D1; s_data[i1] = T - D1;
    T = D2; s_data[i2] = D2 + D3; s_data[i3] = T - D3;
  }
  if (log2N & 1) {
    __syncthreads();
    for (int pos = threadIdx.x; pos < N / 2; pos += blockDim.x) {
      int i0 = pos << 1;
      int i1 = i0 + 1;
      float D0 = s_data[i0];
      float D1 = s_data[i1];
      s_data[i0] = D0 + D1;
      s_data[i1] = D0 - D1;
    }
  }
  __syncthreads();
  for (int pos = threadIdx.x; pos < N; pos += blockDim.x) d_Dst[pos] = s_data[pos];
}

int main() {
  {
    uint nb = 2048, n = nb * SHARED_SIZE_LIMIT;
    uint *k = mk<uint>(n), *v = mk<uint>(n), *dk = mk<uint>(n), *dv = mk<uint>(n);
    bitonicSortShared<<<nb, SHARED_SIZE_LIMIT / 2>>>(dk, dv, k, v, SHARED_SIZE_LIMIT, 1);
    show("bitonicSortShared", dv, n * 4);
  }
  {
    int nb = 1000, bs = 256;
    float *v = mk<float>(nb * bs);
    bitonic_xor<<<nb, bs, bs * sizeof(float)>>>(v);
    show("bitonic_xor", v, nb * bs * 4);
  }
  {
    int rows = 5000;
    short *s = mk<short>(rows * OE_N), *d = mk<short>(rows * OE_N);
    oddEvenSort<<<rows, 100>>>(s, d, rows);
    show("oddEvenSort", d, rows * OE_N * 2);
  }
  {
    int batch = 4096;
    float2 *in = (float2 *)mk<float>(batch * 1024), *out = (float2 *)mk<float>(batch * 1024);
    fft_radix2_512<<<batch, 256>>>(in, out, batch);
    show("fft_radix2_512", out, batch * 4096);
  }
  {
    int log2N = 11, b = 1500;
    size_t n = (size_t)b << log2N;
    float *a = mk<float>(n), *o = mk<float>(n);
    fwtBatch1Kernel<<<b, (1 << log2N) / 4, (1 << log2N) * sizeof(float)>>>(o, a, log2N);
    show("fwtBatch1Kernel", o, n * 4);
  }
}
