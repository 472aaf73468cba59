// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with elements at multiples of the thread's number: scans after Blelloch and
// Brent, trees from neighbours up, butterflies and sorts with two keys a thread.
// Prints, for each, milliseconds, GB/s of what has to move, and a checksum of the
// results. Build it and what `rcache-rewrite strided.cu -o strided_rc.cu --force` makes
// of it with nvcc, run both on one device and compare the lines.
#include <cstdio>
#include <cstdlib>
#include <vector>

template <int N>
__global__ void blelloch(const float *in, float *out, float *sums) {
  __shared__ float temp[N];
  int thid = threadIdx.x, base = blockIdx.x * N;
  int offset = 1;
  temp[2 * thid] = in[base + 2 * thid];
  temp[2 * thid + 1] = in[base + 2 * thid + 1];
  for (int d = N >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0) {
    sums[blockIdx.x] = temp[N - 1];
    temp[N - 1] = 0;
  }
  for (int d = 1; d < N; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      float t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  out[base + 2 * thid] = temp[2 * thid];
  out[base + 2 * thid + 1] = temp[2 * thid + 1];
}

template <int N> __global__ void brentKung(const float *X, float *Y, int n) {
  __shared__ float XY[N];
  int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  XY[threadIdx.x] = i < n ? X[i] : 0.0f;
  XY[threadIdx.x + blockDim.x] = i + N / 2 < n ? X[i + N / 2] : 0.0f;
  for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
    if (index < N)
      XY[index] += XY[index - stride];
  }
  for (int stride = N / 4; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
    if (index + stride < N)
      XY[index + stride] += XY[index];
  }
  __syncthreads();
  if (i < n)
    Y[i] = XY[threadIdx.x];
  if (i + blockDim.x < n)
    Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

template <int N> __global__ void neighbours(const int *in, int *out) {
  __shared__ int sdata[N];
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = in[i];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    int index = 2 * s * tid;
    if (index < blockDim.x)
      sdata[index] += sdata[index + s];
    __syncthreads();
  }
  if (tid == 0)
    out[blockIdx.x] = sdata[0];
}

template <int N> __global__ void twice(const float *in, float *out) {
  __shared__ float p[N];
  unsigned int t = threadIdx.x, start = 2 * blockIdx.x * blockDim.x;
  p[t] = in[start + t];
  p[blockDim.x + t] = in[start + blockDim.x + t];
  for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    if (t % stride == 0)
      p[2 * t] += p[2 * t + stride];
  }
  if (t == 0)
    out[blockIdx.x] = p[0];
}

__device__ inline void Comparator(unsigned &keyA, unsigned &valA, unsigned &keyB,
                                  unsigned &valB, unsigned dir) {
  unsigned t;
  if ((keyA > keyB) == dir) {
    t = keyA;
    keyA = keyB;
    keyB = t;
    t = valA;
    valA = valB;
    valB = t;
  }
}
template <int N>
__global__ void sortPairs(const unsigned *srcKey, const unsigned *srcVal,
                          unsigned *dstKey, unsigned *dstVal, unsigned dir) {
  __shared__ unsigned s_key[N];
  __shared__ unsigned s_val[N];
  const unsigned base = blockIdx.x * N + threadIdx.x;
  s_key[threadIdx.x + 0] = srcKey[base];
  s_val[threadIdx.x + 0] = srcVal[base];
  s_key[threadIdx.x + N / 2] = srcKey[base + N / 2];
  s_val[threadIdx.x + N / 2] = srcVal[base + N / 2];
  for (unsigned size = 2; size < N; size <<= 1) {
    unsigned ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride],
                 s_val[pos + stride], ddd);
    }
  }
  for (unsigned stride = N / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride],
               s_val[pos + stride], dir);
  }
  __syncthreads();
  dstKey[base] = s_key[threadIdx.x + 0];
  dstVal[base] = s_val[threadIdx.x + 0];
  dstKey[base + N / 2] = s_key[threadIdx.x + N / 2];
  dstVal[base + N / 2] = s_val[threadIdx.x + N / 2];
}

template <int N> __global__ void walsh(const float *in, float *out) {
  __shared__ float s[N];
  const int t = threadIdx.x, base = blockIdx.x * N;
  s[t] = in[base + t];
  s[t + N / 2] = in[base + t + N / 2];
  for (int stride = 1; stride < N; stride *= 2) {
    __syncthreads();
    int lo = t & (stride - 1);
    int i0 = 2 * t - lo, i1 = i0 + stride;
    float a = s[i0], b = s[i1];
    s[i0] = a + b;
    s[i1] = a - b;
  }
  __syncthreads();
  out[base + t] = s[t];
  out[base + t + N / 2] = s[t + N / 2];
}

static unsigned long long checksum(const void *P, size_t Bytes) {
  std::vector<unsigned> H(Bytes / 4);
  cudaMemcpy(H.data(), P, Bytes, cudaMemcpyDeviceToHost);
  unsigned long long S = 1469598103934665603ull;
  for (unsigned X : H)
    S = (S ^ X) * 1099511628211ull;
  return S;
}

template <typename F>
void timed(const char *Name, int Block, double Bytes, F Run) {
  cudaEvent_t A, B;
  cudaEventCreate(&A);
  cudaEventCreate(&B);
  float Best = 1e30f;
  for (int R = 0; R < 8; ++R) {
    cudaEventRecord(A);
    Run();
    cudaEventRecord(B);
    cudaEventSynchronize(B);
    float Ms;
    cudaEventElapsedTime(&Ms, A, B);
    if (Ms < Best)
      Best = Ms;
  }
  if (cudaGetLastError() != cudaSuccess)
    std::printf("FAILED ");
  std::printf("%s %d %.4f ms %.0f GB/s", Name, Block, Best, Bytes / Best / 1e6);
}

int main(int argc, char **argv) {
  const size_t n = argc > 1 ? size_t(atoll(argv[1])) : size_t(1) << 26;
  const int N = int(n);
  std::vector<unsigned> H(n);
  unsigned X = 12345;
  for (unsigned &V : H)
    V = (X = X * 1664525u + 1013904223u) >> 8;
  std::vector<float> HF(n);
  for (size_t I = 0; I < n; ++I)
    HF[I] = float(int(H[I] % 512) - 200) / 4.0f;
  unsigned *u, *v, *ou, *ov;
  float *f, *of, *os;
  for (void **P : {(void **)&u, (void **)&v, (void **)&ou, (void **)&ov,
                   (void **)&f, (void **)&of, (void **)&os})
    cudaMalloc(P, n * 4);
  cudaMemcpy(u, H.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(v, H.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(f, HF.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemset(os, 0, n * 4);
  const double One = 4.0 * double(n);
#define SHOW(P) std::printf(" %016llx\n", checksum(P, n * 4));
  timed("blelloch", 128 / 2, 2 * One,
        [&] { blelloch<128><<<N / 128, 128 / 2>>>(f, of, os); });
  SHOW(of)
  timed("brentKung", 128 / 2, 2 * One,
        [&] { brentKung<128><<<N / 128, 128 / 2>>>(f, of, N); });
  SHOW(of)
  timed("neighbours", 128, One,
        [&] { neighbours<128><<<N / 128, 128>>>((int *)u, (int *)ou); });
  SHOW(ou)
  timed("twice", 128 / 2, One, [&] { twice<128><<<N / 128, 128 / 2>>>(f, of); });
  SHOW(of)
  timed("walsh", 128 / 2, 2 * One,
        [&] { walsh<128><<<N / 128, 128 / 2>>>(f, of); });
  SHOW(of)
  timed("sortPairs", 128 / 2, 4 * One,
        [&] { sortPairs<128><<<N / 128, 128 / 2>>>(u, v, ou, ov, 1); });
  SHOW(ou)
  timed("blelloch", 256 / 2, 2 * One,
        [&] { blelloch<256><<<N / 256, 256 / 2>>>(f, of, os); });
  SHOW(of)
  timed("brentKung", 256 / 2, 2 * One,
        [&] { brentKung<256><<<N / 256, 256 / 2>>>(f, of, N); });
  SHOW(of)
  timed("neighbours", 256, One,
        [&] { neighbours<256><<<N / 256, 256>>>((int *)u, (int *)ou); });
  SHOW(ou)
  timed("twice", 256 / 2, One, [&] { twice<256><<<N / 256, 256 / 2>>>(f, of); });
  SHOW(of)
  timed("walsh", 256 / 2, 2 * One,
        [&] { walsh<256><<<N / 256, 256 / 2>>>(f, of); });
  SHOW(of)
  timed("sortPairs", 256 / 2, 4 * One,
        [&] { sortPairs<256><<<N / 256, 256 / 2>>>(u, v, ou, ov, 1); });
  SHOW(ou)
  timed("blelloch", 512 / 2, 2 * One,
        [&] { blelloch<512><<<N / 512, 512 / 2>>>(f, of, os); });
  SHOW(of)
  timed("brentKung", 512 / 2, 2 * One,
        [&] { brentKung<512><<<N / 512, 512 / 2>>>(f, of, N); });
  SHOW(of)
  timed("neighbours", 512, One,
        [&] { neighbours<512><<<N / 512, 512>>>((int *)u, (int *)ou); });
  SHOW(ou)
  timed("twice", 512 / 2, One, [&] { twice<512><<<N / 512, 512 / 2>>>(f, of); });
  SHOW(of)
  timed("walsh", 512 / 2, 2 * One,
        [&] { walsh<512><<<N / 512, 512 / 2>>>(f, of); });
  SHOW(of)
  timed("sortPairs", 512 / 2, 4 * One,
        [&] { sortPairs<512><<<N / 512, 512 / 2>>>(u, v, ou, ov, 1); });
  SHOW(ou)
  timed("blelloch", 1024 / 2, 2 * One,
        [&] { blelloch<1024><<<N / 1024, 1024 / 2>>>(f, of, os); });
  SHOW(of)
  timed("brentKung", 1024 / 2, 2 * One,
        [&] { brentKung<1024><<<N / 1024, 1024 / 2>>>(f, of, N); });
  SHOW(of)
  timed("neighbours", 1024, One,
        [&] { neighbours<1024><<<N / 1024, 1024>>>((int *)u, (int *)ou); });
  SHOW(ou)
  timed("twice", 1024 / 2, One, [&] { twice<1024><<<N / 1024, 1024 / 2>>>(f, of); });
  SHOW(of)
  timed("walsh", 1024 / 2, 2 * One,
        [&] { walsh<1024><<<N / 1024, 1024 / 2>>>(f, of); });
  SHOW(of)
  timed("sortPairs", 1024 / 2, 4 * One,
        [&] { sortPairs<1024><<<N / 1024, 1024 / 2>>>(u, v, ou, ov, 1); });
  SHOW(ou)
}
