/* h8: computational physics */
#include "shown.h"
#include <math.h>
#include <vector>

/* ---- all-pairs gravity (GPU Gems style) ---- */
#define SOFT 0.01f
__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai)
{
  float3 r;
  r.x = bj.x - bi.x;
  r.y = bj.y - bi.y;
  r.z = bj.z - bi.z;
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + SOFT;
  float distSixth = distSqr * distSqr * distSqr;
  float invDistCube = 1.0f/sqrtf(distSixth);
  float s = bj.w * invDistCube;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}
__device__ float3 tile_calculation(float4 myPosition, float4 *shPosition, int cnt, float3 accel)
{
  for (int i = 0; i < cnt; i++)
    accel = bodyBodyInteraction(myPosition, shPosition[i], accel);
  return accel;
}
__global__ void calculate_forces(const float4 *globalX, float4 *globalA, int N)
{
  extern __shared__ float4 shPosition[];
  float4 myPosition = make_float4(0, 0, 0, 0);
  float3 acc = {0.0f, 0.0f, 0.0f};
  int gtid = blockIdx.x * blockDim.x + threadIdx.x;
  if (gtid < N) myPosition = globalX[gtid];
  for (int i = 0, tile = 0; i < N; i += blockDim.x, tile++) {
    int idx = tile * blockDim.x + threadIdx.x;
    if (idx < N) shPosition[threadIdx.x] = globalX[idx];
    __syncthreads();
    acc = tile_calculation(myPosition, shPosition, min((int)blockDim.x, N - i), acc);
    __syncthreads();
  }
  if (gtid < N) globalA[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

/* ---- D2Q9 lattice Boltzmann, pull scheme, distributions in local array ---- */
__constant__ int   lbm_cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int   lbm_cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ int   lbm_opp[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant__ float lbm_w[9] = {4.f/9, 1.f/9, 1.f/9, 1.f/9, 1.f/9, 1.f/36, 1.f/36, 1.f/36, 1.f/36};

__device__ void equilibrium(float rho, float ux, float uy, float *feq)
{
  float usq = 1.5f * (ux * ux + uy * uy);
  for (int q = 0; q < 9; q++) {
    float cu = 3.f * (lbm_cx[q] * ux + lbm_cy[q] * uy);
    feq[q] = lbm_w[q] * rho * (1.f + cu + 0.5f * cu * cu - usq);
  }
}
__global__ void lbm_step(const float *fin, float *fout, const unsigned char *solid, int nx, int ny, float omega)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int n = nx * ny, me = y * nx + x;
  float f[9], feq[9];
  for (int q = 0; q < 9; q++) {
    int sx = (x - lbm_cx[q] + nx) % nx, sy = (y - lbm_cy[q] + ny) % ny;
    f[q] = fin[q * n + sy * nx + sx];
  }
  if (solid[me]) {
    for (int q = 0; q < 9; q++) fout[q * n + me] = f[lbm_opp[q]];
    return;
  }
  float rho = 0.f, ux = 0.f, uy = 0.f;
  for (int q = 0; q < 9; q++) { rho += f[q]; ux += lbm_cx[q] * f[q]; uy += lbm_cy[q] * f[q]; }
  ux /= rho; uy /= rho;
  equilibrium(rho, ux, uy, feq);
  for (int q = 0; q < 9; q++) fout[q * n + me] = f[q] + omega * (feq[q] - f[q]);
}

/* ---- 3D finite difference, radius 4, FDTD3d style ---- */
#define RADIUS 4
#define k_blockDimX 32
#define k_blockDimY 16
__constant__ float stencil[RADIUS + 1];
__global__ void FiniteDifferences3D(float *output, const float *input, const int dimx, const int dimy, const int dimz)
{
  bool validr = true, validw = true;
  const int gtidx = blockIdx.x * blockDim.x + threadIdx.x;
  const int gtidy = blockIdx.y * blockDim.y + threadIdx.y;
  const int ltidx = threadIdx.x;
  const int ltidy = threadIdx.y;
  const int workx = blockDim.x;
  const int worky = blockDim.y;
  __shared__ float tile[k_blockDimY + 2 * RADIUS][k_blockDimX + 2 * RADIUS];

  const int stride_y = dimx + 2 * RADIUS;
  const int stride_z = stride_y * (dimy + 2 * RADIUS);
  int inputIndex = 0, outputIndex = 0;
  // Advance inputIndex to start of inner volume
  inputIndex += RADIUS * stride_y + RADIUS;
  inputIndex += gtidy * stride_y + gtidx;

  float infront[RADIUS], behind[RADIUS], current;
  const int tx = ltidx + RADIUS, ty = ltidy + RADIUS;

  if ((gtidx >= dimx + RADIUS) || (gtidy >= dimy + RADIUS)) validr = false;
  if ((gtidx >= dimx) || (gtidy >= dimy)) validw = false;

  for (int i = RADIUS - 2; i >= 0; i--) {
    behind[i] = validr ? input[inputIndex] : 0.f;
    inputIndex += stride_z;
  }
  behind[RADIUS - 1] = 0.f;
  current = validr ? input[inputIndex] : 0.f;
  outputIndex = inputIndex;
  inputIndex += stride_z;
  for (int i = 0; i < RADIUS; i++) {
    infront[i] = validr ? input[inputIndex] : 0.f;
    inputIndex += stride_z;
  }

  for (int iz = 0; iz < dimz; iz++) {
    for (int i = RADIUS - 1; i > 0; i--) behind[i] = behind[i - 1];
    behind[0] = current;
    current = infront[0];
#pragma unroll
    for (int i = 0; i < RADIUS - 1; i++) infront[i] = infront[i + 1];
    if (validr) infront[RADIUS - 1] = input[inputIndex];
    inputIndex += stride_z;
    outputIndex += stride_z;
    __syncthreads();

    if (ltidy < RADIUS) {
      tile[ltidy][tx] = validr ? input[outputIndex - RADIUS * stride_y] : 0.f;
      tile[ltidy + worky + RADIUS][tx] = (gtidx < dimx + RADIUS && gtidy + worky < dimy + RADIUS) ? input[outputIndex + worky * stride_y] : 0.f;
    }
    if (ltidx < RADIUS) {
      tile[ty][ltidx] = validr ? input[outputIndex - RADIUS] : 0.f;
      tile[ty][ltidx + workx + RADIUS] = (gtidy < dimy + RADIUS && gtidx + workx < dimx + RADIUS) ? input[outputIndex + workx] : 0.f;
    }
    tile[ty][tx] = current;
    __syncthreads();

    float value = stencil[0] * current;
#pragma unroll
    for (int i = 1; i <= RADIUS; i++)
      value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
    if (validw) output[outputIndex] = value;
  }
}

/* ---- Ising checkerboard, spins of the other colour in shared ---- */
__device__ inline unsigned hash3(unsigned a, unsigned b, unsigned c)
{
  unsigned h = a * 0x9E3779B1u ^ b * 0x85EBCA77u ^ c * 0xC2B2AE3Du;
  h ^= h >> 15; h *= 0x2C1B3C6Du; h ^= h >> 12; h *= 0x297A2D39u; h ^= h >> 15;
  return h;
}
#define IS_T 24
__global__ void ising_sweeps(const signed char *in, signed char *out, int L, float beta, int sweeps)
{
  __shared__ signed char s[IS_T + 2][IS_T + 2];
  __shared__ float ex[10];
  int x0 = blockIdx.x * IS_T, y0 = blockIdx.y * IS_T;
  if (threadIdx.y == 0 && threadIdx.x < 10) ex[threadIdx.x] = expf(-2.f * beta * ((int)threadIdx.x - 4));
  for (int j = threadIdx.y; j < IS_T + 2; j += blockDim.y)
    for (int i = threadIdx.x; i < IS_T + 2; i += blockDim.x) {
      int x = (x0 + i - 1 + L) % L, y = (y0 + j - 1 + L) % L;
      s[j][i] = (in[y * L + x] & 1) ? 1 : -1;
    }
  __syncthreads();
  for (int k = 0; k < 2 * sweeps; k++) {
    int i = 2 * threadIdx.x + ((threadIdx.y + k) & 1);   /* blockDim = (IS_T/2, IS_T) */
    int j = threadIdx.y;
    int sum = s[j][i + 1] + s[j + 2][i + 1] + s[j + 1][i] + s[j + 1][i + 2];
    int me = s[j + 1][i + 1];
    float u = hash3(x0 + i, y0 + j, k) * 2.3283064e-10f;
    if (u < ex[me * sum + 4]) s[j + 1][i + 1] = -me;
    __syncthreads();
  }
  for (int i = threadIdx.x; i < IS_T; i += blockDim.x) {
    int x = x0 + i, y = y0 + threadIdx.y;
    if (x < L && y < L) out[y * L + x] = s[threadIdx.y + 1][i + 1];
  }
}

/* ---- heat equation, several time steps in a shared tile (ghost zone) 1-D, double ---- */
template <int STEPS, int NT>
__global__ void heat1d_ghost(const double *u, double *v, unsigned n, double r)
{
  __shared__ double a[NT], b[NT];
  int g = (int)(blockIdx.x * (NT - 2 * STEPS)) + (int)threadIdx.x - STEPS;
  bool inside = g >= 0 && g < (int)n;
  a[threadIdx.x] = inside ? u[g] : 0.0;
  double *p = a, *q = b;
  __syncthreads();
  for (int t = 0; t < STEPS; ++t) {
    double c = p[threadIdx.x];
    if (threadIdx.x > 0 && threadIdx.x < NT - 1 && g > 0 && g < (int)n - 1)
      c += r * (p[threadIdx.x - 1] - 2.0 * c + p[threadIdx.x + 1]);
    q[threadIdx.x] = c;
    __syncthreads();
    double *tmp = p; p = q; q = tmp;
  }
  if (inside && threadIdx.x >= STEPS && threadIdx.x < NT - STEPS) v[g] = p[threadIdx.x];
}

/* ---- FORCE/HLL flux for the Euler equations, states staged as struct ---- */
typedef struct { double rho, mu, mv, E; } State;
__device__ State flux_x(const State &s, double &p, double &u)
{
  u = s.mu / s.rho;
  double v = s.mv / s.rho;
  p = 0.4 * (s.E - 0.5 * s.rho * (u * u + v * v));
  State f;
  f.rho = s.mu; f.mu = s.mu * u + p; f.mv = s.mv * u; f.E = u * (s.E + p);
  return f;
}
__global__ void euler_x_sweep(const State *U, State *Unew, int nx, int ny, double dtdx)
{
  __shared__ State F[4][66];
  __shared__ State S[4][66];
  int i = blockIdx.x * 64 + threadIdx.x - 1;  // 66 threads: one ghost on both sides
  int j = blockIdx.y * 4 + threadIdx.y;
  int ic = i < 0 ? 0 : (i >= nx ? nx - 1 : i);
  int jc = j < ny ? j : ny - 1;
  State s = U[(size_t)jc * nx + ic];
  s.rho += 1.0; s.E += 40.0;
  S[threadIdx.y][threadIdx.x] = s;
  double p, u;
  F[threadIdx.y][threadIdx.x] = flux_x(s, p, u);
  double a = fabs(u) + sqrt(1.4 * fabs(p) / s.rho);
  __shared__ double A[4][66];
  A[threadIdx.y][threadIdx.x] = a;
  __syncthreads();
  if (threadIdx.x == 0 || threadIdx.x == 65 || i >= nx || j >= ny) return;
  double ar = fmax(a, A[threadIdx.y][threadIdx.x + 1]), al = fmax(a, A[threadIdx.y][threadIdx.x - 1]);
  const State &L = S[threadIdx.y][threadIdx.x - 1], &R = S[threadIdx.y][threadIdx.x + 1];
  const State &FL = F[threadIdx.y][threadIdx.x - 1], &FR = F[threadIdx.y][threadIdx.x + 1];
  State o;
#define UPD(q) o.q = s.q - 0.5 * dtdx * ((FR.q - FL.q) - ar * (R.q - s.q) + al * (s.q - L.q))
  UPD(rho); UPD(mu); UPD(mv); UPD(E);
  Unew[(size_t)j * nx + i] = o;
}

/* ---- cell list force, particles of a cell in shared ---- */
__global__ void sph_density(const float *px, const float *py, const int *cellStart, float *rho, int gx, int gy, float h2)
{
  const int cell = blockIdx.y * gx + blockIdx.x;
  const int b0 = cellStart[cell], n = cellStart[cell + 1] - b0;
  __shared__ float2 nb[64];
  float x = 0, y = 0, d = 0;
  bool on = (int)threadIdx.x < n;
  if (on) { x = px[b0 + threadIdx.x]; y = py[b0 + threadIdx.x]; }
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      int cx = blockIdx.x + dx, cy = blockIdx.y + dy;
      if (cx < 0 || cy < 0 || cx >= gx || cy >= gy) continue;
      int c0 = cellStart[cy * gx + cx], m = cellStart[cy * gx + cx + 1] - c0;
      __syncthreads();
      for (int k = threadIdx.x; k < m; k += blockDim.x) nb[k] = make_float2(px[c0 + k], py[c0 + k]);
      __syncthreads();
      if (on)
        for (int k = 0; k < m; k++) {
          float ex = nb[k].x - x, ey = nb[k].y - y, q = h2 - ex * ex - ey * ey;
          if (q > 0) d += q * q * q;
        }
    }
  if (on) rho[b0 + threadIdx.x] = d;
}

int main(void)
{
  {
    int n = 20011;
    float4 *x = (float4 *)mk<float>(n * 4), *a = (float4 *)mk<float>(n * 4);
    calculate_forces<<<(n + 127) / 128, 128, 128 * sizeof(float4)>>>(x, a, n);
    show("calculate_forces", a, n * 16);
  }
  {
    int nx = 1502, ny = 1001, n = nx * ny;
    std::vector<float> h(9 * n);
    for (int i = 0; i < 9 * n; i++) h[i] = 0.1f + (i % 37) * 0.001f;
    float *f = mk<float>(9 * n), *g = mk<float>(9 * n);
    cudaMemcpy(f, h.data(), 36ull * n, cudaMemcpyHostToDevice);
    std::vector<unsigned char> so(n);
    for (int i = 0; i < n; i++) so[i] = (i % nx) / 50 % 5 == 0 && (i / nx) / 40 % 3 == 0;
    unsigned char *s = mk<unsigned char>(n);
    cudaMemcpy(s, so.data(), n, cudaMemcpyHostToDevice);
    lbm_step<<<dim3((nx + 63) / 64, (ny + 3) / 4), dim3(64, 4)>>>(f, g, s, nx, ny, 1.3f);
    show("lbm_step", g, 36ull * n);
  }
  {
    int dx = 280, dy = 245, dz = 128;
    size_t vol = (size_t)(dx + 2 * RADIUS) * (dy + 2 * RADIUS) * (dz + 2 * RADIUS);
    size_t tail = (size_t)(dx + 64) * 64;
    float st[RADIUS + 1] = {0.5f, 0.1f, -0.05f, 0.025f, -0.0125f};
    cudaMemcpyToSymbol(stencil, st, sizeof st);
    float *a = mk<float>(vol + tail), *b = mk<float>(vol + tail);
    FiniteDifferences3D<<<dim3((dx + 31) / 32, (dy + 15) / 16), dim3(k_blockDimX, k_blockDimY)>>>(b, a, dx, dy, dz);
    show("FiniteDifferences3D", b, vol * 4);
  }
  {
    int L = 2400;
    signed char *a = mk<signed char>(L * L), *b = mk<signed char>(L * L);
    ising_sweeps<<<dim3(L / IS_T, L / IS_T), dim3(IS_T / 2, IS_T)>>>(a, b, L, 0.42f, 4);
    show("ising_sweeps", b, L * L);
  }
  {
    unsigned n = 10000019;
    double *u = mk<double>(n), *v = mk<double>(n);
    const int S = 6, NT = 192;
    heat1d_ghost<S, NT><<<(n + NT - 2 * S - 1) / (NT - 2 * S), NT>>>(u, v, n, 0.23);
    show("heat1d_ghost", v, 8ull * n);
  }
  {
    int nx = 1999, ny = 1003;
    State *a = (State *)mk<double>(4ull * nx * ny), *b = (State *)mk<double>(4ull * nx * ny);
    euler_x_sweep<<<dim3((nx + 63) / 64, (ny + 3) / 4), dim3(66, 4)>>>(a, b, nx, ny, 0.05);
    show("euler_x_sweep", b, 32ull * nx * ny);
  }
  {
    int gx = 211, gy = 197, nc = gx * gy;
    std::vector<int> cs(nc + 1);
    std::vector<float> x, y;
    unsigned s = 99;
    for (int c = 0; c < nc; c++) {
      s = s * 1664525u + 1013904223u;
      int m = 10 + (s >> 20) % 50;
      for (int k = 0; k < m; k++) {
        s = s * 1664525u + 1013904223u; x.push_back(c % gx + (s >> 8) / 16777216.f);
        s = s * 1664525u + 1013904223u; y.push_back(c / gx + (s >> 8) / 16777216.f);
      }
      cs[c + 1] = (int)x.size();
    }
    int n = (int)x.size();
    float *dx = mk<float>(n), *dy = mk<float>(n), *r = mk<float>(n);
    int *dc = mk<int>(nc + 1);
    cudaMemcpy(dx, x.data(), n * 4ull, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), n * 4ull, cudaMemcpyHostToDevice);
    cudaMemcpy(dc, cs.data(), (nc + 1) * 4ull, cudaMemcpyHostToDevice);
    sph_density<<<dim3(gx, gy), 64>>>(dx, dy, dc, r, gx, gy, 0.8f);
    show("sph_density", r, n * 4ull);
  }
  return 0;
}
