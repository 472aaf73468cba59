// sparse, graph, particle codes
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>
#define CUDA_ERR(ans) do { cudaError_t _e = (ans); if (_e != cudaSuccess) { fprintf(stderr, "GPU error %s at %s:%d\n", cudaGetErrorString(_e), __FILE__, __LINE__); exit(-1); } } while (0)

/* CSR vector kernel (Bell & Garland): one warp per row, partial sums reduced in shared */
#define SPMV_BS 128
__global__ void spmv_csr_vector(int nrows, const int *Ap, const int *Aj, const float *Ax, const float *x, float *y) {
  __shared__ float sdata[SPMV_BS];
  int thread_id = blockDim.x * blockIdx.x + threadIdx.x;
  int row = thread_id / 32;
  int lane = thread_id & 31;
  float sum = 0;
  if (row < nrows)
    for (int jj = Ap[row] + lane; jj < Ap[row + 1]; jj += 32) sum += Ax[jj] * x[Aj[jj]];
  sdata[threadIdx.x] = sum;
  __syncthreads();
  for (int k = 16; k > 0; k >>= 1) {
    if (lane < k) sdata[threadIdx.x] += sdata[threadIdx.x + k];
    __syncthreads();
  }
  if (lane == 0 && row < nrows) y[row] = sdata[threadIdx.x];
}

/* banded matrix in DIA format, the window of x that a block needs is staged */
#define BAND 12
__global__ void spmv_dia_window(const double *vals, const double *x, double *y, int n) {
  __shared__ double xs[256 + 2 * BAND];
  int row = blockIdx.x * 256 + threadIdx.x;
  for (int k = threadIdx.x; k < 256 + 2 * BAND; k += 256) {
    int c = blockIdx.x * 256 + k - BAND;
    xs[k] = (c >= 0 && c < n) ? x[c] : 0.0;
  }
  __syncthreads();
  if (row < n) {
    double s = 0.0;
    for (int d = 0; d <= 2 * BAND; d++) s += vals[(size_t)d * n + row] * xs[threadIdx.x + d];
    y[row] = s;
  }
}

#define QCAP 2048
/* Lennard-Jones, all pairs, tile of 64 particles with types */
struct LJ { float eps, sig; };
__global__ void lj_forces(const float4 *pos, const LJ *par, float3 *force, int n, float rc2) {
  __shared__ float4 sp[64];
  __shared__ LJ sl[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  float4 p = make_float4(0, 0, 0, 0);
  LJ a = {0.f, 0.f};
  if (i < n) { p = pos[i]; a = par[i]; }
  float3 f = make_float3(0, 0, 0);
  for (int t = 0; t < n; t += 64) {
    int j = t + threadIdx.x;
    if (j < n) { sp[threadIdx.x] = pos[j]; sl[threadIdx.x] = par[j]; }
    __syncthreads();
    int lim = n - t < 64 ? n - t : 64;
    for (int k = 0; k < lim; k++) {
      float dx = p.x - sp[k].x, dy = p.y - sp[k].y, dz = p.z - sp[k].z;
      float r2 = dx * dx + dy * dy + dz * dz;
      if (r2 < rc2 && r2 > 1e-6f) {
        float sg = 0.5f * (a.sig + sl[k].sig), ep = sqrtf(a.eps * sl[k].eps);
        float ir2 = 1.0f / r2, s2 = sg * sg * ir2, s6 = s2 * s2 * s2;
        float c = 24.f * ep * ir2 * s6 * (2.f * s6 - 1.f);
        f.x += c * dx; f.y += c * dy; f.z += c * dz;
      }
    }
    __syncthreads();
  }
  if (i < n) force[i] = f;
}

template <class T> T *copyin(const std::vector<T> &h) {
  T *d;
  CUDA_ERR(cudaMalloc((void **)&d, h.size() * sizeof(T)));
  CUDA_ERR(cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}
int main() {
  const int rows = 300000;
  std::vector<int> ap(rows + 1), aj;
  unsigned r = 17;
  for (int i = 0; i < rows; i++) {
    ap[i] = aj.size();
    r = r * 1664525u + 1013904223u;
    int len = 5 + (r >> 24) % 60;
    for (int k = 0; k < len; k++) { r = r * 1664525u + 1013904223u; aj.push_back((i + (r >> 12) % 4000) % rows); }
  }
  ap[rows] = aj.size();
  std::vector<float> ax(aj.size(), 0.5f), vx(rows);
  for (int i = 0; i < rows; i++) vx[i] = (i % 37) * 0.1f;
  int *dap = copyin(ap), *daj = copyin(aj);
  float *dax = copyin(ax), *dx = copyin(vx), *dy = copyin(vx);
  spmv_csr_vector<<<(rows * 32 + SPMV_BS - 1) / SPMV_BS, SPMV_BS>>>(rows, dap, daj, dax, dx, dy);
  CUDA_ERR(cudaGetLastError());
  int n = 1000003;
  std::vector<double> dv((size_t)n * (2 * BAND + 1), 0.25), xv(n, 1.5);
  double *vals = copyin(dv), *xx = copyin(xv), *yy = copyin(xv);
  spmv_dia_window<<<(n + 255) / 256, 256>>>(vals, xx, yy, n);
  CUDA_ERR(cudaGetLastError());
  const int nf = 20000;
  std::vector<int> lev(rows, -1), fr(nf), zero(1, 0);
  for (int i = 0; i < nf; i++) { fr[i] = i * 14; lev[fr[i]] = 0; }
  int *dl = copyin(lev), *dfr = copyin(fr), *dnn = copyin(zero), *dnext = copyin(lev);
  CUDA_ERR(cudaGetLastError());
  int np = 8100;
  std::vector<float4> p(16384);
  std::vector<LJ> lj(np);
  for (size_t i = 0; i < p.size(); i++) p[i] = make_float4(i % 25 * 1.1f, i / 25 % 25 * 1.1f, i / 625 * 1.1f, i & 1 ? 1.f : -1.f);
  for (int i = 0; i < np; i++) lj[i] = {1.f + (i & 3) * 0.1f, 1.f};
  float4 *dp = copyin(p);
  LJ *dlj = copyin(lj);
  float3 *df = (float3 *)copyin(std::vector<float>(3 * np, 0.f));
  lj_forces<<<(np + 63) / 64, 64>>>(dp, dlj, df, np, 9.f);
  CUDA_ERR(cudaGetLastError());
  int ex = 512, ey = 512;
  float *en = copyin(std::vector<float>(ex * ey, 0.f));
  CUDA_ERR(cudaGetLastError());
  CUDA_ERR(cudaDeviceSynchronize());
  return 0;
}
