#include "h.h"
#include <cstring>
#include <vector>
static void show(const char *name, const void *dev, size_t bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  unsigned char *h = (unsigned char *)malloc(bytes);
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    unsigned long long w;
    memcpy(&w, h + i, 8);
    f = (f ^ w) * 1099511628211ull;
  }
  for (; i < bytes; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016llx%s%s\n", name, f, e ? " " : "", e ? cudaGetErrorString(e) : "");
  free(h);
}
// CSR, one warp-sized group a row, volatile-free shared reduction with __syncwarp
#define WPB 4
__global__ void spmv_csr_vector(int rows, const int *__restrict__ ptr, const int *__restrict__ ind, const double *__restrict__ val, const double *__restrict__ x, double *__restrict__ y) {
  __shared__ double sdata[WPB * 32 + 16];
  int lane = threadIdx.x & 31;
  int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  double sum = 0;
  if (row < rows)
    for (int jj = ptr[row] + lane; jj < ptr[row + 1]; jj += 32) sum += val[jj] * x[ind[jj]];
  sdata[threadIdx.x] = sum;
  __syncwarp();
  if (lane < 16) sdata[threadIdx.x] = sum = sum + sdata[threadIdx.x + 16];
  __syncwarp();
  if (lane < 8) sdata[threadIdx.x] = sum = sum + sdata[threadIdx.x + 8];
  __syncwarp();
  if (lane < 4) sdata[threadIdx.x] = sum = sum + sdata[threadIdx.x + 4];
  __syncwarp();
  if (lane < 2) sdata[threadIdx.x] = sum = sum + sdata[threadIdx.x + 2];
  __syncwarp();
  if (lane == 0 && row < rows) y[row] = sum + sdata[threadIdx.x + 1];
}

// CSR stream: the products of a block's rows first, then a row a thread
#define NNZ_BLOCK 2048
__global__ void spmv_csr_stream(const int *rowBlocks, const int *ptr, const int *ind, const float *val, const float *x, float *y) {
  __shared__ float prod[NNZ_BLOCK];
  int r0 = rowBlocks[blockIdx.x], r1 = rowBlocks[blockIdx.x + 1];
  int a = ptr[r0], nnz = ptr[r1] - a;
  for (int i = threadIdx.x; i < nnz; i += blockDim.x) prod[i] = val[a + i] * x[ind[a + i]];
  __syncthreads();
  for (int r = r0 + threadIdx.x; r < r1; r += blockDim.x) {
    float t = 0.f;
    for (int j = ptr[r] - a; j < ptr[r + 1] - a; ++j) t += prod[j];
    y[r] = t;
  }
}

// ELL with banded columns: the piece of x a block needs is cached
__global__ void ell_banded(const float *data, const short *coff, const float *x, float *y, int n, int width, int band) {
  extern __shared__ float xs[];
  int r0 = blockIdx.x * blockDim.x, r = r0 + threadIdx.x;
  for (int i = threadIdx.x; i < blockDim.x + 2 * band; i += blockDim.x) {
    int g = r0 + i - band;
    xs[i] = (g >= 0 && g < n) ? x[g] : 0.f;
  }
  __syncthreads();
  if (r >= n) return;
  float dot = 0.f;
  for (int k = 0; k < width; ++k) {
    int c = coff[(size_t)k * n + r] % (2 * band + 1);
    dot += data[(size_t)k * n + r] * xs[threadIdx.x + c];
  }
  y[r] = dot;
}

// dense y = A x : tile of x reused by all rows of a block
__global__ void gemv_rows(const float *A, const float *x, float *y, unsigned m, unsigned n) {
  __shared__ float xt[256];
  unsigned row = blockIdx.x * 256u + threadIdx.x;
  float acc = 0.0f;
  for (unsigned j = 0; j < n; j += 256u) {
    xt[threadIdx.x] = j + threadIdx.x < n ? x[j + threadIdx.x] : 0.0f;
    __syncthreads();
    unsigned lim = n - j < 256u ? n - j : 256u;
    if (row < m)
      for (unsigned k = 0; k < lim; ++k) acc += A[(size_t)(j + k) * m + row] * xt[k];   // column-major
    __syncthreads();
  }
  if (row < m) y[row] = acc;
}

int main() {
  int rows = 300000;
  std::vector<int> ptr(rows + 1, 0), ind, rb(1, 0);
  for (int r = 0; r < rows; ++r) {
    int k = 4 + (r * 37) % 43;
    for (int j = 0; j < k; ++j) ind.push_back((int)(((long long)r * 17 + j * 7001LL) % rows));
    ptr[r + 1] = (int)ind.size();
    if (ptr[r + 1] - ptr[rb.back()] > NNZ_BLOCK) rb.push_back(r);
  }
  rb.push_back(rows);
  int nnz = (int)ind.size(), *dp, *di, *drb;
  cudaMalloc(&dp, ptr.size() * 4); cudaMemcpy(dp, ptr.data(), ptr.size() * 4, cudaMemcpyHostToDevice);
  cudaMalloc(&di, ind.size() * 4); cudaMemcpy(di, ind.data(), ind.size() * 4, cudaMemcpyHostToDevice);
  cudaMalloc(&drb, rb.size() * 4); cudaMemcpy(drb, rb.data(), rb.size() * 4, cudaMemcpyHostToDevice);
  { double *v = mk<double>(nnz), *x = mk<double>(rows), *y = mk<double>(rows);
    spmv_csr_vector<<<(rows + WPB - 1) / WPB, WPB * 32>>>(rows, dp, di, v, x, y);
    show("spmv_csr_vector", y, (size_t)rows * 8); }
  { float *v = mk<float>(nnz), *x = mk<float>(rows), *y = mk<float>(rows);
    spmv_csr_stream<<<(int)rb.size() - 1, 256>>>(drb, dp, di, v, x, y);
    show("spmv_csr_stream", y, (size_t)rows * 4); }
  { int n = 4000001, w = 7, band = 50; float *d = mk<float>((size_t)n * w), *x = mk<float>(n), *y = mk<float>(n); short *c = mk<short>((size_t)n * w);
    ell_banded<<<(n + 255) / 256, 256, (256 + 2 * band) * sizeof(float)>>>(d, c, x, y, n, w, band);
    show("ell_banded", y, (size_t)n * 4); cudaFree(d); }
  { unsigned m = 60000, n = 1001; float *A = mk<float>((size_t)m * n), *x = mk<float>(n), *y = mk<float>(m);
    gemv_rows<<<(m + 255) / 256, 256>>>(A, x, y, m, n);
    show("gemv_rows", y, m * 4); }
  return 0;
}
