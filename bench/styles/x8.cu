// prefix sums and friends
#include <assert.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#define CUDA_SAFE_CALL(call) { cudaError err = call; if (cudaSuccess != err) { fprintf(stderr, "Cuda error in file '%s' in line %i : %s.\n", __FILE__, __LINE__, cudaGetErrorString(err)); exit(EXIT_FAILURE); } }

#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
#define ELEMS 512
// add the scanned block sum, broadcast through shared
__global__ void uniformAdd(int *g_data, const int *uniforms, int n) {
  __shared__ int uni;
  if (threadIdx.x == 0) uni = uniforms[blockIdx.x];
  __syncthreads();
  unsigned int address = blockIdx.x * (blockDim.x << 1) + threadIdx.x;
  if (address < n) g_data[address] += uni;
  if (address + blockDim.x < n) g_data[address + blockDim.x] += uni;
}

// segmented inclusive scan within a block, head flags
__global__ void seg_scan(const int *val, const unsigned char *head, int *out, int n) {
  __shared__ int v[256];
  __shared__ unsigned char f[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  v[t] = g < n ? val[g] : 0;
  f[t] = g < n ? (head[g] == 0) : 0;
  __syncthreads();
  for (int d = 1; d < 256; d <<= 1) {
    int nv = v[t];
    unsigned char nf = f[t];
    if (t >= d) {
      if (!nf) nv += v[t - d];
      nf |= f[t - d];
    }
    __syncthreads();
    v[t] = nv;
    f[t] = nf;
    __syncthreads();
  }
  if (g < n) out[g] = v[t];
}

// summed area table, row pass: each block scans one row chunk by chunk carrying the total
__global__ void sat_rows(const unsigned char *img, unsigned *sat, int w, int h) {
  __shared__ unsigned buf[256];
  unsigned carry = 0;
  for (int x0 = 0; x0 < w; x0 += 256) {
    int x = x0 + threadIdx.x;
    buf[threadIdx.x] = x < w ? img[blockIdx.x * w + x] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
      unsigned a = 0;
      if (threadIdx.x >= d) a = buf[threadIdx.x - d];
      __syncthreads();
      buf[threadIdx.x] += a;
      __syncthreads();
    }
    if (x < w) sat[blockIdx.x * w + x] = carry + buf[threadIdx.x];
    carry += buf[255];
    __syncthreads();
  }
}

template <class T> T *to_dev(size_t n, unsigned mod) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; i++) h[i] = (T)(((unsigned)i * 2246822519u >> 11) % mod);
  CUDA_SAFE_CALL(cudaMalloc((void **)&d, n * sizeof(T)));
  CUDA_SAFE_CALL(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  const int n = 1 << 23;
  float *a = to_dev<float>(n, 10), *b = to_dev<float>(n, 10);
  int *x = to_dev<int>(n, 10), *y = to_dev<int>(n, 10), *s = to_dev<int>(n / 128, 1);
  unsigned char *fl = to_dev<unsigned char>(n, 23);
  uniformAdd<<<n / ELEMS, ELEMS / 2>>>(y, s, n - 3);
  seg_scan<<<(5000000 + 255) / 256, 256>>>(x, fl, y, 5000000);
  sat_rows<<<1080, 256>>>(fl, (unsigned *)x, 1920, 1080);
  CUDA_SAFE_CALL(cudaGetLastError());
  CUDA_SAFE_CALL(cudaDeviceSynchronize());
  return 0;
}
