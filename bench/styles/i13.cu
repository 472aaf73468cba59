// Dynamic programming.  Each block (or thread) solves one instance unless said otherwise.
#include "shown.h"
#include <vector>

#define MIN3(a, b, c) min(min((a), (b)), (c))

// LCS length of a pair: row by row is serial, so run along anti-diagonals with 3 buffers of shorts
__global__ void LCS(const unsigned char *A, const unsigned char *B, int na, int nb, int *res)
{
  extern __shared__ unsigned char raw[];
  short *d0 = (short *)raw, *d1 = d0 + (na + 1), *d2 = d1 + (na + 1);
  unsigned char *a = (unsigned char *)(d2 + (na + 1)), *b = a + na;
  const unsigned char *ga = A + (size_t)blockIdx.x * na, *gb = B + (size_t)blockIdx.x * nb;
  for (int i = threadIdx.x; i < na; i += blockDim.x) a[i] = ga[i];
  for (int i = threadIdx.x; i < nb; i += blockDim.x) b[i] = gb[i];
  for (int i = threadIdx.x; i <= na; i += blockDim.x) d0[i] = d1[i] = d2[i] = 0;
  __syncthreads();
  for (int d = 2; d <= na + nb; d++) {
    int ilo = max(1, d - nb), ihi = min(na, d - 1);
    for (int i = ilo + threadIdx.x; i <= ihi; i += blockDim.x) {
      int j = d - i;
      short up = d1[i - 1];
      short left = j > 1 ? d1[i] : 0;
      short dg = j > 1 ? d0[i - 1] : 0;
      d2[i] = a[i - 1] == b[j - 1] ? dg + 1 : (up > left ? up : left);
    }
    __syncthreads();
    short *t = d0;
    d0 = d1;
    d1 = d2;
    d2 = t;
  }
  if (threadIdx.x == 0) res[blockIdx.x] = d1[na];
}

// 0/1 knapsack, capacity across threads, two rows
__global__ void knapsack(const int *w, const int *v, int items, int cap, int *best)
{
  extern __shared__ int row[];
  int *cur = row, *nxt = row + cap + 1;
  const int *ww = w + blockIdx.x * items, *vv = v + blockIdx.x * items;
  for (int c = threadIdx.x; c <= cap; c += blockDim.x) cur[c] = 0;
  __syncthreads();
  for (int k = 0; k < items; k++) {
    int wk = ww[k] + 1, vk = vv[k] * 3 + k % 5;
    for (int c = threadIdx.x; c <= cap; c += blockDim.x) {
      int s = cur[c];
      if (c >= wk) s = max(s, cur[c - wk] + vk);
      nxt[c] = s;
    }
    __syncthreads();
    int *t = cur; cur = nxt; nxt = t;
  }
  for (int c = threadIdx.x; c <= cap; c += blockDim.x) best[(size_t)blockIdx.x * (cap + 1) + c] = cur[c];
}

// grid path with minimum cost (pathfinder flavour): pyramid of HEIGHT rows per launch, block with halo
#define BLOCK_SIZE 256
#define PYR 10
__global__ void dynproc(int rows, const int *wall, const int *src, int *dst, int cols, int start)
{
  __shared__ int prev[BLOCK_SIZE];
  __shared__ int result[BLOCK_SIZE];
  int tx = threadIdx.x;
  int small = BLOCK_SIZE - rows * 2;
  int blkX = small * blockIdx.x - rows;
  int x = blkX + tx;
  bool isValid = x >= 0 && x < cols;
  if (isValid) prev[tx] = src[x];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < rows; i++) {
    computed = false;
    if (tx >= i + 1 && tx <= BLOCK_SIZE - 2 - i && isValid) {
      computed = true;
      int left = prev[x > 0 ? tx - 1 : tx], up = prev[tx], right = prev[x < cols - 1 ? tx + 1 : tx];
      result[tx] = MIN3(left, up, right) + wall[(size_t)(start + i) * cols + x];
    }
    __syncthreads();
    if (i == rows - 1) break;
    if (computed) prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) dst[x] = result[tx];
}

// matrix chain order in a 2D shared table, thread per cell of the diagonal
template <int N>
__global__ void matrixChain(const int *dims, int *cost, unsigned char *split)
{
  __shared__ int m[N][N];
  __shared__ int p[N + 1];
  int t = threadIdx.x;
  for (int i = t; i <= N; i += blockDim.x) p[i] = dims[blockIdx.x * (N + 1) + i] + 2;
  for (int i = t; i < N; i += blockDim.x) m[i][i] = 0;
  for (int len = 2; len <= N; len++) {
    __syncthreads();
    for (int i = t; i + len <= N; i += blockDim.x) {
      int j = i + len - 1, b = 0x7fffffff, arg = i;
      for (int k = i; k < j; k++) {
        int c = m[i][k] + m[k + 1][j] + p[i] * p[k + 1] * p[j + 1];
        if (c < b) b = c, arg = k;
      }
      m[i][j] = b;
      split[((size_t)blockIdx.x * N + i) * N + j] = (unsigned char)arg;
    }
  }
  __syncthreads();
  if (t == 0) cost[blockIdx.x] = m[0][N - 1];
}

// dynamic time warping with a window, one warp per pair: the row of 32 band cells moves along the diagonal
__global__ void dtw_warp(const float *a, const float *b, float *out, int len, int pairs)
{
  __shared__ float band[4][2][34];
  int w = threadIdx.x >> 5, lane = threadIdx.x & 31, id = blockIdx.x * 4 + w;
  if (id >= pairs) return;
  const float *pa = a + (size_t)id * len, *pb = b + (size_t)id * len;
  // cell (i, j = i + lane - 16); predecessors: (i-1,j) -> lane+1 of the old row, (i-1,j-1) -> same lane
  float(*r)[34] = band[w];
  for (int q = 0; q < 2; q++) {
    r[q][lane + 1] = 1e30f;
    if (lane == 0) r[q][0] = r[q][33] = 1e30f;
  }
  __syncwarp();
  int cur = 0;
  for (int i = 0; i < len; i++) {
    int j = i + lane - 16;
    bool ok = j >= 0 && j < len;
    float c = ok ? fabsf(pa[i] - pb[j]) : 1e30f;
    float best = fminf(r[cur][lane + 1], r[cur][lane + 2]);
    if (i == 0 && j == 0) best = 0.f;
    float v = ok ? fminf(best + c, 1e30f) : 1e30f;
    // the dependency on the left cell: min-plus prefix over lanes with running cost
    float pre = ok ? c : 1e30f;
    for (int d = 1; d < 32; d <<= 1) {
      float ov = __shfl_up_sync(0xffffffffu, v, d), op = __shfl_up_sync(0xffffffffu, pre, d);
      if (lane >= d) {
        v = fminf(v, ov + pre);
        pre = fminf(pre + op, 1e30f);
      }
    }
    cur ^= 1;
    r[cur][lane + 1] = v;
    __syncwarp();
  }
  if (lane == 16) out[id] = r[cur][lane + 1];
}

// coin change counts per thread: table of MAXV entries in local memory
#define MAXV 128
__global__ void coinChange(const int *coins, int kinds, int target, unsigned *ways, int n)
{
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  unsigned dp[MAXV];
  for (int i = 0; i < MAXV; i++) dp[i] = i == 0;
  for (int k = 0; k < kinds; k++) {
    int c = coins[k * n + t] + k + 1;
    for (int s = c; s <= target; s++) dp[s] += dp[s - c];
  }
  ways[t] = dp[target];
}

// CYK membership: bit mask of nonterminals per cell, grammar in shared
template <int LEN>
__global__ void cyk(const unsigned char *words, const unsigned *rules, int nrules, unsigned *top)
{
  __shared__ unsigned cell[LEN][LEN + 1];    // cell[length-1][start]
  __shared__ unsigned char L[64], R[64], H[64];
  for (int r = threadIdx.x; r < nrules; r += blockDim.x) {
    unsigned x = rules[r];
    H[r] = x & 15; L[r] = (x >> 4) & 15; R[r] = (x >> 8) & 15;
  }
  for (int i = threadIdx.x; i < LEN; i += blockDim.x) cell[0][i] = 1u << (words[(size_t)blockIdx.x * LEN + i] & 15);
  __syncthreads();
  for (int len = 2; len <= LEN; ++len) {
    for (int s = threadIdx.x; s + len <= LEN; s += blockDim.x) {
      unsigned m = 0;
      for (int k = 1; k < len; ++k) {
        unsigned l = cell[k - 1][s], r = cell[len - k - 1][s + k];
        if (!l || !r) continue;
        for (int q = 0; q < nrules; ++q)
          if ((l >> L[q] & 1) && (r >> R[q] & 1)) m |= 1u << H[q];
      }
      cell[len - 1][s] = m;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) top[blockIdx.x] = cell[LEN - 1][0];
}

static unsigned char *letters(size_t n, unsigned s, unsigned mask)
{
  std::vector<unsigned char> h(n);
  for (auto &c : h) { s = s * 1664525u + 1013904223u; c = (s >> 17) & mask; }
  unsigned char *d;
  cudaMalloc(&d, n);
  cudaMemcpy(d, h.data(), n, cudaMemcpyHostToDevice);
  return d;
}

int main()
{
  {
    int na = 300, nb = 350, np = 1500, *r = mk<int>(np);
    LCS<<<np, 128, 3 * (na + 1) * 2 + na + nb>>>(letters((size_t)np * na, 1, 7), letters((size_t)np * nb, 2, 7), na, nb, r);
    show("LCS", r, np * 4);
  }
  {
    int items = 60, cap = 500, nb = 2000, *w = mk<int>(nb * items), *v = mk<int>(nb * items), *o = mk<int>((size_t)nb * (cap + 1));
    knapsack<<<nb, 192, 2 * (cap + 1) * 4>>>(w, v, items, cap, o);
    show("knapsack", o, 4ull * nb * (cap + 1));
  }
  {
    int cols = 900000, rows = 40, *wall = mk<int>((size_t)cols * rows), *a = mk<int>(cols), *b = mk<int>(cols);
    for (int s = 0; s < rows; s += PYR) {
      int small = BLOCK_SIZE - PYR * 2;
      dynproc<<<(cols + small - 1) / small, BLOCK_SIZE>>>(PYR, wall, a, b, cols, s);
      int *t = a; a = b; b = t;
    }
    show("dynproc", a, 4ull * cols);
  }
  {
    const int N = 56;
    int nb = 1000, *d = mk<int>(nb * (N + 1)), *c = mk<int>(nb);
    unsigned char *s = mk<unsigned char>((size_t)nb * N * N);
    matrixChain<N><<<nb, 64>>>(d, c, s);
    show("matrixChain", c, nb * 4);
    show("matrixChain_split", s, (size_t)nb * N * N);
  }
  {
    int np = 20002, len = 128;
    float *a = mk<float>((size_t)np * len), *b = mk<float>((size_t)np * len + 11), *o = mk<float>(np);
    dtw_warp<<<(np + 3) / 4, 128>>>(a, b + 11, o, len, np);
    show("dtw_warp", o, np * 4);
  }
  {
    int n = 60000, *c = mk<int>(6 * n);
    unsigned *w = mk<unsigned>(n);
    coinChange<<<(n + 127) / 128, 128>>>(c, 6, 100, w, n);
    show("coinChange", w, n * 4);
  }
  {
    int nb = 1000, nr = 40;
    unsigned *t = mk<unsigned>(nb);
    std::vector<unsigned> r(nr);
    for (int i = 0; i < nr; i++) r[i] = (i * 2654435761u) >> 7;
    unsigned *dr = mk<unsigned>(nr);
    cudaMemcpy(dr, r.data(), nr * 4, cudaMemcpyHostToDevice);
    cyk<40><<<nb, 64>>>(letters((size_t)nb * 40, 9, 15), dr, nr, t);
    show("cyk", t, nb * 4);
  }
  return 0;
}
