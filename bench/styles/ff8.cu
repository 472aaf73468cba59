// per-thread private arrays with dynamic indices
#include "shown.h"

// 1. private 16-bin histogram over a run of values, then written strided
#define BINS 16
#define PER 64
__global__ void privateHistogram(const int *__restrict__ v, unsigned *__restrict__ hist, int nthreads) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= nthreads) return;
  unsigned h[BINS];
  for (int b = 0; b < BINS; b++) h[b] = 0;
  for (int k = 0; k < PER; k++) h[(v[(size_t)k * nthreads + t] + k * 3) & (BINS - 1)]++;
  for (int b = 0; b < BINS; b++) hist[(size_t)b * nthreads + t] = h[b];
}

// 2. traversal of an implicit tree with an explicit stack
struct Box { float lo, hi; };
__device__ bool overlaps(Box a, float q, float r) { return q + r >= a.lo && q - r <= a.hi; }
__global__ void intervalTreeQuery(const float *keys, const float *queries, int *counts, int nq, int depth, float radius) {
  int q = threadIdx.x + blockIdx.x * blockDim.x;
  if (q < nq) {
    int stack[32];
    int sp = 0;
    stack[sp++] = 1;
    float x = queries[q] * 13.7f;
    int hits = 0;
    while (sp > 0) {
      int node = stack[--sp];
      int lev = 31 - __clz(node);
      float width = 200.0f / (1 << lev);
      int at = node - (1 << lev);
      Box b = {at * width, (at + 1) * width};
      if (!overlaps(b, x, radius)) continue;
      if (lev == depth) {
        hits += (int)(keys[node] * 4.f) & 3;
        continue;
      }
      stack[sp++] = 2 * node;
      stack[sp++] = 2 * node + 1;
    }
    counts[q] = hits;
  }
}

// 3. top-k by insertion in a sorted private list
template <typename T, int K>
struct TopK {
  T val[K];
  int idx[K];
  __device__ void init(T worst) {
#pragma unroll
    for (int i = 0; i < K; ++i) { val[i] = worst; idx[i] = -1; }
  }
  __device__ void push(T v, int id) {
    if (!(v > val[K - 1])) return;
    int p = K - 1;
    while (p > 0 && val[p - 1] < v) {
      val[p] = val[p - 1];
      idx[p] = idx[p - 1];
      --p;
    }
    val[p] = v;
    idx[p] = id;
  }
};
template <typename T, int K>
__global__ void topk_columns(const T *__restrict__ scores, int *__restrict__ ids, size_t cols, int rows) {
  size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  TopK<T, K> top;
  top.init(T(-1e30));
  for (int r = 0; r < rows; ++r) top.push(scores[r * cols + c] * ((r * 37 + (int)(c & 15)) % 29), r);
  for (int k = 0; k < K; ++k) ids[k * cols + c] = top.idx[k];
}

// 4. table of constants indexed by data (ADPCM decoder)
__global__ void adpcm_decode(const unsigned char *codes, short *pcm, int nblocks, int blockBytes) {
  const int stepTab[40] = {7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307};
  const signed char adj[8] = {-1, -1, -1, -1, 2, 4, 6, 8};
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= nblocks) return;
  int pred = 0, index = 0;
  for (int i = 0; i < blockBytes; i++) {
    unsigned c = codes[(size_t)i * nblocks + b] * 37u + i;
    for (int half = 0; half < 2; ++half) {
      int n = half ? (c >> 4) & 15 : c & 15;
      int step = stepTab[index];
      int diff = step >> 3;
      if (n & 4) diff += step;
      if (n & 2) diff += step >> 1;
      if (n & 1) diff += step >> 2;
      pred += (n & 8) ? -diff : diff;
      pred = max(-32768, min(32767, pred));
      index += adj[n & 7];
      index = index < 0 ? 0 : index > 39 ? 39 : index;
      pcm[((size_t)i * 2 + half) * nblocks + b] = (short)pred;
    }
  }
}

// 5. Fisher-Yates permutation per thread, cycle count
static __device__ __forceinline__ unsigned xorshift(unsigned &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
constexpr unsigned PN = 24;
__global__ void randomPermCycles(const unsigned *seed, unsigned *cycles, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned s = seed[i] * 2654435761u + i * 40503u + 1u;
    if (!s) s = 77;
    unsigned char perm[PN];
    for (unsigned k = 0; k < PN; ++k) perm[k] = k;
    for (unsigned k = PN - 1; k > 0; --k) {
      unsigned j = xorshift(s) % (k + 1);
      unsigned char t = perm[k];
      perm[k] = perm[j];
      perm[j] = t;
    }
    unsigned seen = 0, c = 0, longest = 0;
    for (unsigned k = 0; k < PN; k++) {
      unsigned len = 0;
      for (unsigned p = k; !(seen >> p & 1); p = perm[p]) { seen |= 1u << p; len++; }
      c += len > 0;
      longest = max(longest, len);
    }
    cycles[i] = c * 100 + longest;
  }
}

// 6. Romberg, triangle kept in shared per thread ([level][thread]) with dynamic levels
#define RB_THREADS 64
#define RB_MAX 9
template <class F>
__device__ double trapStep(F f, double a, double h, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += f(a + (i + 0.5) * h);
  return s;
}
struct Gaussish {
  double c;
  __device__ double operator()(double x) const { return 1.0 / (1.0 + c * x * x); }
};
__global__ void romberg_integrate(const double *param, double *result, int n, int levels) {
  __shared__ double R[RB_MAX][RB_THREADS];
  int i = blockIdx.x * RB_THREADS + threadIdx.x;
  if (i >= n) return;
  Gaussish f{param[i] + 0.5};
  const int t = threadIdx.x;
  double h = 2.0;
  R[0][t] = 0.5 * h * (f(-1.0) + f(1.0));
  for (int l = 1, m = 1; l < levels; ++l, m <<= 1) {
    double prev = R[0][t];
    R[0][t] = 0.5 * prev + 0.5 * h * trapStep(f, -1.0, h, m);
    h *= 0.5;
    double p4 = 4.0;
    for (int k = 1; k <= l; ++k, p4 *= 4.0) {
      double keep = k < l ? R[k][t] : 0.0;
      R[k][t] = R[k - 1][t] + (R[k - 1][t] - prev) / (p4 - 1.0);
      prev = keep;
    }
  }
  result[i] = R[levels - 1][t];
}

// 7. BFS in a 6x6 bit maze with a private circular queue and byte distances
__global__ void mazeShortestPath(const unsigned long long *maze, signed char *dist, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n) return;
  unsigned long long walls = (maze[id] + 1) * 0x9E3779B97F4A7C15ull ^ ((unsigned long long)id * 0xD1B54A32D192ED03ull);
  walls &= walls >> 21;
  walls &= ~1ull;
  signed char d[36];
  unsigned char queue[16];
  for (int i = 0; i < 36; i++) d[i] = -1;
  unsigned head = 0, tail = 0;
  d[0] = 0;
  queue[tail++ & 15] = 0;
  const signed char dx[4] = {1, 0, -1, 0}, dy[4] = {0, 1, 0, -1};
  while (head != tail) {
    int c = queue[head++ & 15];
    int x = c % 6, y = c / 6;
    for (int k = 0; k < 4; k++) {
      int nx = x + dx[k], ny = y + dy[k];
      if (nx < 0 || ny < 0 || nx > 5 || ny > 5) continue;
      int m = ny * 6 + nx;
      if (d[m] >= 0 || (walls >> m & 1) || tail - head >= 16) continue;
      d[m] = d[c] + 1;
      queue[tail++ & 15] = (unsigned char)m;
    }
  }
  dist[id] = d[35];
}

// 8. LCS, DP row per thread, fixed pattern length, words in byte arrays; digit counters for a checksum
template <int LEN>
__device__ int lcsRow(const unsigned char (&a)[LEN], const unsigned char *b, size_t stride, int lb, unsigned short *digits) {
  unsigned char row[LEN + 1];
  for (int i = 0; i <= LEN; i++) row[i] = 0;
  for (int j = 0; j < lb; j++) {
    unsigned char ch = b[j * stride] % 10;
    digits[ch]++;
    int diag = 0;
    for (int i = 1; i <= LEN; i++) {
      int up = row[i];
      row[i] = a[i - 1] == ch ? diag + 1 : max(up, (int)row[i - 1]);
      diag = up;
    }
  }
  return row[LEN];
}
__global__ void lcs_digits(const unsigned char *text, const unsigned char *pat, int *score, int n, int lb) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  unsigned char a[20];
  unsigned short digits[10] = {0};
  if (i < n) {
    for (int k = 0; k < 20; k++) a[k] = pat[(k + (i & 7)) % 20] % 10;
    int s = lcsRow<20>(a, text + i, n, lb, digits);
    int w = 0;
    for (int d = 0; d < 10; d++) w = w * 3 + digits[(d + i) % 10];
    score[i] = s * 100000 + w % 100000;
  }
}

template <class K, class... A>
static void go(K kern, int n, int bs, A... a) { kern<<<(n + bs - 1) / bs, bs>>>(a...); }

int main() {
  {
    int nt = 800003;
    int *v = mk<int>((size_t)nt * PER);
    unsigned *h = mk<unsigned>((size_t)nt * BINS);
    go(privateHistogram, nt, 128, v, h, nt);
    show("privateHistogram", h, (size_t)nt * BINS * 4);
    cudaFree(v); cudaFree(h);
  }
  {
    int nq = 1000033, depth = 12;
    float *k = mk<float>(2 << depth), *q = mk<float>(nq);
    int *c = mk<int>(nq);
    go(intervalTreeQuery, nq, 256, k, q, c, nq, depth, 0.3f);
    show("intervalTreeQuery", c, (size_t)nq * 4);
    cudaFree(q); cudaFree(c);
  }
  {
    size_t cols = 300007;
    int rows = 100;
    float *s = mk<float>(cols * rows);
    int *o = mk<int>(cols * 8);
    topk_columns<float, 8><<<(cols + 127) / 128, 128>>>(s, o, cols, rows);
    show("topk_columns", o, cols * 32);
    cudaFree(s); cudaFree(o);
  }
  {
    int nb = 200011, bb = 48;
    unsigned char *c = mk<unsigned char>((size_t)nb * bb);
    short *p = mk<short>((size_t)nb * bb * 2);
    go(adpcm_decode, nb, 64, c, p, nb, bb);
    show("adpcm_decode", p, (size_t)nb * bb * 4);
    cudaFree(c); cudaFree(p);
  }
  {
    unsigned n = 2000003;
    unsigned *s = mk<unsigned>(n), *c = mk<unsigned>(n);
    randomPermCycles<<<132 * 8, 256>>>(s, c, n);
    show("randomPermCycles", c, (size_t)n * 4);
    cudaFree(s); cudaFree(c);
  }
  {
    int n = 150001;
    double *p = mk<double>(n), *r = mk<double>(n);
    romberg_integrate<<<(n + RB_THREADS - 1) / RB_THREADS, RB_THREADS>>>(p, r, n, 8);
    show("romberg_integrate", r, (size_t)n * 8);
  }
  {
    int n = 1200007;
    unsigned long long *m = mk<unsigned long long>(n);
    signed char *d = mk<signed char>(n);
    go(mazeShortestPath, n, 128, m, d, n);
    show("mazeShortestPath", d, n);
  }
  {
    int n = 400009, lb = 40;
    unsigned char *t = mk<unsigned char>((size_t)n * lb), *p = mk<unsigned char>(20);
    int *s = mk<int>(n);
    go(lcs_digits, n, 256, t, p, s, n, lb);
    show("lcs_digits", s, (size_t)n * 4);
  }
  return 0;
}
