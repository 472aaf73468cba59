// lattice and particle toys
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

void checkLast(const char *what) {
  cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) { fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e)); exit(1); }
}

// ---- Conway's life on a torus
#define LX 32
#define LY 8
__global__ void life_step_torus(const uint8_t *cells, uint8_t *next, int width, int height) {
  __shared__ uint8_t area[LY + 2][LX + 2];
  for (int r = threadIdx.y; r < LY + 2; r += LY) {
    int gy = (int)blockIdx.y * LY + r - 1;
    gy = (gy + height) % height;
    for (int c = threadIdx.x; c < LX + 2; c += LX) {
      int gx = (int)blockIdx.x * LX + c - 1;
      gx = (gx + width) % width;
      area[r][c] = cells[(size_t)gy * width + gx];
    }
  }
  __syncthreads();
  int x = blockIdx.x * LX + threadIdx.x, y = blockIdx.y * LY + threadIdx.y;
  if (x < width && y < height) {
    int c = threadIdx.x + 1, r = threadIdx.y + 1;
    int alive = area[r - 1][c - 1] + area[r - 1][c] + area[r - 1][c + 1] + area[r][c - 1] + area[r][c + 1] + area[r + 1][c - 1] + area[r + 1][c] + area[r + 1][c + 1];
    next[(size_t)y * width + x] = (alive == 3) || (alive == 2 && area[r][c]);
  }
}

// ---- D2Q9, pull scheme; populations that move along x go through shared memory
#define LB_T 128
__device__ __forceinline__ int wrap(int i, int n) { return i < 0 ? i + n : (i >= n ? i - n : i); }
__global__ void lbm_d2q9_pull(const float *fin, float *fout, int nx, int ny, float omega) {
  __shared__ float sE[3][LB_T + 2];  // 1 5 8
  __shared__ float sW[3][LB_T + 2];  // 3 6 7
  const int N = nx * ny;
  int x = blockIdx.x * LB_T + threadIdx.x, y = blockIdx.y;
  int yd = wrap(y - 1, ny), yu = wrap(y + 1, ny);
  int t = threadIdx.x + 1;
  bool act = x < nx;
  if (act) {
    sE[0][t] = fin[1 * N + y * nx + x];
    sE[1][t] = fin[5 * N + yd * nx + x];
    sE[2][t] = fin[8 * N + yu * nx + x];
    sW[0][t] = fin[3 * N + y * nx + x];
    sW[1][t] = fin[6 * N + yd * nx + x];
    sW[2][t] = fin[7 * N + yu * nx + x];
    if (threadIdx.x == 0) {
      int xm = wrap(x - 1, nx);
      sE[0][0] = fin[1 * N + y * nx + xm];
      sE[1][0] = fin[5 * N + yd * nx + xm];
      sE[2][0] = fin[8 * N + yu * nx + xm];
    }
    if (threadIdx.x == LB_T - 1 || x == nx - 1) {
      int xp = wrap(x + 1, nx);
      sW[0][t + 1] = fin[3 * N + y * nx + xp];
      sW[1][t + 1] = fin[6 * N + yd * nx + xp];
      sW[2][t + 1] = fin[7 * N + yu * nx + xp];
    }
  }
  __syncthreads();
  if (!act) return;
  float f0 = fin[y * nx + x], f2 = fin[2 * N + yd * nx + x], f4 = fin[4 * N + yu * nx + x];
  float f1 = sE[0][t - 1], f5 = sE[1][t - 1], f8 = sE[2][t - 1];
  float f3 = sW[0][t + 1], f6 = sW[1][t + 1], f7 = sW[2][t + 1];
  float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
  float ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho, uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho;
  float u2 = 1.5f * (ux * ux + uy * uy);
#define EQ(w, e) ((w) * rho * (1.f + 3.f * (e) + 4.5f * (e) * (e) - u2))
  int id = y * nx + x;
  fout[id] = f0 + omega * (EQ(4.f / 9, 0.f) - f0);
  fout[1 * N + id] = f1 + omega * (EQ(1.f / 9, ux) - f1);
  fout[2 * N + id] = f2 + omega * (EQ(1.f / 9, uy) - f2);
  fout[3 * N + id] = f3 + omega * (EQ(1.f / 9, -ux) - f3);
  fout[4 * N + id] = f4 + omega * (EQ(1.f / 9, -uy) - f4);
  fout[5 * N + id] = f5 + omega * (EQ(1.f / 36, ux + uy) - f5);
  fout[6 * N + id] = f6 + omega * (EQ(1.f / 36, -ux + uy) - f6);
  fout[7 * N + id] = f7 + omega * (EQ(1.f / 36, -ux - uy) - f7);
  fout[8 * N + id] = f8 + omega * (EQ(1.f / 36, ux - uy) - f8);
}

// ---- block local red-black sweep, tile edges frozen
template <int T>
__global__ void rb_block_sweep(const float *u, const float *rhs, float *un, int n, float h2, float w) {
  __shared__ float s[T + 2][T + 2];
  int i = blockIdx.x * T + threadIdx.x + 1, j = blockIdx.y * T + threadIdx.y + 1;  // interior of (n+2)^2
  int ld = n + 2, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  bool in = i <= n && j <= n;
  float f = 0.f;
  if (in) {
    s[ty][tx] = u[j * ld + i];
    f = rhs[j * ld + i];
    if (tx == 1) s[ty][0] = u[j * ld + i - 1];
    if (tx == T || i == n) s[ty][tx + 1] = u[j * ld + i + 1];
    if (ty == 1) s[0][tx] = u[(j - 1) * ld + i];
    if (ty == T || j == n) s[ty + 1][tx] = u[(j + 1) * ld + i];
  }
  __syncthreads();
  for (int colour = 0; colour < 2; colour++) {
    if (in && ((i + j) & 1) == colour) {
      float r = 0.25f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] - h2 * f) - s[ty][tx];
      s[ty][tx] += w * r;
    }
    __syncthreads();
  }
  if (in) un[j * ld + i] = s[ty][tx];
}

// ---- SPH density: a block is a cell, the particles of the 27 cells around are staged one cell at a time
#define CELL_MAX 64
__global__ void sph_density_cells(const float4 *pos, const int *cellStart, float *density, int3 dims, float h) {
  __shared__ float4 nb[CELL_MAX];
  int cx = blockIdx.x, cy = blockIdx.y, cz = blockIdx.z;
  int me = (cz * dims.y + cy) * dims.x + cx;
  int first = cellStart[me], count = min(cellStart[me + 1] - first, CELL_MAX);
  bool act = threadIdx.x < count;
  float4 p = act ? pos[first + threadIdx.x] : make_float4(0, 0, 0, 0);
  float h2 = h * h, rho = 0.f;
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        int x = cx + dx, y = cy + dy, z = cz + dz;
        if (x < 0 || y < 0 || z < 0 || x >= dims.x || y >= dims.y || z >= dims.z) continue;
        int c = (z * dims.y + y) * dims.x + x;
        int s = cellStart[c], m = min(cellStart[c + 1] - s, CELL_MAX);
        if (threadIdx.x < m) nb[threadIdx.x] = pos[s + threadIdx.x];
        __syncthreads();
        if (act)
          for (int k = 0; k < m; k++) {
            float rx = nb[k].x - p.x, ry = nb[k].y - p.y, rz = nb[k].z - p.z;
            float d = h2 - (rx * rx + ry * ry + rz * rz);
            if (d > 0) rho += nb[k].w * d * d * d;
          }
        __syncthreads();
      }
  if (act) density[first + threadIdx.x] = rho * 315.f / (64.f * 3.14159265f * powf(h, 9.f));
}

// ---- Ising, one colour, bytes, hash random numbers
__device__ unsigned hash32(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
  return x;
}
__global__ void ising_halfstep(const signed char *spin, signed char *spinOut, int L, float beta, int colour, unsigned seed) {
  __shared__ signed char s[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;  // L is a multiple of 16
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  s[ly][lx] = spin[y * L + x];
  if (threadIdx.x == 0) s[ly][0] = spin[y * L + (x + L - 1) % L];
  if (threadIdx.x == 15) s[ly][17] = spin[y * L + (x + 1) % L];
  if (threadIdx.y == 0) s[0][lx] = spin[((y + L - 1) % L) * L + x];
  if (threadIdx.y == 15) s[17][lx] = spin[((y + 1) % L) * L + x];
  __syncthreads();
  signed char me = s[ly][lx];
  if (((x ^ y) & 1) == colour) {
    int dE = 2 * me * (s[ly][lx - 1] + s[ly][lx + 1] + s[ly - 1][lx] + s[ly + 1][lx]);
    float r = hash32(seed ^ (unsigned)(y * L + x)) * 2.3283064e-10f;
    if (dE <= 0 || r < __expf(-beta * dE)) me = -me;
  }
  spinOut[y * L + x] = me;
}

int main(int argc, char **argv) {
  int w = 4000, h = 4100;
  std::vector<uint8_t> cells((size_t)w * h);
  for (size_t i = 0; i < cells.size(); i++) cells[i] = ((i * 2654435761u) >> 13) % 3 == 0;
  uint8_t *a, *b;
  cudaMalloc(&a, cells.size()); cudaMalloc(&b, cells.size());
  cudaMemcpy(a, cells.data(), cells.size(), cudaMemcpyHostToDevice);
  dim3 lb(LX, LY), lg((w + LX - 1) / LX, (h + LY - 1) / LY);
  life_step_torus<<<lg, lb>>>(a, b, w, h);
  life_step_torus<<<lg, lb>>>(b, a, w, h);
  checkLast("life");

  int nx = argc > 1 ? atoi(argv[1]) : 1500, ny = 1024;
  std::vector<float> f((size_t)9 * nx * ny);
  const float wt[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
  for (int k = 0; k < 9; k++)
    for (int i = 0; i < nx * ny; i++) f[(size_t)k * nx * ny + i] = wt[k] * (1.f + 0.01f * (i % 13));
  float *f0, *f1;
  cudaMalloc(&f0, f.size() * 4); cudaMalloc(&f1, f.size() * 4);
  cudaMemcpy(f0, f.data(), f.size() * 4, cudaMemcpyHostToDevice);
  lbm_d2q9_pull<<<dim3((nx + LB_T - 1) / LB_T, ny), LB_T>>>(f0, f1, nx, ny, 1.7f);
  checkLast("lbm");

  int n = 3500;
  size_t nn = (size_t)(n + 2) * (n + 2);
  std::vector<float> g(nn);
  for (size_t i = 0; i < nn; i++) g[i] = (float)(i % 71) * 0.1f;
  float *u, *rhs, *un;
  cudaMalloc(&u, nn * 4); cudaMalloc(&rhs, nn * 4); cudaMalloc(&un, nn * 4);
  cudaMemcpy(u, g.data(), nn * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(rhs, g.data(), nn * 4, cudaMemcpyHostToDevice);
  rb_block_sweep<16><<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(u, rhs, un, n, 0.01f, 1.5f);
  checkLast("rb");

  int3 dims = make_int3(32, 32, 32);
  int nc = dims.x * dims.y * dims.z;
  std::vector<int> start(nc + 1);
  for (int c = 0; c < nc; c++) start[c + 1] = start[c] + 12 + (c * 7) % 25;
  int np = start[nc];
  std::vector<float4> pp(np);
  for (int c = 0; c < nc; c++)
    for (int k = start[c]; k < start[c + 1]; k++)
      pp[k] = make_float4(c % 32 + (k * 37 % 100) * 0.01f, c / 32 % 32 + (k * 53 % 100) * 0.01f, c / 1024 + (k * 71 % 100) * 0.01f, 1.f);
  float4 *pos;
  int *cs;
  float *rho;
  cudaMalloc(&pos, np * sizeof(float4)); cudaMalloc(&cs, (nc + 1) * sizeof(int)); cudaMalloc(&rho, np * sizeof(float));
  cudaMemcpy(pos, pp.data(), np * sizeof(float4), cudaMemcpyHostToDevice);
  cudaMemcpy(cs, start.data(), (nc + 1) * sizeof(int), cudaMemcpyHostToDevice);
  sph_density_cells<<<dim3(32, 32, 32), CELL_MAX>>>(pos, cs, rho, dims, 1.0f);
  checkLast("sph");

  int L = 3072;
  std::vector<signed char> sp((size_t)L * L);
  for (size_t i = 0; i < sp.size(); i++) sp[i] = (i * 40503u >> 7) & 1 ? 1 : -1;
  signed char *sa, *sb;
  cudaMalloc(&sa, sp.size()); cudaMalloc(&sb, sp.size());
  cudaMemcpy(sa, sp.data(), sp.size(), cudaMemcpyHostToDevice);
  ising_halfstep<<<dim3(L / 16, L / 16), dim3(16, 16)>>>(sa, sb, L, 0.44f, 0, 11u);
  ising_halfstep<<<dim3(L / 16, L / 16), dim3(16, 16)>>>(sb, sa, L, 0.44f, 1, 12u);
  checkLast("ising");
  if (cudaDeviceSynchronize() != cudaSuccess) { fprintf(stderr, "sync failed\n"); return 1; }
  cudaFree(a); cudaFree(b); cudaFree(f0); cudaFree(f1); cudaFree(u); cudaFree(rhs); cudaFree(un);
  cudaFree(pos); cudaFree(cs); cudaFree(rho); cudaFree(sa); cudaFree(sb);
  return 0;
}
