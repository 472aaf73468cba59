#include "shown.h"

// multi-level Haar DWT of 512 samples per block
#define HAAR_N 512
#define INV_SQRT_2 0.70710678118654752440f
__global__ void haar_dwt_block(const float *id, float *od, float *approx, int levels) {
  __shared__ float shared[HAAR_N];
  const int tid = threadIdx.x;
  const size_t base = (size_t)blockIdx.x * HAAR_N;
  shared[tid] = id[base + tid];
  shared[tid + blockDim.x] = id[base + tid + blockDim.x];
  __syncthreads();
  int active = HAAR_N >> 1;
  for (int l = 0; l < levels; ++l) {
    float d0 = 0, d1 = 0;
    if (tid < active) {
      d0 = shared[2 * tid];
      d1 = shared[2 * tid + 1];
    }
    __syncthreads();
    if (tid < active) {
      od[base + active + tid] = (d0 - d1) * INV_SQRT_2;
      shared[tid] = (d0 + d1) * INV_SQRT_2;
    }
    __syncthreads();
    active >>= 1;
  }
  if (tid < (HAAR_N >> levels)) {
    od[base + tid] = shared[tid];
    if (tid == 0) approx[blockIdx.x] = shared[0];
  }
}

// 2-D FDTD TM: update Hx, Hy from an Ez tile with one-sided halo
struct FdtdGrid { int nx, ny; size_t ld; float chx, chy; };
#define FX 32
#define FY 8
__global__ void fdtd_update_H(FdtdGrid g, const float *Ez, float *Hx, float *Hy) {
  __shared__ float ez[FY + 1][FX + 1];
  const int i = blockIdx.x * FX + threadIdx.x;
  const int j = blockIdx.y * FY + threadIdx.y;
  const bool ok = i < g.nx && j < g.ny;
  ez[threadIdx.y][threadIdx.x] = ok ? Ez[j * g.ld + i] : 0.f;
  if (threadIdx.x == FX - 1) ez[threadIdx.y][FX] = (i + 1 < g.nx && j < g.ny) ? Ez[j * g.ld + i + 1] : 0.f;
  if (threadIdx.y == FY - 1) ez[FY][threadIdx.x] = (i < g.nx && j + 1 < g.ny) ? Ez[(j + 1) * g.ld + i] : 0.f;
  __syncthreads();
  if (!ok) return;
  float e = ez[threadIdx.y][threadIdx.x];
  if (j < g.ny - 1) Hx[j * g.ld + i] -= g.chx * (ez[threadIdx.y + 1][threadIdx.x] - e);
  if (i < g.nx - 1) Hy[j * g.ld + i] += g.chy * (ez[threadIdx.y][threadIdx.x + 1] - e);
}

// LBM D2Q9, row per block, x-streaming through shared memory (periodic)
#define LBX 256
__global__ void lbm_d2q9_row(const double *f, double *fn, int ny, double omega) {
  __shared__ double fE[LBX], fW[LBX], fNE[LBX], fNW[LBX], fSE[LBX], fSW[LBX];
  const int x = threadIdx.x, y = blockIdx.x;
  const int yn = (y + 1) % ny, ys = (y + ny - 1) % ny;
  const int S = LBX * ny, k = y * LBX + x;
  double p[9], rho = 0;
  for (int q = 0; q < 9; q++) { p[q] = f[q * S + k] + 1.0; rho += p[q]; }
  double ux = (p[1] - p[3] + p[5] - p[6] - p[7] + p[8]) / rho;
  double uy = (p[2] - p[4] + p[5] + p[6] - p[7] - p[8]) / rho;
  const double usq = 1.5 * (ux * ux + uy * uy);
#define FEQ(w, cu) ((w) * rho * (1.0 + 3.0 * (cu) + 4.5 * (cu) * (cu) - usq))
  p[0] += omega * (FEQ(4. / 9, 0.0) - p[0]);
  p[1] += omega * (FEQ(1. / 9, ux) - p[1]);
  p[2] += omega * (FEQ(1. / 9, uy) - p[2]);
  p[3] += omega * (FEQ(1. / 9, -ux) - p[3]);
  p[4] += omega * (FEQ(1. / 9, -uy) - p[4]);
  p[5] += omega * (FEQ(1. / 36, ux + uy) - p[5]);
  p[6] += omega * (FEQ(1. / 36, -ux + uy) - p[6]);
  p[7] += omega * (FEQ(1. / 36, -ux - uy) - p[7]);
  p[8] += omega * (FEQ(1. / 36, ux - uy) - p[8]);
  const int xe = (x + 1) & (LBX - 1), xw = (x + LBX - 1) & (LBX - 1);
  fE[xe] = p[1];
  fNE[xe] = p[5];
  fSE[xe] = p[8];
  fW[xw] = p[3];
  fNW[xw] = p[6];
  fSW[xw] = p[7];
  __syncthreads();
  fn[0 * S + k] = p[0];
  fn[1 * S + k] = fE[x];
  fn[2 * S + yn * LBX + x] = p[2];
  fn[3 * S + k] = fW[x];
  fn[4 * S + ys * LBX + x] = p[4];
  fn[5 * S + yn * LBX + x] = fNE[x];
  fn[6 * S + yn * LBX + x] = fNW[x];
  fn[7 * S + ys * LBX + x] = fSW[x];
  fn[8 * S + ys * LBX + x] = fSE[x];
}

// per-column min and max over rows, reduced along y of a 2-D block
template <unsigned BX, unsigned BY>
__global__ void columnMinMax(const short *img, short2 *out, unsigned w, unsigned h, unsigned pitch) {
  __shared__ short mn[BY][BX];
  __shared__ short mx[BY * BX];
  unsigned x = blockIdx.x * BX + threadIdx.x;
  short lo = 32767, hi = -32768;
  for (unsigned y = threadIdx.y; y < h; y += BY) {
    if (x < w) {
      short v = img[y * pitch + x];
      lo = v < lo ? v : lo;
      hi = v > hi ? v : hi;
    }
  }
  mn[threadIdx.y][threadIdx.x] = lo;
  mx[threadIdx.y * BX + threadIdx.x] = hi;
  __syncthreads();
  for (unsigned s = BY / 2; s >= 1; s >>= 1) {
    if (threadIdx.y < s) {
      short a = mn[threadIdx.y + s][threadIdx.x];
      if (a < mn[threadIdx.y][threadIdx.x]) mn[threadIdx.y][threadIdx.x] = a;
      short b = mx[(threadIdx.y + s) * BX + threadIdx.x];
      if (b > mx[threadIdx.y * BX + threadIdx.x]) mx[threadIdx.y * BX + threadIdx.x] = b;
    }
    __syncthreads();
  }
  if (threadIdx.y == 0 && x < w) out[x] = make_short2(mn[0][threadIdx.x], mx[threadIdx.x]);
}

// Smith-Waterman affine-free, one alignment per block, query rows across threads,
// wavefront with double-buffered boundary
#define SWQ 96
__global__ void sw_wavefront(const unsigned char *query, const unsigned char *db, const int *dbOff, int *best, int gap) {
  __shared__ int H[2][SWQ + 1];
  __shared__ signed char blosum[24 * 24];
  __shared__ int red[SWQ];
  const int t = threadIdx.x;
  for (int i = t; i < 24 * 24; i += SWQ) blosum[i] = (i / 24 == i % 24) ? 5 : -((i * 7) % 4);
  H[0][t + 1] = 0;
  H[1][t + 1] = 0;
  if (t == 0) H[0][0] = H[1][0] = 0;
  __syncthreads();
  const unsigned char *d = db + dbOff[blockIdx.x];
  const int dl = dbOff[blockIdx.x + 1] - dbOff[blockIdx.x];
  const int q = (query[t] * 3 + t) % 24;
  int diag = 0, left = 0, mxs = 0;
  for (int step = 0; step < dl + SWQ - 1; step++) {
    const int j = step - t, cur = step & 1;
    int up = H[cur ^ 1][t];
    int h = 0;
    if (j >= 0 && j < dl) {
      h = diag + blosum[q * 24 + d[j] % 24];
      h = max(max(h, 0), max(up, left) - gap);
      mxs = max(mxs, h);
      diag = up;
      left = h;
    }
    H[cur][t + 1] = h;
    __syncthreads();
  }
  red[t] = mxs;
  __syncthreads();
  if (t < 32) {
    int v = max(red[t], max(red[t + 32], red[t + 64]));
    for (int o = 16; o; o >>= 1) v = max(v, __shfl_down_sync(0xffffffff, v, o));
    if (t == 0) best[blockIdx.x] = v;
  }
}

int main() {
  {
    int nb = 6000;
    size_t n = (size_t)nb * HAAR_N;
    float *a = mk<float>(n), *o = mk<float>(n), *ap = mk<float>(nb);
    haar_dwt_block<<<nb, HAAR_N / 2>>>(a, o, ap, 9);
    haar_dwt_block<<<nb, HAAR_N / 2>>>(a, o, ap, 5);
    show("haar_dwt_block", o, n * 4);
  }
  {
    FdtdGrid g{1501, 1203, 1536, 0.4f, 0.45f};
    size_t n = g.ld * g.ny;
    float *e = mk<float>(n), *hx = mk<float>(n), *hy = mk<float>(n);
    for (int s = 0; s < 3; s++) fdtd_update_H<<<dim3((g.nx + FX - 1) / FX, (g.ny + FY - 1) / FY), dim3(FX, FY)>>>(g, e, hx, hy);
    show("fdtd_update_H", hx, n * 4);
  }
  {
    int ny = 1024;
    size_t n = (size_t)9 * LBX * ny;
    double *a = mk<double>(n), *b = mk<double>(n);
    lbm_d2q9_row<<<ny, LBX>>>(a, b, ny, 1.2);
    lbm_d2q9_row<<<ny, LBX>>>(b, a, ny, 1.2);
    show("lbm_d2q9_row", a, n * 8);
  }
  {
    unsigned w = 4001, h = 1100, p = 4032;
    short *a = mk<short>(p * h);
    short2 *o = (short2 *)mk<short>(w * 2);
    columnMinMax<32, 16><<<(w + 31) / 32, dim3(32, 16)>>>(a, o, w, h, p);
    show("columnMinMax", o, w * 4);
  }
  {
    int nseq = 2000, tot = 0;
    int *ho = (int *)malloc((nseq + 1) * 4), *off, *b = mk<int>(nseq);
    for (int i = 0; i <= nseq; i++) { ho[i] = tot; tot += 100 + (i * 53) % 300; }
    cudaMalloc(&off, (nseq + 1) * 4);
    cudaMemcpy(off, ho, (nseq + 1) * 4, cudaMemcpyHostToDevice);
    unsigned char *q = mk<unsigned char>(SWQ), *d = mk<unsigned char>(tot);
    sw_wavefront<<<nseq, SWQ>>>(q, d, off, b, 3);
    show("sw_wavefront", b, nseq * 4);
  }
}
