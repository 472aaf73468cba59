// Pieces of seismic imaging and of weather models: wave propagators, migration,
// gather processing, column physics and advection.
#include <cmath>
#include "shown.h"

// ---------------------------------------------------------------------------
// 1. acoustic wave equation, 8th order in space, z marched in registers
// ---------------------------------------------------------------------------
#define RAD 4
#define BDX 32
#define BDY 16
__constant__ float c_coef[RAD + 1];

__device__ __forceinline__ float getp(const float *p, int x, int y, int z, int nx, int ny) {
  x = x < 0 ? 0 : (x >= nx ? nx - 1 : x);
  y = y < 0 ? 0 : (y >= ny ? ny - 1 : y);
  return p[((size_t)z * ny + y) * nx + x];
}

__global__ void acoustic_iso_8th(const float *__restrict__ p, float *__restrict__ q,
                                 const float *__restrict__ vdt2, int nx, int ny, int nz) {
  __shared__ float s_data[BDY + 2 * RAD][BDX + 2 * RAD];
  const int ix = blockIdx.x * BDX + threadIdx.x;
  const int iy = blockIdx.y * BDY + threadIdx.y;
  const int tx = threadIdx.x + RAD;
  const int ty = threadIdx.y + RAD;

  float zq[2 * RAD + 1];
#pragma unroll
  for (int k = 0; k < 2 * RAD; k++) zq[k + 1] = getp(p, ix, iy, k, nx, ny);

  for (int iz = RAD; iz < nz - RAD; iz++) {
#pragma unroll
    for (int k = 0; k < 2 * RAD; k++) zq[k] = zq[k + 1];
    zq[2 * RAD] = getp(p, ix, iy, iz + RAD, nx, ny);
    const float cur = zq[RAD];

    __syncthreads();
    s_data[ty][tx] = cur;
    if (threadIdx.y < RAD) {
      s_data[threadIdx.y][tx] = getp(p, ix, iy - RAD, iz, nx, ny);
      s_data[threadIdx.y + BDY + RAD][tx] = getp(p, ix, iy + BDY, iz, nx, ny);
    }
    if (threadIdx.x < RAD) {
      s_data[ty][threadIdx.x] = getp(p, ix - RAD, iy, iz, nx, ny);
      s_data[ty][threadIdx.x + BDX + RAD] = getp(p, ix + BDX, iy, iz, nx, ny);
    }
    __syncthreads();

    float lap = 3.0f * c_coef[0] * cur;
#pragma unroll
    for (int r = 1; r <= RAD; r++)
      lap += c_coef[r] * (zq[RAD - r] + zq[RAD + r] + s_data[ty - r][tx] + s_data[ty + r][tx] +
                          s_data[ty][tx - r] + s_data[ty][tx + r]);
    if (ix < nx && iy < ny) {
      size_t id = ((size_t)iz * ny + iy) * nx + ix;
      q[id] = 2.0f * cur - q[id] + 1.0e-3f * vdt2[id] * lap;
    }
  }
}

// ---------------------------------------------------------------------------
// 2. elastic staggered grid: particle velocities from stresses (4th order)
// ---------------------------------------------------------------------------
struct Tile { float v[12][36]; };

static __device__ void fetchTile(Tile &t, const float *g, int x0, int z0, int NX, int NZ) {
  const int lid = threadIdx.y * blockDim.x + threadIdx.x;
  for (int k = lid; k < 12 * 36; k += blockDim.x * blockDim.y) {
    int r = k / 36, c = k % 36;
    int x = x0 + c - 2, z = z0 + r - 2;
    t.v[r][c] = (x >= 0 && x < NX && z >= 0 && z < NZ) ? g[z * NX + x] : 0.f;
  }
}

__global__ void elasticVelUpdate(float *vx, float *vz, const float *txx, const float *tzz,
                                 const float *txz, const float *buoy, int NX, int NZ, float dtdx)
{
  __shared__ Tile sxx, szz, sxz;
  const int x0 = blockIdx.x * 32, z0 = blockIdx.y * 8;
  fetchTile(sxx, txx, x0, z0, NX, NZ);
  fetchTile(szz, tzz, x0, z0, NX, NZ);
  fetchTile(sxz, txz, x0, z0, NX, NZ);
  __syncthreads();
  const int x = x0 + threadIdx.x, z = z0 + threadIdx.y;
  if (x >= NX || z >= NZ) return;
  const int i = threadIdx.x + 2, j = threadIdx.y + 2;
  const float c1 = 9.f / 8.f, c2 = -1.f / 24.f;
  float dxx = c1 * (sxx.v[j][i + 1] - sxx.v[j][i]) + c2 * (sxx.v[j][i + 2] - sxx.v[j][i - 1]);
  float dxz = c1 * (sxz.v[j][i] - sxz.v[j - 1][i]) + c2 * (sxz.v[j + 1][i] - sxz.v[j - 2][i]);
  float dzz = c1 * (szz.v[j + 1][i] - szz.v[j][i]) + c2 * (szz.v[j + 2][i] - szz.v[j - 1][i]);
  float dzx = c1 * (sxz.v[j][i] - sxz.v[j][i - 1]) + c2 * (sxz.v[j][i + 1] - sxz.v[j][i - 2]);
  float b = buoy[z * NX + x] * dtdx;
  vx[z * NX + x] += b * (dxx + dxz);
  vz[z * NX + x] += b * (dzz + dzx);
}

// ---------------------------------------------------------------------------
// 3. Kirchhoff time summation; one trace at a time kept in dynamic shared memory
// ---------------------------------------------------------------------------
struct SrcRec { float sx, rx; };
template <int NTHR>
__global__ void kirchhoffSum(const float *__restrict__ traces, const SrcRec *__restrict__ geo,
                             float *__restrict__ image, int ns, int ntr, int nx, float dx, float dz,
                             float inv_v_dt) {
  extern __shared__ float trc[];
  int ix = blockIdx.x * NTHR + threadIdx.x;
  int iz = blockIdx.y;
  float xx = ix * dx, zz = (iz + 1) * dz;
  float stack = 0.f;
  for (int t = 0; t < ntr; ++t) {
    for (int k = threadIdx.x; k < ns; k += NTHR) trc[k] = traces[(size_t)t * ns + k];
    SrcRec g = geo[t];
    __syncthreads();
    float as = xx - 400.f * g.sx, ar = xx - 400.f * g.rx;
    float tt = (sqrtf(as * as + zz * zz) + sqrtf(ar * ar + zz * zz)) * inv_v_dt;
    int it = (int)tt;
    if (it >= 0 && it < ns - 1) {
      float w = tt - it;
      stack += (1.f - w) * trc[it] + w * trc[it + 1];
    }
    __syncthreads();
  }
  if (ix < nx) image[(size_t)iz * nx + ix] = stack;
}

// ---------------------------------------------------------------------------
// 4. semblance panel of one CMP gather: block = one (velocity, time) pair
// ---------------------------------------------------------------------------
enum { NOFF_MAX = 64, WIN = 11 };
__global__ void semblancePanel(const float *gather, float *panel, int noff, int ns, int nvel, float dt) {
  __shared__ float amp[WIN][NOFF_MAX + 1];
  __shared__ float num[WIN], den[WIN];
  const int h = threadIdx.x;
  const int iv = blockIdx.x, it0 = blockIdx.y;
  const float v = 1500.f + 25.f * iv;
  const float off = 50.f + 60.f * h;
  for (int w = 0; w < WIN; w++) {
    float a = 0.f;
    if (h < noff) {
      float t0 = (it0 + w - WIN / 2) * dt;
      float t = sqrtf(t0 * t0 + off * off / (v * v)) / dt;
      int k = (int)floorf(t);
      if (k + 1 < ns) {
        float f = t - k;
        a = gather[h * ns + k] * (1.f - f) + gather[h * ns + k + 1] * f - 6.f;
      }
    }
    amp[w][h] = a;
  }
  __syncthreads();
  if (h < WIN) {
    float s = 0.f, e = 0.f;
    for (int j = 0; j < noff; j++) { float a = amp[h][j]; s += a; e += a * a; }
    num[h] = s * s;
    den[h] = e;
  }
  __syncthreads();
  if (h == 0) {
    float n = 0, d = 1e-9f;
    for (int w = 0; w < WIN; ++w) { n += num[w]; d += den[w]; }
    panel[(size_t)it0 * nvel + iv] = n / (noff * d);
  }
}

// ---------------------------------------------------------------------------
// 5. automatic gain control, running window from a prefix sum of squares
// ---------------------------------------------------------------------------
#define AGC_THREADS 256
#define AGC_CHUNK 8
__global__ void agc_trace(const float *in, float *out, int nsamp, int half) {
  __shared__ double prefix[AGC_THREADS * AGC_CHUNK + 1];
  __shared__ double part[2][AGC_THREADS];
  const float *x = in + (size_t)blockIdx.x * nsamp;
  int t = threadIdx.x, base = t * AGC_CHUNK;
  for (int i = t; i < AGC_THREADS * AGC_CHUNK; i += AGC_THREADS)
    prefix[i + 1] = i < nsamp ? (double)x[i] * x[i] : 0.0;
  if (t == 0) prefix[0] = 0.0;
  __syncthreads();
  double s = 0.0;
  for (int k = 1; k <= AGC_CHUNK; k++) { s += prefix[base + k]; prefix[base + k] = s; }
  int cur = 0;
  part[0][t] = s;
  __syncthreads();
  for (int d = 1; d < AGC_THREADS; d <<= 1) {
    double v = part[cur][t];
    if (t >= d) v += part[cur][t - d];
    part[cur ^ 1][t] = v;
    cur ^= 1;
    __syncthreads();
  }
  double add = t ? part[cur][t - 1] : 0.0;
  for (int k = 1; k <= AGC_CHUNK; k++) prefix[base + k] += add;
  __syncthreads();
  for (int i = t; i < nsamp; i += AGC_THREADS) {
    int lo = max(i - half, 0), hi = min(i + half + 1, nsamp);
    double e = (prefix[hi] - prefix[lo]) / (hi - lo);
    out[(size_t)blockIdx.x * nsamp + i] = (float)(x[i] / sqrt(e + 1e-6));
  }
}

// ---------------------------------------------------------------------------
// 6. implicit vertical diffusion, Thomas algorithm, one column per thread
// ---------------------------------------------------------------------------
#define MAXLEV 64
__global__ void vdiff_thomas(const float *__restrict__ kh, float *__restrict__ theta, int ncol, int nlev, float dtdz2) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= ncol) return;
  float cp[MAXLEV], dp[MAXLEV];
  float kup = dtdz2 * kh[col];
  cp[0] = -kup / (1.f + kup);
  dp[0] = theta[col] / (1.f + kup);
  for (int k = 1; k < nlev; k++) {
    float klo = kup;
    kup = (k < nlev - 1) ? dtdz2 * kh[(size_t)k * ncol + col] : 0.f;
    float b = 1.f + klo + kup;
    float m = 1.f / (b + klo * cp[k - 1]);
    cp[k] = -kup * m;
    dp[k] = (theta[(size_t)k * ncol + col] + klo * dp[k - 1]) * m;
  }
  float x = dp[nlev - 1];
  theta[(size_t)(nlev - 1) * ncol + col] = x;
  for (int k = nlev - 2; k >= 0; k--) {
    x = dp[k] - cp[k] * x;
    theta[(size_t)k * ncol + col] = x;
  }
}

// ---------------------------------------------------------------------------
// 7. longwave fluxes: optical depth summed from the top, 32 columns per block
// ---------------------------------------------------------------------------
template <int NCOL, int NLEV>
__global__ void lw_flux(const double *dtau, const double *temp, double *flux, double *olr, int ncols)
{
  __shared__ double tau[NLEV + 1][NCOL];
  int c = blockIdx.x * NCOL + threadIdx.x;
  bool ok = c < ncols;
  for (int k = threadIdx.y; k < NLEV; k += blockDim.y)
    tau[k + 1][threadIdx.x] = ok ? 0.02 * dtau[(size_t)k * ncols + c] : 0.0;
  if (threadIdx.y == 0) tau[0][threadIdx.x] = 0.0;
  __syncthreads();
  if (threadIdx.y == 0)
    for (int k = 1; k <= NLEV; k++) tau[k][threadIdx.x] += tau[k - 1][threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < NLEV; k += blockDim.y) {
    double T = 200.0 + 8.0 * (ok ? temp[(size_t)k * ncols + c] : 0.0);
    double B = 5.67e-8 * T * T * T * T;
    double f = B * (exp(-tau[k][threadIdx.x]) - exp(-tau[k + 1][threadIdx.x]));
    if (ok) flux[(size_t)k * ncols + c] = f;
  }
  __syncthreads();
  if (threadIdx.y == 0 && ok) olr[c] = 390.0 * exp(-tau[NLEV][threadIdx.x]);
}

// ---------------------------------------------------------------------------
// 8. WENO-5 advection along x, periodic, fluxes staged in shared memory
// ---------------------------------------------------------------------------
__device__ double weno5(double a, double b, double c, double d, double e) {
  double q0 = (2 * a - 7 * b + 11 * c) / 6, q1 = (-b + 5 * c + 2 * d) / 6, q2 = (2 * c + 5 * d - e) / 6;
  double t0 = a - 2 * b + c, t1 = b - 2 * c + d, t2 = c - 2 * d + e;
  double u0 = a - 4 * b + 3 * c, u1 = b - d, u2 = 3 * c - 4 * d + e;
  double b0 = 13. / 12 * t0 * t0 + .25 * u0 * u0, b1 = 13. / 12 * t1 * t1 + .25 * u1 * u1,
         b2 = 13. / 12 * t2 * t2 + .25 * u2 * u2;
  double w0 = .1 / ((b0 + 1e-6) * (b0 + 1e-6)), w1 = .6 / ((b1 + 1e-6) * (b1 + 1e-6)),
         w2 = .3 / ((b2 + 1e-6) * (b2 + 1e-6));
  return (w0 * q0 + w1 * q1 + w2 * q2) / (w0 + w1 + w2);
}

constexpr int WB = 128;
__global__ void advectWenoX(const double *__restrict__ qin, double *__restrict__ qout, int nx, double cfl) {
  __shared__ double q[WB + 6];
  __shared__ double fl[WB + 1];
  const int i0 = blockIdx.x * WB;
  const size_t row = (size_t)blockIdx.y * nx;
  for (int k = threadIdx.x; k < WB + 6; k += WB) {
    int g = i0 + k - 3;
    g = (g % nx + nx) % nx;
    q[k] = qin[row + g];
  }
  __syncthreads();
  // flux at the left face of cell t uses cells t-3 .. t+1 (tile index t .. t+4)
  for (int f = threadIdx.x; f <= WB; f += WB) fl[f] = cfl * weno5(q[f], q[f + 1], q[f + 2], q[f + 3], q[f + 4]);
  __syncthreads();
  int i = i0 + threadIdx.x;
  if (i < nx) qout[row + i] = q[threadIdx.x + 3] - (fl[threadIdx.x + 1] - fl[threadIdx.x]);
}

int main() {
  {
    const float w[RAD + 1] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
    cudaMemcpyToSymbol(c_coef, w, sizeof w);
    int nx = 424, ny = 410, nz = 140;
    size_t n = (size_t)nx * ny * nz;
    float *p = mk<float>(n), *q = mk<float>(n), *v = mk<float>(n);
    acoustic_iso_8th<<<dim3((nx + BDX - 1) / BDX, (ny + BDY - 1) / BDY), dim3(BDX, BDY)>>>(p, q, v, nx, ny, nz);
    show("acoustic_iso_8th", q, n * sizeof(float));
    cudaFree(p); cudaFree(q); cudaFree(v);
  }
  {
    int NX = 3001, NZ = 1750, n = NX * NZ;
    float *f[6];
    for (int k = 0; k < 6; k++) f[k] = mk<float>(n);
    elasticVelUpdate<<<dim3((NX + 31) / 32, (NZ + 7) / 8), dim3(32, 8)>>>(f[0], f[1], f[2], f[3], f[4], f[5], NX, NZ, 1e-3f);
    show("elasticVelUpdate", f[0], n * 4ul);
    show("elasticVelUpdate", f[1], n * 4ul);
  }
  {
    int ns = 1501, ntr = 40, nx = 1200, nz = 500;
    float *t = mk<float>(ns * ntr), *im = mk<float>(nx * nz);
    SrcRec *g = (SrcRec *)mk<float>(2 * ntr);
    kirchhoffSum<256><<<dim3((nx + 255) / 256, nz), 256, ns * sizeof(float)>>>(t, g, im, ns, ntr, nx, 5.f, 4.f, 0.2f);
    show("kirchhoffSum", im, nx * nz * sizeof(float));
  }
  {
    int noff = 48, ns = 1000, nvel = 91;
    float *g = mk<float>(noff * ns), *p = mk<float>(ns * nvel);
    semblancePanel<<<dim3(nvel, ns), NOFF_MAX>>>(g, p, noff, ns, nvel, 0.004f);
    show("semblancePanel", p, ns * nvel * sizeof(float));
  }
  {
    int ns = 2001, ntr = 8000;
    float *a = mk<float>((size_t)ns * ntr), *b = mk<float>((size_t)ns * ntr);
    agc_trace<<<ntr, AGC_THREADS>>>(a, b, ns, 125);
    show("agc_trace", b, (size_t)ns * ntr * 4);
    cudaFree(a); cudaFree(b);
  }
  {
    int ncol = 500 * 421, nlev = 60;
    float *k = mk<float>((size_t)ncol * nlev), *th = mk<float>((size_t)ncol * nlev);
    vdiff_thomas<<<(ncol + 127) / 128, 128>>>(k, th, ncol, nlev, 0.3f);
    show("vdiff_thomas", th, (size_t)ncol * nlev * 4);
  }
  {
    int nc = 180001;
    double *d = mk<double>((size_t)nc * 56), *T = mk<double>((size_t)nc * 56), *f = mk<double>((size_t)nc * 56), *o = mk<double>(nc);
    lw_flux<32, 56><<<(nc + 31) / 32, dim3(32, 8)>>>(d, T, f, o, nc);
    show("lw_flux", f, (size_t)nc * 56 * 8);
    show("lw_flux", o, (size_t)nc * 8);
  }
  {
    int nx = 3600, ny = 1801;
    double *a = mk<double>((size_t)nx * ny), *b = mk<double>((size_t)nx * ny);
    advectWenoX<<<dim3((nx + WB - 1) / WB, ny), WB>>>(a, b, nx, 0.4);
    show("advectWenoX", b, (size_t)nx * ny * 8);
  }
  return 0;
}
