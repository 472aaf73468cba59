// all-pairs computations
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define P 256
#define SOFTENING 1e-4f

inline cudaError_t checkCuda(cudaError_t result) {
  if (result != cudaSuccess) {
    fprintf(stderr, "CUDA Runtime Error: %s\n", cudaGetErrorString(result));
    assert(result == cudaSuccess);
  }
  return result;
}

// gravitational acceleration, bodies padded to the tile
__global__ void nbody_accel(const float4 *pos, float4 *acc, int n) {
  __shared__ float4 tile[P];
  int i = blockIdx.x * P + threadIdx.x;
  float4 me = i < n ? pos[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0;
  for (int t0 = 0; t0 < n; t0 += P) {
    tile[threadIdx.x] = t0 + threadIdx.x < n ? pos[t0 + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 16
    for (int j = 0; j < P; j++) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      float d2 = dx * dx + dy * dy + dz * dz + SOFTENING;
      float inv = rsqrtf(d2);
      float f = tile[j].w * inv * inv * inv;
      ax += f * dx; ay += f * dy; az += f * dz;
    }
    __syncthreads();
  }
  if (i < n) acc[i] = make_float4(ax, ay, az, 0);
}

// k-means assignment; centroids live in shared memory
__global__ void kmeans_assign(const float *points, const float *centroids, int *label, int n, int k, int dim) {
  extern __shared__ float cen[];
  for (int i = threadIdx.x; i < k * dim; i += blockDim.x) cen[i] = centroids[i];
  __syncthreads();
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  float best = 1e30f;
  int arg = 0;
  for (int c = 0; c < k; c++) {
    float d = 0;
    for (int a = 0; a < dim; a++) {
      float diff = points[(size_t)a * n + p] - cen[c * dim + a];
      d += diff * diff;
    }
    if (d < best) { best = d; arg = c; }
  }
  label[p] = arg;
}

// squared euclidean distance of all rows of X to all rows of Y
#define DT 16
__global__ void pairwise_sqdist(const float *X, const float *Y, float *D, int nx, int ny, int dim) {
  __shared__ float xs[DT][DT + 1];
  __shared__ float ys[DT][DT + 1];
  int xr = blockIdx.y * DT + threadIdx.y;
  int yr = blockIdx.x * DT + threadIdx.x;
  int yload = blockIdx.x * DT + threadIdx.y;
  float acc = 0;
  for (int f = 0; f < dim; f += DT) {
    int c = f + threadIdx.x;
    xs[threadIdx.y][threadIdx.x] = (xr < nx && c < dim) ? X[xr * dim + c] : 0;
    ys[threadIdx.y][threadIdx.x] = (yload < ny && c < dim) ? Y[yload * dim + c] : 0;
    __syncthreads();
    for (int q = 0; q < DT; q++) {
      float t = xs[threadIdx.y][q] - ys[threadIdx.x][q];
      acc += t * t;
    }
    __syncthreads();
  }
  if (xr < nx && yr < ny) D[(size_t)xr * ny + yr] = acc;
}

// correlation matrix of standardised columns (data: samples x vars)
__global__ void corr_matrix(const double *z, double *r, int samples, int vars) {
  __shared__ double a[DT][DT], b[DT][DT];
  int vi = blockIdx.y * DT + threadIdx.y;
  int vj = blockIdx.x * DT + threadIdx.x;
  double s = 0;
  for (int t = 0; t < samples; t += DT) {
    int ra = blockIdx.y * DT + threadIdx.x;
    bool rowok = t + threadIdx.y < samples;
    a[threadIdx.y][threadIdx.x] = rowok && ra < vars ? z[(size_t)(t + threadIdx.y) * vars + ra] : 0.0;
    b[threadIdx.y][threadIdx.x] = rowok && vj < vars ? z[(size_t)(t + threadIdx.y) * vars + vj] : 0.0;
    __syncthreads();
    for (int q = 0; q < DT; q++) s += a[q][threadIdx.y] * b[q][threadIdx.x];
    __syncthreads();
  }
  if (vi < vars && vj < vars) r[(size_t)vi * vars + vj] = s / (samples - 1);
}

// pair distance histogram with a small private histogram for each thread
#define BINS 16
__global__ void pair_hist_private(const float4 *pos, unsigned *hist, int n, float scale) {
  __shared__ float4 other[128];
  unsigned local[BINS];
  for (int b = 0; b < BINS; b++) local[b] = 0;
  int i = blockIdx.x * 128 + threadIdx.x;
  float4 me = pos[min(i, n - 1)];
  for (int t0 = 0; t0 < n; t0 += 128) {
    int m = min(128, n - t0);
    if (threadIdx.x < m) other[threadIdx.x] = pos[t0 + threadIdx.x];
    __syncthreads();
    if (i < n)
      for (int j = 0; j < m; j++) {
        float dx = other[j].x - me.x, dy = other[j].y - me.y, dz = other[j].z - me.z;
        int b = (int)(sqrtf(dx * dx + dy * dy + dz * dz) * scale);
        local[min(b, BINS - 1)]++;
      }
    __syncthreads();
  }
  for (int b = 0; b < BINS; b++)
    if (local[b]) atomicAdd(&hist[b], local[b]);
}

int main(int argc, char **argv) {
  int nBodies = argc > 1 ? atoi(argv[1]) : 30000;
  size_t cap = 8u << 20;
  float *h = (float *)malloc(cap * sizeof(float));
  for (size_t i = 0; i < cap; i++) h[i] = ((i * 48271u) % 65537u) / 65537.0f;
  float *d, *o;
  int *lab;
  unsigned *hist;
  checkCuda(cudaMalloc(&d, cap * sizeof(float)));
  checkCuda(cudaMalloc(&o, cap * sizeof(float)));
  checkCuda(cudaMalloc(&lab, (1 << 20) * sizeof(int)));
  checkCuda(cudaMalloc(&hist, BINS * sizeof(unsigned)));
  checkCuda(cudaMemset(hist, 0, BINS * sizeof(unsigned)));
  checkCuda(cudaMemcpy(d, h, cap * sizeof(float), cudaMemcpyHostToDevice));

  nbody_accel<<<(nBodies + P - 1) / P, P>>>((float4 *)d, (float4 *)o, nBodies);
  checkCuda(cudaGetLastError());
  int n = 500000, k = 32, dim = 8;
  kmeans_assign<<<(n + 255) / 256, 256, k * dim * sizeof(float)>>>(d, d + 7000000, lab, n, k, dim);
  checkCuda(cudaGetLastError());
  int nx = 2000, ny = 2500, feat = 100;
  pairwise_sqdist<<<dim3((ny + DT - 1) / DT, (nx + DT - 1) / DT), dim3(DT, DT)>>>(d, d + 1000000, o, nx, ny, feat);
  checkCuda(cudaGetLastError());
  int np = 8000;
  pair_hist_private<<<(np + 127) / 128, 128>>>((float4 *)d, hist, np, 9.0f);
  checkCuda(cudaGetLastError());

  int samples = 1000, vars = 900;
  double *hz = (double *)malloc(sizeof(double) * samples * vars), *z, *r;
  for (int i = 0; i < samples * vars; i++) hz[i] = (i % 317) / 158.0 - 1.0;
  checkCuda(cudaMalloc(&z, sizeof(double) * samples * vars));
  checkCuda(cudaMalloc(&r, sizeof(double) * vars * vars));
  checkCuda(cudaMemcpy(z, hz, sizeof(double) * samples * vars, cudaMemcpyHostToDevice));
  corr_matrix<<<dim3((vars + DT - 1) / DT, (vars + DT - 1) / DT), dim3(DT, DT)>>>(z, r, samples, vars);
  checkCuda(cudaGetLastError());
  checkCuda(cudaDeviceSynchronize());
  cudaFree(d); cudaFree(o); cudaFree(lab); cudaFree(hist); cudaFree(z); cudaFree(r);
  free(h); free(hz);
  return 0;
}
