// cellular automata, lattice and field solvers
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
static inline void ck(cudaError_t e, int line) {
  if (e != cudaSuccess) { fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e)); exit(1); }
}
#define CK(e) ck((e), __LINE__)

// Conway, torus, bytes, block 32x8 -> 34x10 tile
__global__ void lifeShared(const unsigned char *g, unsigned char *ng, int w, int h) {
  __shared__ unsigned char c[10][34];
  for (int r = threadIdx.y; r < 10; r += 8) {
    int y = (blockIdx.y * 8 + r + h - 1) % h;
    for (int k = threadIdx.x; k < 34; k += 32) {
      int x = (blockIdx.x * 32 + k + w - 1) % w;
      c[r][k] = g[y * w + x];
    }
  }
  __syncthreads();
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h) return;
  int i = threadIdx.x + 1, j = threadIdx.y + 1;
  int n = c[j - 1][i - 1] + c[j - 1][i] + c[j - 1][i + 1] + c[j][i - 1] + c[j][i + 1] + c[j + 1][i - 1] + c[j + 1][i] + c[j + 1][i + 1];
  ng[y * w + x] = n == 3 || (n == 2 && c[j][i]);
}

// rule 110 on a row of cells, 8 generations per launch with a shrinking trapezoid
#define GENS 8
__global__ void rule110(const unsigned char *in, unsigned char *out, int n) {
  __shared__ unsigned char s[2][256 + 2 * GENS];
  for (int k = threadIdx.x; k < 256 + 2 * GENS; k += 256) {
    int g = blockIdx.x * 256 + k - GENS;
    s[0][k] = (g >= 0 && g < n) ? in[g] : 0;
  }
  __syncthreads();
  int p = 0;
  for (int it = 1; it <= GENS; it++) {
    for (int k = threadIdx.x + it; k < 256 + 2 * GENS - it; k += 256) {
      int pat = s[p][k - 1] * 4 + s[p][k] * 2 + s[p][k + 1];
      s[1 - p][k] = (110 >> pat) & 1;
    }
    p = 1 - p;
    __syncthreads();
  }
  int g = blockIdx.x * 256 + threadIdx.x;
  if (g < n) out[g] = s[p][threadIdx.x + GENS];
}

// D2Q9 collide + stream, propagation along x goes through shared memory (Toelke style), one row segment = whole row
#define LBX 128
__global__ void lbm_d2q9_x(const float *f, float *fn, int nx, int ny, float omega) {
  __shared__ float fE[LBX], fW[LBX], fNE[LBX], fNW[LBX], fSE[LBX], fSW[LBX];
  int tx = threadIdx.x, y = blockIdx.y;
  int x = blockIdx.x * LBX + tx;
  size_t N = (size_t)nx * ny, k = (size_t)y * nx + x;
  float f0 = f[k], f1 = f[N + k], f2 = f[2 * N + k], f3 = f[3 * N + k], f4 = f[4 * N + k], f5 = f[5 * N + k], f6 = f[6 * N + k], f7 = f[7 * N + k], f8 = f[8 * N + k];
  float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
  float ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho, uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho;
  float u2 = 1.f - 1.5f * (ux * ux + uy * uy);
#define EQ(wt, cu) (wt * rho * (u2 + 3.f * (cu) + 4.5f * (cu) * (cu)))
  f0 += omega * (EQ(4.f / 9, 0.f) - f0);
  f1 += omega * (EQ(1.f / 9, ux) - f1);
  f2 += omega * (EQ(1.f / 9, uy) - f2);
  f3 += omega * (EQ(1.f / 9, -ux) - f3);
  f4 += omega * (EQ(1.f / 9, -uy) - f4);
  f5 += omega * (EQ(1.f / 36, ux + uy) - f5);
  f6 += omega * (EQ(1.f / 36, uy - ux) - f6);
  f7 += omega * (EQ(1.f / 36, -ux - uy) - f7);
  f8 += omega * (EQ(1.f / 36, ux - uy) - f8);
  int e = (tx + 1) % LBX, w = (tx + LBX - 1) % LBX;  // periodic inside the segment
  fE[e] = f1; fNE[e] = f5; fSE[e] = f8;
  fW[w] = f3; fNW[w] = f6; fSW[w] = f7;
  __syncthreads();
  int yn = (y + 1) % ny, ys = (y + ny - 1) % ny;
  size_t kn = (size_t)yn * nx + x, ks = (size_t)ys * nx + x;
  fn[k] = f0;
  fn[N + k] = fE[tx];
  fn[2 * N + kn] = f2;
  fn[3 * N + k] = fW[tx];
  fn[4 * N + ks] = f4;
  fn[5 * N + kn] = fNE[tx];
  fn[6 * N + kn] = fNW[tx];
  fn[7 * N + ks] = fSW[tx];
  fn[8 * N + ks] = fSE[tx];
}

#define FX 16
#define FY 16
// SRAD diffusion coefficient (Rodinia srad v1 rewritten with a tile)
#define SB 16
__global__ void srad_coeff(const float *J, float *C, float *dN_, float *dS_, float *dW_, float *dE_, int cols, int rows, float q0sqr) {
  __shared__ float t[SB][SB], north[SB], south[SB], west[SB], east[SB];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * SB + tx, y = blockIdx.y * SB + ty;
  int idx = y * cols + x;
  t[ty][tx] = J[idx];
  if (ty == 0) north[tx] = J[max(y - 1, 0) * cols + x];
  if (ty == SB - 1) south[tx] = J[min(y + 1, rows - 1) * cols + x];
  if (tx == 0) west[ty] = J[y * cols + max(x - 1, 0)];
  if (tx == SB - 1) east[ty] = J[y * cols + min(x + 1, cols - 1)];
  __syncthreads();
  float jc = t[ty][tx];
  float n = (ty == 0 ? north[tx] : t[ty - 1][tx]) - jc;
  float s = (ty == SB - 1 ? south[tx] : t[ty + 1][tx]) - jc;
  float w = (tx == 0 ? west[ty] : t[ty][tx - 1]) - jc;
  float e = (tx == SB - 1 ? east[ty] : t[ty][tx + 1]) - jc;
  float g2 = (n * n + s * s + w * w + e * e) / (jc * jc);
  float l = (n + s + w + e) / jc;
  float num = (0.5f * g2) - ((1.0f / 16.0f) * (l * l));
  float den = 1 + (.25f * l);
  float qsqr = num / (den * den);
  den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
  float c = 1.0f / (1.0f + den);
  C[idx] = c < 0 ? 0 : (c > 1 ? 1 : c);
  dN_[idx] = n;
  dS_[idx] = s;
  dW_[idx] = w;
  dE_[idx] = e;
}

// shallow water, Rusanov flux in x; 3 unknowns, double; 1-D blocks of 128 cells + ghosts
#define SWB 128
__global__ void swe_flux_x(const double *h, const double *hu, const double *hv, double *h2, double *hu2, double *hv2, int nx, double lam) {
  __shared__ double sh[SWB + 2], su[SWB + 2], sv[SWB + 2];
  size_t row = (size_t)blockIdx.y * nx;
  int i = blockIdx.x * SWB + threadIdx.x;
  for (int k = threadIdx.x; k < SWB + 2; k += SWB) {
    int g = min(max((int)(blockIdx.x * SWB) + k - 1, 0), nx - 1);
    sh[k] = h[row + g];
    su[k] = hu[row + g];
    sv[k] = hv[row + g];
  }
  __syncthreads();
  if (i >= nx) return;
  double F[2][3];
  for (int s = 0; s < 2; s++) {
    int l = threadIdx.x + s, r = l + 1;
    double ul = su[l] / sh[l], ur = su[r] / sh[r];
    double a = fmax(fabs(ul) + sqrt(9.81 * sh[l]), fabs(ur) + sqrt(9.81 * sh[r]));
    F[s][0] = 0.5 * (su[l] + su[r]) - 0.5 * a * (sh[r] - sh[l]);
    F[s][1] = 0.5 * (su[l] * ul + 4.905 * sh[l] * sh[l] + su[r] * ur + 4.905 * sh[r] * sh[r]) - 0.5 * a * (su[r] - su[l]);
    F[s][2] = 0.5 * (sv[l] * ul + sv[r] * ur) - 0.5 * a * (sv[r] - sv[l]);
  }
  int c = threadIdx.x + 1;
  h2[row + i] = sh[c] - lam * (F[1][0] - F[0][0]);
  hu2[row + i] = su[c] - lam * (F[1][1] - F[0][1]);
  hv2[row + i] = sv[c] - lam * (F[1][2] - F[0][2]);
}

template <class T> T *field(size_t n, unsigned mod, T off, T scale) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; i++) h[i] = (T)(off + (T)((i * 40503u >> 4) % mod) * scale);
  CK(cudaMalloc(&d, n * sizeof(T)));
  CK(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main() {
  typedef unsigned char u8;
  int w = 3000, h = 2500;
  u8 *a = field<u8>(w * h, 2, 0, 1), *b = field<u8>(w * h, 1, 0, 1);
  lifeShared<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, b, w, h);
  rule110<<<(7000001 + 255) / 256, 256>>>(a, b, 7000001);
  CK(cudaGetLastError());
  int lx = 1024, ly = 1024;
  float *f = field<float>(9 * (size_t)lx * ly, 17, 0.1f, 0.001f), *fn = field<float>(9 * (size_t)lx * ly, 1, 0.f, 0.f);
  lbm_d2q9_x<<<dim3(lx / LBX, ly), LBX>>>(f, fn, lx, ly, 1.2f);
  CK(cudaGetLastError());
  int fx = 2050, fy = 1030;
  CK(cudaGetLastError());
  size_t sn = 2048 * 2048;
  float *J = field<float>(sn, 100, 1.f, 0.02f), *o = field<float>(5 * sn, 1, 0.f, 0.f);
  srad_coeff<<<dim3(2048 / SB, 2048 / SB), dim3(SB, SB)>>>(J, o, o + sn, o + 2 * sn, o + 3 * sn, o + 4 * sn, 2048, 2048, 0.05f);
  CK(cudaGetLastError());
  int nx = 1500, ny = 1200;
  size_t c = (size_t)nx * ny;
  double *u = field<double>(3 * c, 50, 1.0, 0.01), *v = field<double>(3 * c, 1, 0.0, 0.0);
  swe_flux_x<<<dim3((nx + SWB - 1) / SWB, ny), SWB>>>(u, u + c, u + 2 * c, v, v + c, v + 2 * c, nx, 0.01);
  CK(cudaGetLastError());
  CK(cudaDeviceSynchronize());
  return 0;
}
