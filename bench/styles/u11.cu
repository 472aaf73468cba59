#include "h.h"
#include <cstring>
static void show(const char *name, const void *dev, size_t bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  unsigned char *h = (unsigned char *)malloc(bytes);
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    unsigned long long w;
    memcpy(&w, h + i, 8);
    f = (f ^ w) * 1099511628211ull;
  }
  for (; i < bytes; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016llx%s%s\n", name, f, e ? " " : "", e ? cudaGetErrorString(e) : "");
  free(h);
}
// ---- pathfinder (Rodinia flavour)
#define PF_BLOCK 256
#define HALO 1
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

__global__ void dynproc_kernel(int iteration, const int *gpuWall, const int *gpuSrc, int *gpuResults, int cols, int rows, int startStep, int border) {
  __shared__ int prev[PF_BLOCK];
  __shared__ int result[PF_BLOCK];
  int bx = blockIdx.x;
  int tx = threadIdx.x;
  int small_block_cols = PF_BLOCK - iteration * HALO * 2;
  int blkX = small_block_cols * bx - border;
  int blkXmax = blkX + PF_BLOCK - 1;
  int xidx = blkX + tx;
  int validXmin = (blkX < 0) ? -blkX : 0;
  int validXmax = (blkXmax > cols - 1) ? PF_BLOCK - 1 - (blkXmax - cols + 1) : PF_BLOCK - 1;
  int W = tx - 1;
  int E = tx + 1;
  W = (W < validXmin) ? validXmin : W;
  E = (E > validXmax) ? validXmax : E;
  bool isValid = IN_RANGE(tx, validXmin, validXmax);
  if (IN_RANGE(xidx, 0, cols - 1)) prev[tx] = gpuSrc[xidx];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, PF_BLOCK - i - 2) && isValid) {
      computed = true;
      int left = prev[W];
      int up = prev[tx];
      int right = prev[E];
      int shortest = MIN(left, up);
      shortest = MIN(shortest, right);
      int index = cols * (startStep + i) + xidx;
      result[tx] = shortest + gpuWall[index];
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) gpuResults[xidx] = result[tx];
}

// ---- LCS of many short pairs, one block a pair, anti-diagonals
#define LMAX 128
__global__ void lcs_diag(const unsigned char *a, const unsigned char *b, int *len, int L) {
  __shared__ unsigned char sa[LMAX], sb[LMAX];
  __shared__ int d0[LMAX + 1], d1[LMAX + 1], d2[LMAX + 1];
  int t = threadIdx.x;
  if (t < L) { sa[t] = a[(size_t)blockIdx.x * L + t]; sb[t] = b[(size_t)blockIdx.x * L + t]; }
  for (int i = t; i <= L; i += blockDim.x) { d0[i] = 0; d1[i] = 0; d2[i] = 0; }
  __syncthreads();
  int *pp = d0, *p = d1, *c = d2;       // indexed by row number
  for (int diag = 2; diag <= 2 * L; ++diag) {
    int i = t + 1, j = diag - i;
    if (i <= L && j >= 1 && j <= L) {
      if (sa[i - 1] == sb[j - 1]) c[i] = pp[i - 1] + 1;
      else c[i] = max(p[i - 1], p[i]);
    }
    __syncthreads();
    int *x = pp; pp = p; p = c; c = x;
  }
  if (t == 0) len[blockIdx.x] = p[L];
}

// ---- Smith-Waterman, affine gap, query in shared memory, one thread a database sequence
__constant__ signed char blosum[16 * 16];
struct SWArgs { const unsigned char *query; int qlen; const unsigned char *db; int slen; int nseq; int gapo, gape; short *best; };
__global__ void sw_intra(SWArgs p) {
  extern __shared__ int mem[];
  int *H = mem;                        // qlen + 1
  int *E = H + p.qlen + 1;
  int *F0 = E + p.qlen + 1;            // previous column of the wavefront
  unsigned char *q = (unsigned char *)(F0 + p.qlen + 1);
  // warp-free version: columns serial, rows by max-scan is overkill, do prefix on thread 0 only for F
  int seq = blockIdx.x;
  int best = 0;
  for (int i = threadIdx.x; i <= p.qlen; i += blockDim.x) { H[i] = 0; E[i] = -9999; F0[i] = 0; if (i < p.qlen) q[i] = p.query[i] & 15; }
  __syncthreads();
  for (int c = 0; c < p.slen; ++c) {
    int ch = p.db[(size_t)seq * p.slen + c] & 15;
    int i = threadIdx.x + 1;
    int h = 0, e = -9999;
    if (i <= p.qlen) {
      e = max(E[i] - p.gape, H[i] - p.gapo);
      h = max(0, max(e, H[i - 1] + blosum[q[i - 1] * 16 + ch]));
    }
    __syncthreads();
    if (i <= p.qlen) { E[i] = e; H[i] = h; F0[i] = h; }
    __syncthreads();
    // vertical gaps: prefix max of h + i * gape
    for (int d = 1; d <= p.qlen; d <<= 1) {
      int v = 0;
      if (i <= p.qlen) v = (i - d >= 1) ? max(F0[i], F0[i - d] - p.gapo - (d - 1) * p.gape) : F0[i];
      __syncthreads();
      if (i <= p.qlen) F0[i] = v;
      __syncthreads();
    }
    if (i <= p.qlen) { H[i] = max(H[i], F0[i]); best = max(best, H[i]); }
    __syncthreads();
  }
  __shared__ int top;
  if (threadIdx.x == 0) top = 0;
  __syncthreads();
  atomicMax(&top, best);
  __syncthreads();
  if (threadIdx.x == 0) p.best[seq] = (short)top;
}

// ---- 0/1 knapsack, the whole capacity row lives in shared memory, one problem a block
__global__ void knapsack_row(const int *wt, const int *val, int *best, int items, int cap) {
  extern __shared__ int row[];  // 2 * (cap + 1)
  int *cur = row, *nxt = row + cap + 1;
  for (int c = threadIdx.x; c <= cap; c += blockDim.x) cur[c] = 0;
  __syncthreads();
  for (int k = 0; k < items; ++k) {
    int w = wt[blockIdx.x * items + k] + 1, v = val[blockIdx.x * items + k];
    for (int c = threadIdx.x; c <= cap; c += blockDim.x) {
      int keep = cur[c];
      int take = c >= w ? cur[c - w] + v : 0;
      nxt[c] = keep > take ? keep : take;
    }
    __syncthreads();
    int *t = cur; cur = nxt; nxt = t;
  }
  for (int c = threadIdx.x; c <= cap; c += blockDim.x) best[(size_t)blockIdx.x * (cap + 1) + c] = cur[c];
}

int main() {
  { int cols = 500000, rows = 101, pyr = 20; int *wall = mk<int>(cols * rows), *r[2]; r[0] = mk<int>(cols); r[1] = mk<int>(cols);
    int border = pyr * HALO, small = PF_BLOCK - pyr * HALO * 2, nb = cols / small + (cols % small == 0 ? 0 : 1);
    int s = 1, d = 0;
    for (int t = 0; t < rows - 1; t += pyr) {
      int tmp = s; s = d; d = tmp;
      dynproc_kernel<<<nb, PF_BLOCK>>>(MIN(pyr, rows - t - 1), wall + cols, r[s], r[d], cols, rows, t, border);
    }
    show("dynproc", r[d], cols * 4); }
  { int n = 30000, L = 120; unsigned char *a = mk<unsigned char>(n * L), *b = mk<unsigned char>(n * L + 9); int *l = mk<int>(n);
    lcs_diag<<<n, 128>>>(a, b + 9, l, L);
    show("lcs_diag", l, n * 4); }
  { signed char m[256]; for (int i = 0; i < 256; ++i) m[i] = (i / 16 == i % 16) ? 5 : -((i * 7) % 4);
    cudaMemcpyToSymbol(blosum, m, 256);
    SWArgs p; p.qlen = 180; p.slen = 200; p.nseq = 6000; p.gapo = 6; p.gape = 1;
    p.query = mk<unsigned char>(p.qlen); p.db = mk<unsigned char>((size_t)p.nseq * p.slen + 5); p.best = mk<short>(p.nseq);
    sw_intra<<<p.nseq, 192, 3 * (p.qlen + 1) * sizeof(int) + p.qlen>>>(p);
    show("sw_intra", p.best, p.nseq * 2); }
  { int np = 4000, items = 100, cap = 2000; int *w = mk<int>(np * items), *v = mk<int>(np * items + 3), *b = mk<int>((size_t)np * (cap + 1));
    knapsack_row<<<np, 256, 2 * (cap + 1) * sizeof(int)>>>(w, v + 3, b, items, cap);
    show("knapsack_row", b, (size_t)np * (cap + 1) * 4); }
  return 0;
}
