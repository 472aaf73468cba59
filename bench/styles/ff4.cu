// recurrences and iterations in shared memory
#include "shown.h"

// 1. edit distance of one pair a block, anti-diagonals, three rolling buffers
#define MAXLEN 128
__global__ void levenshtein_diag(const unsigned char *A, const unsigned char *B, int *dist, int npairs, int la, int lb) {
  __shared__ int diag[3][MAXLEN + 1];
  __shared__ unsigned char sa[MAXLEN], sb[MAXLEN];
  int pair = blockIdx.x;
  int i = threadIdx.x + 1;  // row 1..la
  if (threadIdx.x < la) sa[threadIdx.x] = A[(size_t)pair * la + threadIdx.x] & 3;
  for (int k = threadIdx.x; k < lb; k += blockDim.x) sb[k] = B[(size_t)pair * lb + k] & 3;
  for (int k = threadIdx.x; k <= MAXLEN; k += blockDim.x) diag[0][k] = diag[1][k] = diag[2][k] = 0;
  __syncthreads();
  if (threadIdx.x == 0) { diag[1][0] = 1; diag[1][1] = 1; }
  __syncthreads();
  int p2 = 0, p1 = 1, cur = 2;
  for (int d = 2; d <= la + lb; ++d) {
    int j = d - i;
    if (threadIdx.x == 0 && d <= lb) diag[cur][0] = d;
    if (i <= la && j >= 0 && j <= lb) {
      int v;
      if (j == 0) v = i;
      else {
        int sub = diag[p2][i - 1] + (sa[i - 1] != sb[j - 1]);
        int del = diag[p1][i - 1] + 1;
        int ins = diag[p1][i] + 1;
        v = min(sub, min(del, ins));
      }
      diag[cur][i] = v;
    }
    __syncthreads();
    int t = p2; p2 = p1; p1 = cur; cur = t;
  }
  if (threadIdx.x == 0) dist[pair] = diag[p1][la];
}

// 2. temporal blocking of Jacobi, STEPS sweeps in the tile with shrinking halo
template <int TILE, int STEPS>
__global__ void jacobiTemporal(const float *__restrict__ u, float *__restrict__ v, int nx, int ny) {
  constexpr int W = TILE;
  constexpr int INNER = TILE - 2 * STEPS;
  __shared__ float s[2][W][W];
  int gx = blockIdx.x * INNER + threadIdx.x - STEPS;
  int gy = blockIdx.y * INNER + threadIdx.y - STEPS;
  int cx = min(max(gx, 0), nx - 1), cy = min(max(gy, 0), ny - 1);
  s[0][threadIdx.y][threadIdx.x] = u[(size_t)cy * nx + cx];
  __syncthreads();
  int b = 0;
#pragma unroll
  for (int k = 1; k <= STEPS; k++) {
    float c = s[b][threadIdx.y][threadIdx.x];
    if (threadIdx.x >= k && threadIdx.x < W - k && threadIdx.y >= k && threadIdx.y < W - k && gx > 0 && gx < nx - 1 && gy > 0 && gy < ny - 1)
      c = 0.25f * (s[b][threadIdx.y][threadIdx.x - 1] + s[b][threadIdx.y][threadIdx.x + 1] + s[b][threadIdx.y - 1][threadIdx.x] + s[b][threadIdx.y + 1][threadIdx.x]);
    s[b ^ 1][threadIdx.y][threadIdx.x] = c;
    b ^= 1;
    __syncthreads();
  }
  if (threadIdx.x >= STEPS && threadIdx.x < W - STEPS && threadIdx.y >= STEPS && threadIdx.y < W - STEPS && gx < nx && gy < ny) v[(size_t)gy * nx + gx] = s[b][threadIdx.y][threadIdx.x];
}

// 3. game of life, four generations in place (two barriers) on bytes
#define LIFE_GEN 4
#define LBX 32
#define LBY 16
__global__ void lifeTile(unsigned char *dst, const unsigned char *src, unsigned w, unsigned h) {
  __shared__ unsigned char cell[LBY + 2][LBX + 2];
  const unsigned ox = LBX - 2 * LIFE_GEN, oy = LBY - 2 * LIFE_GEN;
  unsigned x = (blockIdx.x * ox + threadIdx.x + w - LIFE_GEN) % w;  // torus
  unsigned y = (blockIdx.y * oy + threadIdx.y + h - LIFE_GEN) % h;
  unsigned lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  unsigned tid = threadIdx.y * LBX + threadIdx.x;
  for (unsigned k = tid; k < (LBY + 2) * (LBX + 2); k += LBX * LBY) (&cell[0][0])[k] = 0;
  __syncthreads();
  cell[ly][lx] = src[(size_t)y * w + x] > 7;
  __syncthreads();
  for (int g = 0; g < LIFE_GEN; ++g) {
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++)
        if (dx || dy) n += cell[ly + dy][lx + dx];
    unsigned char alive = (n == 3) || (n == 2 && cell[ly][lx]);
    __syncthreads();
    cell[ly][lx] = alive;
    __syncthreads();
  }
  bool inner = threadIdx.x >= LIFE_GEN && threadIdx.x < LBX - LIFE_GEN && threadIdx.y >= LIFE_GEN && threadIdx.y < LBY - LIFE_GEN;
  unsigned rx = blockIdx.x * ox + threadIdx.x - LIFE_GEN, ry = blockIdx.y * oy + threadIdx.y - LIFE_GEN;
  if (inner && rx < w && ry < h) dst[(size_t)ry * w + rx] = cell[ly][lx];
}

// 4. batched Cholesky 24x24, 2-D block
template <typename Real, int N>
__global__ void potrfSmallBatched(const Real *A, Real *L, int batch) {
  __shared__ Real s[N][N + 1];
  const int r = threadIdx.y, c = threadIdx.x, m = blockIdx.x;
  s[r][c] = A[(size_t)m * N * N + min(r, c) * N + max(r, c)] + (r == c ? Real(N * 13) : Real(0));
  __syncthreads();
  for (int k = 0; k < N; k++) {
    if (r == k && c == k) s[k][k] = sqrt(s[k][k]);
    __syncthreads();
    if (c == k && r > k) s[r][k] /= s[k][k];
    __syncthreads();
    if (c > k && r >= c) s[r][c] -= s[r][k] * s[c][k];
    __syncthreads();
  }
  L[(size_t)m * N * N + r * N + c] = r >= c ? s[r][c] : Real(0);
}

// 5. forward substitution with many right-hand sides, matrix in dynamic shared
__global__ void trsm_lower_block(const double *Lm, double *X, int n, int nrhs) {
  extern __shared__ double sL[];
  double *xs = sL + n * n;  // one row of solutions: blockDim.x
  const int b = blockIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = threadIdx.x; k < n * n; k += blockDim.x) {
    double e = Lm[(size_t)b * n * n + k];
    sL[k] = (k / n == k % n) ? e + 20.0 : e * 0.05;
  }
  __syncthreads();
  double *x = X + (size_t)b * n * nrhs;
  for (int i = 0; i < n; i++) {
    double acc = col < nrhs ? x[(size_t)i * nrhs + col] : 0.0;
    for (int j = 0; j < i; j++) acc -= sL[i * n + j] * xs[j * blockDim.x + threadIdx.x];
    acc /= sL[i * n + i];
    xs[i * blockDim.x + threadIdx.x] = acc;
    if (col < nrhs) x[(size_t)i * nrhs + col] = acc;
  }
}

// 6. parallel cyclic reduction of tridiagonal systems
template <class T>
__global__ void pcr_small_systems_kernel(const T *d_a, const T *d_b, const T *d_c, const T *d_d, T *d_x, int system_size, int num_systems, int iterations) {
  extern __shared__ char smem[];
  int thid = threadIdx.x;
  int blid = blockIdx.x;
  T *a = (T *)smem;
  T *b = &a[system_size];
  T *c = &b[system_size];
  T *d = &c[system_size];
  size_t at = thid + (size_t)blid * system_size;
  a[thid] = thid == 0 ? T(0) : d_a[at];
  b[thid] = d_b[at] + T(30);
  c[thid] = thid == system_size - 1 ? T(0) : d_c[at];
  d[thid] = d_d[at];
  T aNew, bNew, cNew, dNew;
  __syncthreads();
  int delta = 1;
  for (int j = 0; j < iterations; j++) {
    int i = thid;
    int iRight = i + delta < system_size ? i + delta : system_size - 1;
    int iLeft = i - delta > 0 ? i - delta : 0;
    T tmp1 = i - delta >= 0 ? a[i] / b[iLeft] : T(0);
    T tmp2 = i + delta < system_size ? c[i] / b[iRight] : T(0);
    bNew = b[i] - c[iLeft] * tmp1 - a[iRight] * tmp2;
    dNew = d[i] - d[iLeft] * tmp1 - d[iRight] * tmp2;
    aNew = -a[iLeft] * tmp1;
    cNew = -c[iRight] * tmp2;
    __syncthreads();
    b[i] = bNew;
    d[i] = dNew;
    a[i] = aNew;
    c[i] = cNew;
    delta *= 2;
    __syncthreads();
  }
  d_x[at] = d[thid] / b[thid];
}

// 7. jump flooding in a 32x32 tile
struct Seed { short x, y; };
__device__ __forceinline__ int seedDist(Seed s, int x, int y) {
  if (s.x < 0) return 0x7fffffff;
  int dx = s.x - x, dy = s.y - y;
  return dx * dx + dy * dy;
}
__global__ void JumpFloodTile(const int *mask, int *outDist, int width, int height) {
  __shared__ Seed grid[2][32][32];
  const int tx = threadIdx.x, X = blockIdx.x * 32 + tx;
  for (int ty = threadIdx.y; ty < 32; ty += 8) {
    int Y = blockIdx.y * 32 + ty;
    Seed s = {-1, -1};
    if (X < width && Y < height && (mask[(size_t)Y * width + X] * 31 + X * 7 + Y * 3) % 41 == 0) s = {(short)tx, (short)ty};
    grid[0][ty][tx] = s;
  }
  int src = 0;
  for (int jump = 16; jump >= 1; jump /= 2) {
    __syncthreads();
    for (int ty = threadIdx.y; ty < 32; ty += 8) {
      Seed best = grid[src][ty][tx];
      int bd = seedDist(best, tx, ty);
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
          int qx = tx + i * jump, qy = ty + j * jump;
          if (qx < 0 || qy < 0 || qx > 31 || qy > 31) continue;
          Seed q = grid[src][qy][qx];
          int qd = seedDist(q, tx, ty);
          if (qd < bd) { bd = qd; best = q; }
        }
      grid[src ^ 1][ty][tx] = best;
    }
    src ^= 1;
  }
  __syncthreads();
  for (int ty = threadIdx.y; ty < 32; ty += 8) {
    int Y = blockIdx.y * 32 + ty;
    if (X < width && Y < height) outDist[(size_t)Y * width + X] = seedDist(grid[src][ty][tx], tx, ty);
  }
}

// 8. 1-D leapfrog wave on strings, 40 steps, three shared rows addressed by pointers
static const int STR_N = 256;
__global__ void vibratingStrings(const float *u0, float *u1, int strings, float c2, int nsteps) {
  __shared__ float bufA[STR_N], bufB[STR_N], bufC[STR_N];
  float *prev = bufA, *now = bufB, *next = bufC;
  const int i = threadIdx.x;
  const size_t o = (size_t)blockIdx.x * STR_N + i;
  float v = (i == 0 || i == STR_N - 1) ? 0.f : u0[o];
  prev[i] = v;
  now[i] = v;
  next[i] = 0.f;
  __syncthreads();
  while (nsteps-- > 0) {
    if (i > 0 && i < STR_N - 1) next[i] = 2.f * now[i] - prev[i] + c2 * (now[i + 1] - 2.f * now[i] + now[i - 1]);
    float *t = prev;
    prev = now;
    now = next;
    next = t;
    __syncthreads();
    if (i == 0 || i == STR_N - 1) now[i] = 0.f;
    __syncthreads();
  }
  u1[o] = now[i];
}

int main() {
  {
    int np = 60001, la = 101, lb = 117;
    unsigned char *A = mk<unsigned char>((size_t)np * la), *B = mk<unsigned char>((size_t)np * lb + 1);
    int *d = mk<int>(np);
    levenshtein_diag<<<np, MAXLEN>>>(A, B + 1, d, np, la, lb);
    show("levenshtein_diag", d, (size_t)np * 4);
    cudaFree(A); cudaFree(B);
  }
  {
    int nx = 5001, ny = 4999;
    float *u = mk<float>((size_t)nx * ny), *v = mk<float>((size_t)nx * ny);
    const int inner = 32 - 2 * 3;
    jacobiTemporal<32, 3><<<dim3((nx + inner - 1) / inner, (ny + inner - 1) / inner), dim3(32, 32)>>>(u, v, nx, ny);
    show("jacobiTemporal", v, (size_t)nx * ny * 4);
    cudaFree(u); cudaFree(v);
  }
  {
    unsigned w = 4801, h = 3607;
    unsigned char *s = mk<unsigned char>((size_t)w * h), *d = mk<unsigned char>((size_t)w * h);
    dim3 blk(LBX, LBY), grd((w + 23) / 24, (h + 7) / 8);
    lifeTile<<<grd, blk>>>(d, s, w, h);
    show("lifeTile", d, (size_t)w * h);
    cudaFree(s); cudaFree(d);
  }
  {
    int batch = 30011;
    float *A = mk<float>((size_t)batch * 576), *L = mk<float>((size_t)batch * 576);
    potrfSmallBatched<float, 24><<<batch, dim3(24, 24)>>>(A, L, batch);
    show("potrfSmallBatched", L, (size_t)batch * 576 * 4);
    cudaFree(A); cudaFree(L);
  }
  {
    int n = 24, nrhs = 500, batch = 1500, thr = 128;
    double *L = mk<double>((size_t)batch * n * n), *X = mk<double>((size_t)batch * n * nrhs);
    size_t sh = (n * n + n * thr) * sizeof(double);
    trsm_lower_block<<<dim3((nrhs + thr - 1) / thr, batch), thr, sh>>>(L, X, n, nrhs);
    show("trsm_lower_block", X, (size_t)batch * n * nrhs * 8);
    cudaFree(L); cudaFree(X);
  }
  {
    int ns = 30001, sz = 200, it = 8;
    size_t n = (size_t)ns * sz;
    float *a = mk<float>(n), *b = mk<float>(n), *c = mk<float>(n), *d = mk<float>(n), *x = mk<float>(n);
    pcr_small_systems_kernel<float><<<ns, sz, sz * 4 * sizeof(float)>>>(a, b, c, d, x, sz, ns, it);
    show("pcr_small_systems_kernel", x, n * 4);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d); cudaFree(x);
  }
  {
    int w = 4003, h = 3001;
    int *m = mk<int>((size_t)w * h), *o = mk<int>((size_t)w * h);
    JumpFloodTile<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(32, 8)>>>(m, o, w, h);
    show("JumpFloodTile", o, (size_t)w * h * 4);
    cudaFree(m); cudaFree(o);
  }
  {
    int ns = 40003;
    float *u = mk<float>((size_t)ns * STR_N), *v = mk<float>((size_t)ns * STR_N);
    vibratingStrings<<<ns, STR_N>>>(u, v, ns, 0.4f, 40);
    show("vibratingStrings", v, (size_t)ns * STR_N * 4);
  }
  return 0;
}
