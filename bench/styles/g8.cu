// particles, waves, spins
#include "shown.h"
#include <math.h>

#define P_BLOCK 256
__device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj, float eps2) {
  float3 r;
  r.x = bj.x - bi.x;
  r.y = bj.y - bi.y;
  r.z = bj.z - bi.z;
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + eps2;
  float invDist = rsqrtf(distSqr);
  float s = bj.w * invDist * invDist * invDist;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}
__global__ void integrateBodies(const float4 *__restrict__ pos, float4 *__restrict__ acc, int numBodies, float eps2) {
  extern __shared__ float4 sharedPos[];
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = index < numBodies ? pos[index] : make_float4(0, 0, 0, 0);
  float3 a = {0.f, 0.f, 0.f};
  int numTiles = (numBodies + blockDim.x - 1) / blockDim.x;
  for (int tile = 0; tile < numTiles; tile++) {
    int j = tile * blockDim.x + threadIdx.x;
    sharedPos[threadIdx.x] = j < numBodies ? pos[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (unsigned int c = 0; c < blockDim.x; c++) a = bodyBodyInteraction(a, p, sharedPos[c], eps2);
    __syncthreads();
  }
  if (index < numBodies) acc[index] = make_float4(a.x, a.y, a.z, 0.f);
}

// Lennard-Jones on a cell grid: one block per cell, neighbours staged cell after cell
#define CELL_CAP 64
#define NC 24
__global__ void lj_cells(const float4 *pos, const int *count, float4 *force) {
  __shared__ float4 nb[CELL_CAP];
  __shared__ int s_n;
  int cx = blockIdx.x % NC, cy = (blockIdx.x / NC) % NC, cz = blockIdx.x / (NC * NC);
  int n_own = 40 + count[blockIdx.x];
  int t = threadIdx.x;
  float4 p = pos[(size_t)blockIdx.x * CELL_CAP + t];
  float fx = 0, fy = 0, fz = 0, pe = 0;
  for (int d = 0; d < 27; ++d) {
    int x = cx + d % 3 - 1, y = cy + (d / 3) % 3 - 1, z = cz + d / 9 - 1;
    x = (x + NC) % NC;
    y = (y + NC) % NC;
    z = (z + NC) % NC;
    int c = (z * NC + y) * NC + x;
    __syncthreads();
    nb[t] = pos[(size_t)c * CELL_CAP + t];
    if (t == 0) s_n = 40 + count[c];
    __syncthreads();
    if (t < n_own)
      for (int j = 0; j < s_n; ++j) {
        float dx = p.x - nb[j].x, dy = p.y - nb[j].y, dz = p.z - nb[j].z;
        float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < 6.25f && r2 > 0.01f) {
          float ir2 = 1.f / (r2 + 0.5f), ir6 = ir2 * ir2 * ir2;
          float f = ir6 * (48.f * ir6 - 24.f) * ir2;
          fx += f * dx;
          fy += f * dy;
          fz += f * dz;
          pe += 4.f * ir6 * (ir6 - 1.f);
        }
      }
  }
  if (t < n_own) force[(size_t)blockIdx.x * CELL_CAP + t] = make_float4(fx, fy, fz, pe);
}

// SPH density along a sorted line of particles, fixed neighbour span
#define SPAN 24
__global__ void sph_density(const float2 *xm, float *rho, int n, float h) {
  __shared__ float2 s[192 + 2 * SPAN];
  int i = blockIdx.x * 192 + threadIdx.x;
  for (int k = threadIdx.x; k < 192 + 2 * SPAN; k += 192) {
    int g = (int)blockIdx.x * 192 - SPAN + k;
    float2 v = make_float2(1e6f, 0.f);
    if (g >= 0 && g < n) v = xm[g];
    s[k] = v;
  }
  __syncthreads();
  if (i >= n) return;
  float2 me = s[threadIdx.x + SPAN];
  float sum = 0.f;
  for (int k = 0; k <= 2 * SPAN; ++k) {
    float2 o = s[threadIdx.x + k];
    float q = fabsf(o.x - me.x) / h;
    if (q < 1.f) {
      float w = 1.f - q * q;
      sum += o.y * w * w * w;
    }
  }
  rho[i] = sum;
}

// 2-D acoustic wave, fourth order in space
#define WX 32
#define WY 8
#define R2 2
__global__ void wave2d(const float *u, const float *um, float *up, const float *c2, int nx, int ny) {
  __shared__ float s[WY + 2 * R2][WX + 2 * R2];
  int ix = blockIdx.x * WX + threadIdx.x + R2, iy = blockIdx.y * WY + threadIdx.y + R2;
  int tx = threadIdx.x + R2, ty = threadIdx.y + R2;
  int id = iy * nx + ix;
  s[ty][tx] = u[id];
  if (threadIdx.x < R2) {
    s[ty][tx - R2] = u[id - R2];
    s[ty][tx + WX] = u[id + WX];
  }
  if (threadIdx.y < R2) {
    s[ty - R2][tx] = u[id - R2 * nx];
    s[ty + WY][tx] = u[id + WY * nx];
  }
  __syncthreads();
  float lap = -5.0f * s[ty][tx] + (4.f / 3.f) * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]) -
              (1.f / 12.f) * (s[ty][tx - 2] + s[ty][tx + 2] + s[ty - 2][tx] + s[ty + 2][tx]);
  up[id] = 2.f * s[ty][tx] - um[id] + 0.01f * c2[id] * lap;
}

// 3-D FD, radius 4, register queue along z and a shared plane
#define RAD 4
#define BX 32
#define BY 16
__constant__ float stencil[RAD + 1];
__global__ void fd3d(float *output, const float *input, int dimx, int dimy, int dimz) {
  __shared__ float tile[BY + 2 * RAD][BX + 2 * RAD];
  const int px = dimx + 2 * RAD, py = dimy + 2 * RAD;
  const int plane = px * py;
  int gx = blockIdx.x * BX + threadIdx.x, gy = blockIdx.y * BY + threadIdx.y;
  int tx = threadIdx.x + RAD, ty = threadIdx.y + RAD;
  int idx = (gy + RAD) * px + gx + RAD;
  float infront[RAD], behind[RAD], current;
  for (int i = RAD - 2; i >= 0; i--) {
    behind[i] = input[idx];
    idx += plane;
  }
  current = input[idx];
  int outidx = idx;
  idx += plane;
  for (int i = 0; i < RAD; i++) {
    infront[i] = input[idx];
    idx += plane;
  }
  behind[RAD - 1] = 0.f;
  for (int iz = 0; iz < dimz; iz++) {
    for (int i = RAD - 1; i > 0; i--) behind[i] = behind[i - 1];
    behind[0] = current;
    current = infront[0];
    for (int i = 0; i < RAD - 1; i++) infront[i] = infront[i + 1];
    infront[RAD - 1] = input[idx];
    idx += plane;
    outidx += plane;
    __syncthreads();
    if (threadIdx.y < RAD) {
      tile[threadIdx.y][tx] = input[outidx - RAD * px];
      tile[threadIdx.y + BY + RAD][tx] = input[outidx + BY * px];
    }
    if (threadIdx.x < RAD) {
      tile[ty][threadIdx.x] = input[outidx - RAD];
      tile[ty][threadIdx.x + BX + RAD] = input[outidx + BX];
    }
    tile[ty][tx] = current;
    __syncthreads();
    float value = stencil[0] * current;
#pragma unroll
    for (int i = 1; i <= RAD; i++)
      value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
    output[outidx] = value;
  }
}

// Ising sweeps kept inside a tile (periodic within the tile), checkerboard
__global__ void ising_tile(int *spin, int n, int sweeps, unsigned seed) {
  __shared__ int s[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  s[ty][tx] = (spin[y * n + x] & 1) ? 1 : -1;
  unsigned r = seed + (y * n + x) * 747796405u;
  __syncthreads();
  for (int k = 0; k < 2 * sweeps; ++k) {
    if (((tx + ty) & 1) == (k & 1)) {
      int sum = s[(ty + 1) & 15][tx] + s[(ty + 15) & 15][tx] + s[ty][(tx + 1) & 15] + s[ty][(tx + 15) & 15];
      r = r * 1664525u + 1013904223u;
      int dE = 2 * s[ty][tx] * sum;
      if (dE <= 0 || (r >> 16) < 65536u / (unsigned)(1 + dE * dE)) s[ty][tx] = -s[ty][tx];
    }
    __syncthreads();
  }
  spin[y * n + x] = s[ty][tx];
}

int main() {
  {
    const int n = 30000;
    float *p = mk<float>(4 * n), *a = mk<float>(4 * n);
    dim3 g((n + P_BLOCK - 1) / P_BLOCK), b(P_BLOCK);
    integrateBodies<<<g, b, P_BLOCK * sizeof(float4)>>>((const float4 *)p, (float4 *)a, n, 0.01f);
    show("integrateBodies", a, n * 16);
  }
  {
    const int cells = NC * NC * NC;
    float *p = mk<float>((size_t)cells * CELL_CAP * 4), *f = mk<float>((size_t)cells * CELL_CAP * 4);
    int *c = mk<int>(cells);
    lj_cells<<<cells, CELL_CAP>>>((const float4 *)p, c, (float4 *)f);
    show("lj_cells", f, (size_t)cells * CELL_CAP * 16);
  }
  {
    const int n = 1 << 22;
    float *x = mk<float>(2 * (size_t)n), *r = mk<float>(n);
    sph_density<<<(n + 191) / 192, 192>>>((const float2 *)x, r, n, 3.f);
    show("sph_density", r, (size_t)n * 4);
  }
  {
    const int ix = 2048, iy = 2048, nx = ix + 2 * R2, ny = iy + 2 * R2;
    size_t n = (size_t)nx * ny;
    float *u = mk<float>(n), *um = mk<float>(n), *up = mk<float>(n), *c = mk<float>(n);
    dim3 b(WX, WY), g(ix / WX, iy / WY);
    for (int t = 0; t < 3; ++t) {
      wave2d<<<g, b>>>(u, um, up, c, nx, ny);
      float *k = um;
      um = u;
      u = up;
      up = k;
    }
    show("wave2d", u, n * 4);
  }
  {
    const int d = 256, pd = d + 2 * RAD;
    size_t n = (size_t)pd * pd * (pd + 2);
    float h[RAD + 1] = {0.5f, 0.1f, 0.05f, 0.02f, 0.01f};
    cudaMemcpyToSymbol(stencil, h, sizeof(h));
    float *i = mk<float>(n), *o = mk<float>(n);
    fd3d<<<dim3(d / BX, d / BY), dim3(BX, BY)>>>(o, i, d, d, d);
    show("fd3d", o, n * 4);
  }
  {
    const int n = 2048;
    int *s = mk<int>(n * n);
    ising_tile<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(s, n, 20, 77u);
    show("ising_tile", s, (size_t)n * n * 4);
  }
  return 0;
}
