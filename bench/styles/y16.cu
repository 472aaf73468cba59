// sparse matrix - vector products in several formats
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

typedef float  val_t;
typedef int    idx_t;

#define WARP 32
#define CK(call) do { cudaError_t s = call; if (s) { std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(s)); std::exit(1); } } while (0)

// CSR, a warp a row, partial sums in shared memory
__global__ void spmv_csr_vector(int rows, const idx_t *ptr, const idx_t *col, const val_t *val, const val_t *x, val_t *y) {
  __shared__ val_t part[256];
  int lane = threadIdx.x & (WARP - 1);
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
  val_t sum = 0;
  if (row < rows)
    for (idx_t k = ptr[row] + lane; k < ptr[row + 1]; k += WARP) sum += val[k] * x[col[k]];
  part[threadIdx.x] = sum;
  __syncwarp();
  for (int d = WARP / 2; d > 0; d >>= 1) {
    if (lane < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncwarp();
  }
  if (lane == 0 && row < rows) y[row] = part[threadIdx.x];
}

// ELL, column major
__global__ void spmv_ell(int rows, int width, const idx_t *col, const val_t *val, const val_t *x, val_t *y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  val_t s = 0;
  for (int k = 0; k < width; k++) {
    idx_t c = col[(size_t)k * rows + r];
    if (c >= 0) s += val[(size_t)k * rows + r] * x[c];
  }
  y[r] = s;
}

// DIA with the offsets in shared memory
__global__ void spmv_dia(int rows, int ndiag, const int *offsets, const double *data, const double *x, double *y) {
  __shared__ int off[32];
  if (threadIdx.x < ndiag) off[threadIdx.x] = offsets[threadIdx.x];
  __syncthreads();
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    double s = 0;
    for (int d = 0; d < ndiag; d++) {
      int c = r + off[d];
      if (c >= 0 && c < rows) s += data[(size_t)d * rows + r] * x[c];
    }
    y[r] = s;
  }
}

// band matrix, x window staged
#define HB 4
__global__ void band_matvec(int n, const val_t *band, const val_t *x, val_t *y) {
  __shared__ val_t xs[192 + 2 * HB];
  int i = blockIdx.x * 192 + threadIdx.x;
  xs[threadIdx.x + HB] = i < n ? x[i] : 0;
  if (threadIdx.x < HB) {
    xs[threadIdx.x] = i >= HB ? x[i - HB] : 0;
    xs[threadIdx.x + 192 + HB] = i + 192 < n ? x[i + 192] : 0;
  }
  __syncthreads();
  if (i < n) {
    val_t s = 0;
#pragma unroll
    for (int d = 0; d < 2 * HB + 1; d++) s += band[(size_t)d * n + i] * xs[threadIdx.x + d];
    y[i] = s;
  }
}

template <typename T> T *toDevice(const std::vector<T> &v) {
  T *d;
  CK(cudaMalloc(&d, v.size() * sizeof(T)));
  CK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}

int main(int argc, char **argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 200000;
  std::vector<idx_t> ptr(rows + 1), col;
  std::vector<val_t> val;
  for (int r = 0; r < rows; r++) {
    int nnz = 16 + (r * 7) % 49;
    for (int k = 0; k < nnz; k++) {
      col.push_back((r + k * 131 + (k * k * 17)) % rows);
      val.push_back(0.01f * (k + 1));
    }
    ptr[r + 1] = (idx_t)col.size();
  }
  std::vector<val_t> x(4000000);
  for (size_t i = 0; i < x.size(); i++) x[i] = 1.0f + (i % 10);
  idx_t *dp = toDevice(ptr), *dc = toDevice(col);
  val_t *dv = toDevice(val), *dx = toDevice(x), *dy;
  CK(cudaMalloc(&dy, x.size() * sizeof(val_t)));
  spmv_csr_vector<<<(rows * 32 + 255) / 256, 256>>>(rows, dp, dc, dv, dx, dy);
  CK(cudaGetLastError());

  int width = 12, erows = 500001;
  std::vector<idx_t> ec((size_t)width * erows);
  std::vector<val_t> ev(ec.size());
  for (int k = 0; k < width; k++)
    for (int r = 0; r < erows; r++) {
      ec[(size_t)k * erows + r] = (r % 5 == 0 && k > 8) ? -1 : (r + k * k * 37) % erows;
      ev[(size_t)k * erows + r] = 0.5f + k;
    }
  idx_t *dec = toDevice(ec);
  val_t *dev = toDevice(ev);
  spmv_ell<<<(erows + 127) / 128, 128>>>(erows, width, dec, dev, dx, dy);
  CK(cudaGetLastError());

  int drows = 1000000, nd = 7;
  std::vector<int> off = {-10000, -100, -1, 0, 1, 100, 10000};
  std::vector<double> dd((size_t)nd * drows);
  for (size_t i = 0; i < dd.size(); i++) dd[i] = (i % 19) * 0.1;
  int *doff = toDevice(off);
  double *ddd = toDevice(dd), *ddy;
  CK(cudaMalloc(&ddy, drows * sizeof(double)));
  spmv_dia<<<(drows + 255) / 256, 256>>>(drows, nd, doff, ddd, ddd, ddy);
  CK(cudaGetLastError());

  int bn = 3000007;
  std::vector<val_t> band((size_t)(2 * HB + 1) * bn);
  for (size_t i = 0; i < band.size(); i++) band[i] = (i & 7) * 0.25f;
  val_t *db = toDevice(band);
  band_matvec<<<(bn + 191) / 192, 192>>>(bn, db, dx, dy);
  CK(cudaGetLastError());
  CK(cudaDeviceSynchronize());
  cudaFree(dp); cudaFree(dc); cudaFree(dv); cudaFree(dx); cudaFree(dy); cudaFree(dec); cudaFree(dev);
  cudaFree(doff); cudaFree(ddd); cudaFree(ddy); cudaFree(db);
  return 0;
}
