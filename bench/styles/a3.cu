// sorts, recurrences, segmented operations; several authors
#include <stdio.h>
#include <stdlib.h>
#include <limits.h>
#include <cuda_runtime.h>
static void HandleError(cudaError_t err, const char *file, int line) {
  if (err != cudaSuccess) { printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line); exit(EXIT_FAILURE); }
}
#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))
typedef unsigned int uint;

// 1. NVIDIA sample bitonic sort shared, key+value, 2 elements per thread
#define SHARED_SIZE_LIMIT 512U
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
  {
    for (uint stride = arrayLength / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], dir);
    }
  }
  __syncthreads();
  d_DstKey[0] = s_key[threadIdx.x + 0];
  d_DstVal[0] = s_val[threadIdx.x + 0];
  d_DstKey[(SHARED_SIZE_LIMIT / 2)] = s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
  d_DstVal[(SHARED_SIZE_LIMIT / 2)] = s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
}

// 2. blog style xor bitonic of 256 ints per block, k/j loops
__global__ void bitonicBlock(int *values) {
  __shared__ int sh[256];
  const int tid = threadIdx.x;
  sh[tid] = values[blockIdx.x * 256 + tid];
  __syncthreads();
  for (int k = 2; k <= 256; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      int ixj = tid ^ j;
      if (ixj > tid) {
        if ((tid & k) == 0) {
          if (sh[tid] > sh[ixj]) { int tmp = sh[tid]; sh[tid] = sh[ixj]; sh[ixj] = tmp; }
        } else {
          if (sh[tid] < sh[ixj]) { int tmp = sh[tid]; sh[tid] = sh[ixj]; sh[ixj] = tmp; }
        }
      }
      __syncthreads();
    }
  }
  values[blockIdx.x * 256 + tid] = sh[tid];
}

// 3. odd-even transposition
#define OE 128
__global__ void oddEven(float *d, int n) {
  __shared__ float a[OE];
  int t = threadIdx.x, g = blockIdx.x * OE + t;
  a[t] = (g < n) ? d[g] : 1e30f;
  __syncthreads();
  for (int i = 0; i < OE; i++) {
    if ((i & 1) == (t & 1) && t < OE - 1) {
      if (a[t] > a[t + 1]) { float x = a[t]; a[t] = a[t + 1]; a[t + 1] = x; }
    }
    __syncthreads();
  }
  if (g < n) d[g] = a[t];
}

// 4. rank sort in a block (count smaller)
__global__ void rankSort(const int *in, int *out) {
  __shared__ int keys[256];
  int t = threadIdx.x;
  int b = blockIdx.x * 256;
  int mine = in[b + t];
  keys[t] = mine;
  __syncthreads();
  int rank = 0;
  for (int i = 0; i < 256; i++)
    if (keys[i] < mine || (keys[i] == mine && i < t)) rank++;
  out[b + rank] = mine;
}

// 5. parallel cyclic reduction for tridiagonal systems (PCR)
__global__ void pcr_small_systems(const float *a_d, const float *b_d, const float *c_d, const float *d_d, float *x_d) {
  __shared__ float a[128], b[128], c[128], d[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  a[t] = a_d[g]; b[t] = b_d[g]; c[t] = c_d[g]; d[t] = d_d[g];
  __syncthreads();
  int delta = 1;
  for (int j = 0; j < 7; j++) {
    int r = t + delta; if (r > 127) r = 127;
    int l = t - delta; if (l < 0) l = 0;
    float k1 = (t - delta < 0) ? 0.f : a[t] / b[l];
    float k2 = (t + delta > 127) ? 0.f : c[t] / b[r];
    float bn = b[t] - c[l] * k1 - a[r] * k2;
    float dn = d[t] - d[l] * k1 - d[r] * k2;
    float an = -a[l] * k1;
    float cn = -c[r] * k2;
    __syncthreads();
    a[t] = an; b[t] = bn; c[t] = cn; d[t] = dn;
    __syncthreads();
    delta *= 2;
  }
  x_d[g] = d[t] / b[t];
}

// 6. segmented scan with head flags in shared
__global__ void segScan(const int *val, const int *flag, int *out) {
  __shared__ int v[256];
  __shared__ int f[256];
  int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  v[t] = val[g];
  f[t] = flag[g] & 1;
  __syncthreads();
  for (int o = 1; o < 256; o <<= 1) {
    int nv = v[t], nf = f[t];
    if (t >= o) {
      if (!nf) nv += v[t - o];
      nf |= f[t - o];
    }
    __syncthreads();
    v[t] = nv;
    f[t] = nf;
    __syncthreads();
  }
  out[g] = v[t];
}

// 7. fast Walsh transform, sample style, one block per 1024 with 256 threads radix 2
__global__ void fwtBlock(float *d_Output, const float *d_Input) {
  __shared__ float s_data[512];
  int base = blockIdx.x * 512;
  for (int pos = threadIdx.x; pos < 512; pos += blockDim.x) s_data[pos] = d_Input[base + pos];
  for (int stride = 1; stride < 512; stride <<= 1) {
    __syncthreads();
    int lo = threadIdx.x & (stride - 1);
    int i0 = ((threadIdx.x - lo) << 1) + lo;
    int i1 = i0 + stride;
    float t0 = s_data[i0], t1 = s_data[i1];
    s_data[i0] = t0 + t1;
    s_data[i1] = t0 - t1;
  }
  __syncthreads();
  for (int pos = threadIdx.x; pos < 512; pos += blockDim.x) d_Output[base + pos] = s_data[pos];
}

// 8. stream compaction positions: scan of predicate with total, in place scan with two barriers
__global__ void compactBlock(const int *in, int *out, int *counts, int n) {
  __shared__ int pos[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  int x = g < n ? in[g] : 0;
  int p = x > 50;
  pos[t] = p;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    int y = 0;
    if (t >= d) y = pos[t - d];
    __syncthreads();
    pos[t] += y;
    __syncthreads();
  }
  if (p) out[blockIdx.x * 256 + pos[t] - 1] = x;
  if (t == 255) counts[blockIdx.x] = pos[255];
}

template <class T> T *mk(size_t n) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  unsigned s = 12345;
  for (size_t i = 0; i < n; ++i) { s = s * 1664525u + 1013904223u; h[i] = (T)((s >> 16) % 1000 + 1); }
  HANDLE_ERROR(cudaMalloc((void **)&d, n * sizeof(T)));
  HANDLE_ERROR(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 22;
  uint *k = mk<uint>(n), *v = mk<uint>(n), *k2 = mk<uint>(n), *v2 = mk<uint>(n);
  int *ia = mk<int>(n), *ib = mk<int>(n), *ic = mk<int>(n);
  float *fa = mk<float>(n), *fb = mk<float>(n), *fc = mk<float>(n), *fd = mk<float>(n), *fx = mk<float>(n);
  bitonicSortShared<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(k2, v2, k, v, SHARED_SIZE_LIMIT, 1);
  bitonicBlock<<<n / 256, 256>>>(ia);
  oddEven<<<(n + OE - 1) / OE, OE>>>(fa, n);
  rankSort<<<n / 256, 256>>>(ia, ib);
  pcr_small_systems<<<n / 128, 128>>>(fa, fb, fc, fd, fx);
  segScan<<<n / 256, 256>>>(ia, ib, ic);
  fwtBlock<<<n / 512, 256>>>(fb, fa);
  compactBlock<<<(n + 255) / 256, 256>>>(ia, ib, ic, n);
  HANDLE_ERROR(cudaGetLastError());
  HANDLE_ERROR(cudaDeviceSynchronize());
  return 0;
}
