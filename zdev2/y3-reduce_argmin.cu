// Parallel reductions, several flavours
#include "cuda_runtime.h"
#include "device_launch_parameters.h"
#include <stdio.h>
#include <stdlib.h>
#include <float.h>

#define THREADS 256
#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
template <typename T> void check(T err, const char *const func, const char *const file, const int line) {
  if (err != cudaSuccess) {
    fprintf(stderr, "CUDA error at %s:%d %s %s\n", file, line, cudaGetErrorString(err), func);
    exit(1);
  }
}

// volatile tail on the last warp
__device__ void warpTail(volatile float *sd, int tid) {
  float v = sd[tid];
  v += sd[tid + 32]; __syncwarp(); sd[tid] = v; __syncwarp();
  v += sd[tid + 16]; __syncwarp(); sd[tid] = v; __syncwarp();
  v += sd[tid + 8];  __syncwarp(); sd[tid] = v; __syncwarp();
  v += sd[tid + 4];  __syncwarp(); sd[tid] = v; __syncwarp();
  v += sd[tid + 2];  __syncwarp(); sd[tid] = v; __syncwarp();
  v += sd[tid + 1];  __syncwarp(); sd[tid] = v;
}

__global__ void reduce_sum_tail(const float *g_in, float *g_out, unsigned int n) {
  __shared__ float sd[THREADS];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (THREADS * 2) + tid;
  float acc = i < n ? g_in[i] : 0.0f;
  if (i + THREADS < n) acc += g_in[i + THREADS];
  sd[tid] = acc;
  __syncthreads();
  for (unsigned int s = THREADS / 2; s > 32; s >>= 1) {
    if (tid < s) sd[tid] += sd[tid + s];
    __syncthreads();
  }
  if (tid < 32) warpTail(sd, tid);
  if (tid == 0) g_out[blockIdx.x] = sd[0];
}

// interleaved addressing, grid-stride accumulation
__global__ void reduce_max_int(const int *data, int *blockMax, int n) {
  extern __shared__ int smax[];
  int m = INT_MIN;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) m = max(m, data[i]);
  smax[threadIdx.x] = m;
  __syncthreads();
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    int index = 2 * stride * threadIdx.x;
    if (index + stride < blockDim.x) smax[index] = max(smax[index], smax[index + stride]);
    __syncthreads();
  }
  if (threadIdx.x == 0) blockMax[blockIdx.x] = smax[0];
}

// value and position
__global__ void reduce_argmin(const float *x, float *outv, int *outi, int n) {
  __shared__ float val[THREADS];
  __shared__ int pos[THREADS];
  int tid = threadIdx.x;
  float best = FLT_MAX;
  int at = -1;
  for (int i = blockIdx.x * THREADS + tid; i < n; i += THREADS * gridDim.x)
    if (x[i] < best) { best = x[i]; at = i; }
  val[tid] = best;
  pos[tid] = at;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if (tid < s) {
      if (val[tid + s] < val[tid] || (val[tid + s] == val[tid] && pos[tid + s] < pos[tid])) {
        val[tid] = val[tid + s];
        pos[tid] = pos[tid + s];
      }
    }
    __syncthreads();
  }
  if (tid == 0) { outv[blockIdx.x] = val[0]; outi[blockIdx.x] = pos[0]; }
}

// dot product as in the book
__global__ void dot_by_example(const double *a, const double *b, double *c, int N) {
  __shared__ double cache[THREADS];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  double temp = 0;
  while (tid < N) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0) c[blockIdx.x] = cache[0];
}

// one block per row
template <int BS>
__global__ void row_l2norm(const float *__restrict__ A, float *__restrict__ norms, int cols) {
  __shared__ float s[BS];
  const float *row = A + (size_t)blockIdx.x * cols;
  float sum = 0.f;
  for (int c = threadIdx.x; c < cols; c += BS) sum += row[c] * row[c];
  s[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll
  for (int k = BS >> 1; k >= 1; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (!threadIdx.x) norms[blockIdx.x] = sqrtf(s[0]);
}

struct MinMax { float lo, hi; };
// both extremes at once, struct elements
__global__ void minmax_struct(const float *in, MinMax *out, int n) {
  __shared__ MinMax mm[128];
  MinMax r = {FLT_MAX, -FLT_MAX};
  int base = blockIdx.x * 128 * 8;
  for (int k = 0; k < 8; k++) {
    int i = base + k * 128 + threadIdx.x;
    if (i < n) {
      float v = in[i];
      r.lo = fminf(r.lo, v);
      r.hi = fmaxf(r.hi, v);
    }
  }
  mm[threadIdx.x] = r;
  __syncthreads();
  for (int off = 64; off; off >>= 1) {
    if (threadIdx.x < off) {
      mm[threadIdx.x].lo = fminf(mm[threadIdx.x].lo, mm[threadIdx.x + off].lo);
      mm[threadIdx.x].hi = fmaxf(mm[threadIdx.x].hi, mm[threadIdx.x + off].hi);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = mm[0];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : (1 << 25) + 1001;
  float *h = (float *)malloc(n * sizeof(float));
  int *hi = (int *)malloc(n * sizeof(int));
  for (int i = 0; i < n; i++) {
    unsigned r = (unsigned)i * 2654435761u;
    h[i] = (float)(r >> 8) / 16777216.0f - 0.5f;
    hi[i] = (int)r;
  }
  float *d_x, *d_part;
  int *d_i, *d_ipart;
  int blocks = (n + THREADS * 2 - 1) / (THREADS * 2);
  checkCudaErrors(cudaMalloc(&d_x, n * sizeof(float)));
  checkCudaErrors(cudaMalloc(&d_i, n * sizeof(int)));
  checkCudaErrors(cudaMalloc(&d_part, blocks * sizeof(float)));
  checkCudaErrors(cudaMalloc(&d_ipart, blocks * sizeof(int)));
  checkCudaErrors(cudaMemcpy(d_x, h, n * sizeof(float), cudaMemcpyHostToDevice));
  checkCudaErrors(cudaMemcpy(d_i, hi, n * sizeof(int), cudaMemcpyHostToDevice));

  reduce_sum_tail<<<blocks, THREADS>>>(d_x, d_part, n);
  reduce_max_int<<<1024, 512, 512 * sizeof(int)>>>(d_i, d_ipart, n);
  reduce_argmin<<<2048, THREADS>>>(d_x, d_part, d_ipart, n);
  checkCudaErrors(cudaGetLastError());

  int nd = 1 << 23;
  double *hd = (double *)malloc(nd * sizeof(double)), *da, *db, *dc;
  for (int i = 0; i < nd; i++) hd[i] = (i % 1000) * 0.001;
  checkCudaErrors(cudaMalloc(&da, nd * sizeof(double)));
  checkCudaErrors(cudaMalloc(&db, nd * sizeof(double)));
  checkCudaErrors(cudaMalloc(&dc, 1056 * sizeof(double)));
  checkCudaErrors(cudaMemcpy(da, hd, nd * sizeof(double), cudaMemcpyHostToDevice));
  checkCudaErrors(cudaMemcpy(db, hd, nd * sizeof(double), cudaMemcpyHostToDevice));
  dot_by_example<<<1056, THREADS>>>(da, db, dc, nd);
  checkCudaErrors(cudaGetLastError());

  int rows = 16000, cols = 1500;
  row_l2norm<128><<<rows, 128>>>(d_x, d_part, cols);
  MinMax *d_mm;
  int mb = (n + 1023) / 1024;
  checkCudaErrors(cudaMalloc(&d_mm, mb * sizeof(MinMax)));
  minmax_struct<<<mb, 128>>>(d_x, d_mm, n);
  checkCudaErrors(cudaGetLastError());
  checkCudaErrors(cudaDeviceSynchronize());
  cudaFree(d_x); cudaFree(d_i); cudaFree(d_part); cudaFree(d_ipart);
  cudaFree(da); cudaFree(db); cudaFree(dc); cudaFree(d_mm);
  free(h); free(hi); free(hd);
  return 0;
}
