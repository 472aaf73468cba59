// Physics on lattices and chains: Boltzmann, Ising, Maxwell, automata, polymers, percolation, shocks.
#include <cmath>
#include <cstdint>
#include "shown.h"

// 1. D3Q19 pull scheme, BGK collision, everything in registers, periodic box -----------------------
__constant__ signed char C19[19][3];
__constant__ float W19[19];

__global__ void lbmD3Q19(const float *__restrict__ fin, float *__restrict__ fout, int nx, int ny, int nz, float omega)
{
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  if (x >= nx) return;
  const size_t n = (size_t)nx * ny * nz;
  const size_t me = ((size_t)z * ny + y) * nx + x;
  float f[19];
#pragma unroll
  for (int q = 0; q < 19; q++) {
    int xs = x - C19[q][0], ys = y - C19[q][1], zs = z - C19[q][2];
    xs = xs < 0 ? nx - 1 : (xs == nx ? 0 : xs);
    ys = ys < 0 ? ny - 1 : (ys == ny ? 0 : ys);
    zs = zs < 0 ? nz - 1 : (zs == nz ? 0 : zs);
    f[q] = W19[q] * (1.f + 0.01f * fin[q * n + ((size_t)zs * ny + ys) * nx + xs]);
  }
  float rho = 0.f, ux = 0.f, uy = 0.f, uz = 0.f;
#pragma unroll
  for (int q = 0; q < 19; q++) {
    rho += f[q];
    ux += C19[q][0] * f[q];
    uy += C19[q][1] * f[q];
    uz += C19[q][2] * f[q];
  }
  float ir = 1.f / rho;
  ux *= ir; uy *= ir; uz *= ir;
  float uu = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
  for (int q = 0; q < 19; q++) {
    float cu = 3.f * (C19[q][0] * ux + C19[q][1] * uy + C19[q][2] * uz);
    float eq = W19[q] * rho * (1.f + cu + 0.5f * cu * cu - uu);
    fout[q * n + me] = f[q] + omega * (eq - f[q]);
  }
}

// 2. D2Q9 push, the east and west movers are shifted through shared memory ------------------------------
#define QROW 256
__device__ __forceinline__ float feq(float w, float rho, float cu, float uu) { return w * rho * (1.f + 3.f * cu + 4.5f * cu * cu - 1.5f * uu); }
__global__ void lbmD2Q9Row(const float *fi, float *fo, int nx, int ny, float om) {
  __shared__ float e0[QROW], e1[QROW], e2[QROW];   // E, NE, SE
  __shared__ float w0[QROW], w1[QROW], w2[QROW];   // W, NW, SW
  const int tx = threadIdx.x, x = blockIdx.x * QROW + tx, y = blockIdx.y;
  const int n = nx * ny;
  const int yn = y + 1 == ny ? 0 : y + 1, ys = y == 0 ? ny - 1 : y - 1;
  const bool in = x < nx;
  const int c = y * nx + (in ? x : nx - 1);
  float g[9], r = 0.f, u = 0.f, v = 0.f;
#pragma unroll
  for (int q = 0; q < 9; q++) { g[q] = (q ? (q < 5 ? 1.f / 9 : 1.f / 36) : 4.f / 9) * (1.f + 0.02f * fi[q * n + c]); r += g[q]; }
  u = (g[1] - g[3] + g[5] - g[6] - g[7] + g[8]) / r;
  v = (g[2] - g[4] + g[5] + g[6] - g[7] - g[8]) / r;
  float uu = u * u + v * v;
  g[0] += om * (feq(4.f / 9, r, 0.f, uu) - g[0]);
  g[1] += om * (feq(1.f / 9, r, u, uu) - g[1]);
  g[2] += om * (feq(1.f / 9, r, v, uu) - g[2]);
  g[3] += om * (feq(1.f / 9, r, -u, uu) - g[3]);
  g[4] += om * (feq(1.f / 9, r, -v, uu) - g[4]);
  g[5] += om * (feq(1.f / 36, r, u + v, uu) - g[5]);
  g[6] += om * (feq(1.f / 36, r, v - u, uu) - g[6]);
  g[7] += om * (feq(1.f / 36, r, -u - v, uu) - g[7]);
  g[8] += om * (feq(1.f / 36, r, u - v, uu) - g[8]);
  e0[tx] = g[1]; e1[tx] = g[5]; e2[tx] = g[8];
  w0[tx] = g[3]; w1[tx] = g[6]; w2[tx] = g[7];
  __syncthreads();
  if (!in) return;
  fo[0 * n + c] = g[0];
  fo[2 * n + yn * nx + x] = g[2];
  fo[4 * n + ys * nx + x] = g[4];
  if (tx > 0) {                       // what came from the west neighbour
    fo[1 * n + c] = e0[tx - 1];
    fo[5 * n + yn * nx + x] = e1[tx - 1];
    fo[8 * n + ys * nx + x] = e2[tx - 1];
  }
  if (tx < QROW - 1 && x < nx - 1) {  // and from the east neighbour
    fo[3 * n + c] = w0[tx + 1];
    fo[6 * n + yn * nx + x] = w1[tx + 1];
    fo[7 * n + ys * nx + x] = w2[tx + 1];
  }
  if (tx == QROW - 1 || x == nx - 1) { // movers that leave the block to the east
    int xe = x + 1 == nx ? 0 : x + 1;
    fo[1 * n + y * nx + xe] = g[1];
    fo[5 * n + yn * nx + xe] = g[5];
    fo[8 * n + ys * nx + xe] = g[8];
  }
  if (tx == 0) {                      // and to the west
    int xw = x == 0 ? nx - 1 : x - 1;
    fo[3 * n + y * nx + xw] = g[3];
    fo[6 * n + yn * nx + xw] = g[6];
    fo[7 * n + ys * nx + xw] = g[7];
  }
}

// 3. Ising model, one colour of the checkerboard, spins as bytes in a tile --------------------------------
typedef signed char spin_t;
__device__ __forceinline__ float hash01(uint32_t a, uint32_t b) {
  uint32_t h = a * 0x9e3779b9u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu;
  h ^= h >> 15; h *= 0x2c1b3c6du;
  h ^= h >> 12; h *= 0x297a2d39u;
  h ^= h >> 15;
  return (h >> 8) * (1.f / 16777216.f);
}
__global__ void isingColour(const spin_t *in, spin_t *out, int n, int colour, float beta, uint32_t sweep)
{
  __shared__ spin_t s[18][34];
  const int bx = blockIdx.x * 32, by = blockIdx.y * 16;
  for (int j = threadIdx.y; j < 18; j += 16)
    for (int i = threadIdx.x; i < 34; i += 32) {
      int x = (bx + i - 1 + n) % n, y = (by + j - 1 + n) % n;
      s[j][i] = (in[(size_t)y * n + x] & 2) ? -1 : 1;     // bit 1 is set in -1 only
    }
  __syncthreads();
  int x = bx + threadIdx.x, y = by + threadIdx.y;
  if (x >= n || y >= n) return;
  int i = threadIdx.x + 1, j = threadIdx.y + 1;
  spin_t me = s[j][i];
  if (((x + y) & 1) == colour) {
    int nbr = s[j][i - 1] + s[j][i + 1] + s[j - 1][i] + s[j + 1][i];
    if (hash01((uint32_t)(y * n + x), sweep) < expf(-2.f * beta * me * nbr)) me = -me;
  }
  out[(size_t)y * n + x] = me;
}

// 4. Maxwell TM mode: magnetic field from the curl of Ez, staggered by one, early exit after the load -------
__global__ void fdtdUpdateH(const double *__restrict__ ez, double *__restrict__ hx, double *__restrict__ hy, size_t nx, size_t ny,
                            double ca, double cb) {
  __shared__ double e[9][33];
  const size_t i = blockIdx.x * size_t(32) + threadIdx.x;
  const size_t j = blockIdx.y * size_t(8) + threadIdx.y;
  const bool inside = i < nx && j < ny;
  const size_t p = j * nx + i;
  if (inside) {
    e[threadIdx.y][threadIdx.x] = ez[p];
    if (threadIdx.x == 31 || i == nx - 1) e[threadIdx.y][threadIdx.x + 1] = i + 1 < nx ? ez[p + 1] : 0.0;
    if (threadIdx.y == 7 || j == ny - 1) e[threadIdx.y + 1][threadIdx.x] = j + 1 < ny ? ez[p + nx] : 0.0;
  }
  __syncthreads();
  if (!inside) return;
  double c = e[threadIdx.y][threadIdx.x];
  hx[p] = ca * hx[p] - cb * (e[threadIdx.y + 1][threadIdx.x] - c);
  hy[p] = ca * hy[p] + cb * (e[threadIdx.y][threadIdx.x + 1] - c);
}

// 5. Life with 32 cells a word, words of three columns staged with two halo rows -------------------------------
__device__ __forceinline__ void fullAdd(uint32_t a, uint32_t b, uint32_t c, uint32_t &s, uint32_t &k) {
  uint32_t t = a ^ b;
  s = t ^ c;
  k = (a & b) | (t & c);
}
__global__ void lifeBits(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, int wpr, int rows)
{
  __shared__ uint32_t t[8 + 2][32 + 2];
  const int w0 = blockIdx.x * 32 - 1, r0 = blockIdx.y * 8 - 1;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 10 * 34; k += 256) {
    int w = w0 + k % 34, r = r0 + k / 34;
    uint32_t v = 0;
    if (w >= 0 && w < wpr && r >= 0 && r < rows) {
      v = in[(size_t)r * wpr + w] * 0x9e3779b1u;
      v ^= v >> 13 ^ (uint32_t)r * 0x85ebca77u;
    }
    t[k / 34][k % 34] = v;
  }
  __syncthreads();
  const int x = threadIdx.x + 1, y = threadIdx.y + 1;
  const int w = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  if (w < wpr && r < rows) {
    uint32_t L[3], M[3], R[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
      M[k] = t[y - 1 + k][x];
      L[k] = M[k] << 1 | t[y - 1 + k][x - 1] >> 31;
      R[k] = M[k] >> 1 | t[y - 1 + k][x + 1] << 31;
    }
    uint32_t s0, k0, s1, k1, s2, k2, k3, ones, twos, x1, f1, f2;
    fullAdd(L[0], M[0], R[0], s0, k0);
    fullAdd(L[2], M[2], R[2], s1, k1);
    s2 = L[1] ^ R[1];
    k2 = L[1] & R[1];
    fullAdd(s0, s1, s2, ones, k3);
    fullAdd(k0, k1, k2, x1, f1);
    twos = x1 ^ k3;
    f2 = x1 & k3;
    uint32_t fours = f1 | f2;
    out[(size_t)r * wpr + w] = twos & ~fours & (ones | M[1]);
  }
}

// 6. bead chains: FENE bonds, bending and tension along the backbone, neighbours within two beads ---------------
#define CHAIN_B 128
__device__ __forceinline__ float3 sub(float4 a, float4 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ __forceinline__ float3 fene(float3 d, float k, float r02) {
  float r2 = d.x * d.x + d.y * d.y + d.z * d.z;
  float f = k / (1.f - fminf(r2 / r02, 0.95f));
  return make_float3(f * d.x, f * d.y, f * d.z);
}
__global__ void chainForces(const float4 *__restrict__ pos, float4 *__restrict__ force, int beads, float kb, float kt, float r02)
{
  __shared__ float4 p[CHAIN_B + 4];
  const size_t chain = (size_t)blockIdx.y * beads;
  const int b = blockIdx.x * CHAIN_B + threadIdx.x;
  for (int k = threadIdx.x; k < CHAIN_B + 4; k += CHAIN_B) {
    int i = (int)(blockIdx.x * CHAIN_B) + k - 2;
    i = max(0, min(i, beads - 1));
    p[k] = pos[chain + i];
  }
  __syncthreads();
  if (b >= beads) return;
  const int c = threadIdx.x + 2;
  float3 f = make_float3(0.f, 0.f, 0.f);
  if (b > 0) { float3 a = fene(sub(p[c - 1], p[c]), kb, r02); f.x += a.x; f.y += a.y; f.z += a.z; }
  if (b < beads - 1) { float3 a = fene(sub(p[c + 1], p[c]), kb, r02); f.x += a.x; f.y += a.y; f.z += a.z; }
  // bending: minus the gradient of |r(i-1) - 2 r(i) + r(i+1)|^2 kt / 2
  if (b > 1) { f.x -= kt * (p[c - 2].x - 2 * p[c - 1].x + p[c].x); f.y -= kt * (p[c - 2].y - 2 * p[c - 1].y + p[c].y); f.z -= kt * (p[c - 2].z - 2 * p[c - 1].z + p[c].z); }
  if (b > 0 && b < beads - 1) { f.x += 2 * kt * (p[c - 1].x - 2 * p[c].x + p[c + 1].x); f.y += 2 * kt * (p[c - 1].y - 2 * p[c].y + p[c + 1].y); f.z += 2 * kt * (p[c - 1].z - 2 * p[c].z + p[c + 1].z); }
  if (b < beads - 2) { f.x -= kt * (p[c].x - 2 * p[c + 1].x + p[c + 2].x); f.y -= kt * (p[c].y - 2 * p[c + 1].y + p[c + 2].y); f.z -= kt * (p[c].z - 2 * p[c + 1].z + p[c + 2].z); }
  force[chain + b] = make_float4(f.x, f.y, f.z, p[c].w);
}

// 7. clusters of an 8x8 percolation cell: flood fill with a private stack, a cell a thread ------------------------
__global__ void percolate8x8(const unsigned long long *__restrict__ cells, int2 *__restrict__ stat, unsigned n) {
  unsigned t = blockDim.x * blockIdx.x + threadIdx.x;
  if (t >= n) return;
  unsigned long long open = cells[t] * 0x9e3779b97f4a7c15ull + t * 0xd1342543de82ef95ull;
  open ^= open >> 29;
  open |= open << 17;                            // about three quarters are open
  unsigned char st[64];
  int clusters = 0, largest = 0;
  while (open) {
    int sp = 0, size = 0;
    int seed = __ffsll((long long)open) - 1;
    st[sp++] = (unsigned char)seed;
    open &= ~(1ull << seed);
    while (sp) {
      int s = st[--sp];
      size++;
      int x = s & 7, y = s >> 3;
      for (int d = 0; d < 4; d++) {
        int u = x + (d == 0) - (d == 1), v = y + (d == 2) - (d == 3);
        if (u < 0 || u > 7 || v < 0 || v > 7) continue;
        int k = v * 8 + u;
        if (open >> k & 1ull) {
          open &= ~(1ull << k);
          st[sp++] = (unsigned char)k;           // each cell is pushed once, 64 at most
        }
      }
    }
    clusters++;
    largest = max(largest, size);
  }
  stat[t] = make_int2(clusters, largest);
}

// 8. Burgers equation, MUSCL with minmod, two Heun stages inside the tile (halo of six) ------------------------------
constexpr int BT = 256, BHALO = 6;
__device__ __forceinline__ float minmodf(float a, float b) { return a * b <= 0.f ? 0.f : (fabsf(a) < fabsf(b) ? a : b); }
__device__ float godunov(float l, float r) {
  float a = l > 0.f ? 0.5f * l * l : 0.f, b = r < 0.f ? 0.5f * r * r : 0.f;
  return fmaxf(a, b);
}
__device__ float muscl(const float *u, int i, float lam) {
  float sl = minmodf(u[i - 1] - u[i - 2], u[i] - u[i - 1]);
  float sc = minmodf(u[i] - u[i - 1], u[i + 1] - u[i]);
  float sr = minmodf(u[i + 1] - u[i], u[i + 2] - u[i + 1]);
  float fr = godunov(u[i] + 0.5f * sc, u[i + 1] - 0.5f * sr);
  float fl = godunov(u[i - 1] + 0.5f * sl, u[i] - 0.5f * sc);
  return -lam * (fr - fl);
}
__global__ void burgersHeun(const float *src, float *dst, unsigned n, float lam)
{
  __shared__ float u0[BT + 2 * BHALO];
  __shared__ float u1[BT + 2 * BHALO];
  const float *line = src + (size_t)blockIdx.y * n;
  unsigned b0 = blockIdx.x * BT;
  for (unsigned k = threadIdx.x; k < BT + 2 * BHALO; k += BT) {
    unsigned g = (b0 + k + n - BHALO) % n;
    u0[k] = 0.1f * line[g] - 0.4f;
  }
  __syncthreads();
  for (unsigned k = threadIdx.x + 2; k < BT + 2 * BHALO - 2; k += BT) u1[k] = u0[k] + muscl(u0, k, lam);
  __syncthreads();
  unsigned g = b0 + threadIdx.x;
  if (g < n) {
    int k = threadIdx.x + BHALO;
    dst[(size_t)blockIdx.y * n + g] = 0.5f * (u0[k] + u1[k] + muscl(u1, k, lam));
  }
}

int main() {
  {
    signed char c[19][3];
    float w[19];
    int q = 0;
    for (int z = -1; z <= 1; z++)
      for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) {
          int d = x * x + y * y + z * z;
          if (d > 2) continue;
          c[q][0] = x; c[q][1] = y; c[q][2] = z;
          w[q++] = d == 0 ? 1.f / 3 : (d == 1 ? 1.f / 18 : 1.f / 36);
        }
    cudaMemcpyToSymbol(C19, c, sizeof c);
    cudaMemcpyToSymbol(W19, w, sizeof w);
    int nx = 200, ny = 128, nz = 120;
    size_t n = (size_t)nx * ny * nz;
    float *a = mk<float>(19 * n), *b = mk<float>(19 * n);
    lbmD3Q19<<<dim3((nx + 127) / 128, ny, nz), 128>>>(a, b, nx, ny, nz, 1.3f);
    show("lbmD3Q19", b, 19 * n * 4);
    cudaFree(a); cudaFree(b);
  }
  {
    int nx = 2000, ny = 1500;
    size_t n = (size_t)nx * ny;
    float *a = mk<float>(9 * n), *b = mk<float>(9 * n);
    lbmD2Q9Row<<<dim3((nx + QROW - 1) / QROW, ny), QROW>>>(a, b, nx, ny, 1.1f);
    show("lbmD2Q9Row", b, 9 * n * 4);
    cudaFree(a); cudaFree(b);
  }
  {
    int n = 6000;
    spin_t *a = mk<spin_t>((size_t)n * n), *b = mk<spin_t>((size_t)n * n);
    for (int k = 0; k < 3; k++) {
      isingColour<<<dim3((n + 31) / 32, (n + 15) / 16), dim3(32, 16)>>>(a, b, n, k & 1, 0.42f, 77u + k);
      spin_t *t = a; a = b; b = t;
    }
    show("isingColour", a, (size_t)n * n);
    cudaFree(a); cudaFree(b);
  }
  {
    size_t nx = 3333, ny = 2500, n = nx * ny;
    double *e = mk<double>(n), *hx = mk<double>(n), *hy = mk<double>(n);
    fdtdUpdateH<<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(e, hx, hy, nx, ny, 0.98, 0.35);
    show("fdtdUpdateH", hx, n * 8);
    show("fdtdUpdateH", hy, n * 8);
    cudaFree(e); cudaFree(hx); cudaFree(hy);
  }
  {
    int wpr = 1000, rows = 20001;
    uint32_t *a = mk<uint32_t>((size_t)wpr * rows), *b = mk<uint32_t>((size_t)wpr * rows);
    lifeBits<<<dim3((wpr + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(a, b, wpr, rows);
    show("lifeBits", b, (size_t)wpr * rows * 4);
    cudaFree(a); cudaFree(b);
  }
  {
    int chains = 4000, beads = 1000;
    size_t n = (size_t)chains * beads;
    float4 *p = (float4 *)mk<float>(4 * n), *f = (float4 *)mk<float>(4 * n);
    chainForces<<<dim3((beads + CHAIN_B - 1) / CHAIN_B, chains), CHAIN_B>>>(p, f, beads, 30.f, 2.f, 90.f);
    show("chainForces", f, n * 16);
    cudaFree(p); cudaFree(f);
  }
  {
    unsigned n = 1u << 20;
    unsigned long long *c = mk<unsigned long long>(n);
    int2 *s = (int2 *)mk<int>(2 * n);
    percolate8x8<<<n / 128, 128>>>(c, s, n);
    show("percolate8x8", s, n * 8);
  }
  {
    unsigned n = 5000, lines = 3000;
    float *a = mk<float>((size_t)n * lines), *b = mk<float>((size_t)n * lines);
    burgersHeun<<<dim3((n + BT - 1) / BT, lines), BT>>>(a, b, n, 0.3f);
    show("burgersHeun", b, (size_t)n * lines * 4);
  }
  return 0;
}
