#include "shown.h"

// per-thread top-k by insertion
template <int K>
__global__ void topkPerQuery(const float *dist, float *kd, int *ki, int nq, int nref) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= nq) return;
  float best[K];
  int id[K];
  for (int i = 0; i < K; i++) { best[i] = 1e30f; id[i] = -1; }
  for (int r = 0; r < nref; r++) {
    float d = dist[(size_t)r * nq + q];
    if (d >= best[K - 1]) continue;
    int j = K - 1;
    while (j > 0 && best[j - 1] > d) {
      best[j] = best[j - 1];
      id[j] = id[j - 1];
      j--;
    }
    best[j] = d;
    id[j] = r;
  }
  for (int i = 0; i < K; i++) { kd[i * nq + q] = best[i]; ki[i * nq + q] = id[i]; }
}

// TSP: n-th permutation decode, tour length
#define NCITY 9
__global__ void tspBruteForce(const float *dm, float *bestLen, unsigned long total, unsigned perThread) {
  unsigned tid = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long first = (unsigned long)tid * perThread;
  float best = 1e30f;
  for (unsigned long p = first; p < first + perThread && p < total; ++p) {
    int avail[NCITY], perm[NCITY];
    for (int i = 0; i < NCITY; i++) avail[i] = i;
    unsigned long rem = p;
    int left = NCITY;
    for (int i = 0; i < NCITY; i++) {
      int k = rem % left;
      rem /= left;
      perm[i] = avail[k];
      for (int j = k; j < left - 1; j++) avail[j] = avail[j + 1];
      left--;
    }
    float len = 0;
    for (int i = 0; i < NCITY; i++) len += dm[perm[i] * NCITY + perm[(i + 1) % NCITY]];
    if (len < best) best = len;
  }
  bestLen[tid] = best;
}

// N queens with backtracking
#define MAXQ 16
__global__ void queensCount(int n, unsigned *cnt) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * n * n) return;
  int pos[MAXQ];
  pos[0] = t / (n * n);
  pos[1] = (t / n) % n;
  pos[2] = t % n;
  unsigned found = 0;
  bool ok = true;
  for (int a = 0; a < 3; a++)
    for (int b = a + 1; b < 3; b++)
      if (pos[a] == pos[b] || abs(pos[a] - pos[b]) == b - a) ok = false;
  if (ok) {
    int row = 3;
    pos[row] = -1;
    while (row >= 3) {
      pos[row]++;
      if (pos[row] >= n) { row--; continue; }
      bool good = true;
      for (int r = 0; r < row; r++)
        if (pos[r] == pos[row] || abs(pos[r] - pos[row]) == row - r) { good = false; break; }
      if (!good) continue;
      if (row == n - 1) found++;
      else pos[++row] = -1;
    }
  }
  cnt[t] = found;
}

// CSR row x thin dense into dense accumulator of 32 buckets
struct CsrView { const int *rowPtr; const int *col; const double *val; int rows; };
__global__ void sparseBucketAccum(CsrView A, const int *group, double *out) {
  for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < A.rows; r += blockDim.x * gridDim.x) {
    double acc[24];
    memset(acc, 0, sizeof(acc));
    for (int e = A.rowPtr[r]; e < A.rowPtr[r + 1]; ++e) acc[group[A.col[e]]] += A.val[e];
    int arg = 0;
    double tot = 0;
    for (int g = 0; g < 24; ++g) {
      tot += acc[g];
      if (acc[g] > acc[arg]) arg = g;
    }
    out[2 * r] = tot;
    out[2 * r + 1] = acc[arg] + arg;
  }
}

// iterative quicksort on small private rows
#define QN 48
__global__ void quicksortRows(const int *in, int *out, int n) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid >= n) return;
  int a[QN];
  for (int i = 0; i < QN; i++) a[i] = (in[i * n + tid] * 1103515245u + 12345u * i + tid) >> 8 & 0xffff;
  short lo_s[QN], hi_s[QN];
  int top = -1;
  ++top; lo_s[top] = 0; hi_s[top] = QN - 1;
  while (top >= 0) {
    int lo = lo_s[top], hi = hi_s[top--];
    int pivot = a[hi], i = lo - 1;
    for (int j = lo; j < hi; j++)
      if (a[j] <= pivot) {
        i++;
        int t = a[i]; a[i] = a[j]; a[j] = t;
      }
    int t = a[i + 1]; a[i + 1] = a[hi]; a[hi] = t;
    int p = i + 1;
    if (p - 1 > lo) { ++top; lo_s[top] = lo; hi_s[top] = p - 1; }
    if (p + 1 < hi) { ++top; lo_s[top] = p + 1; hi_s[top] = hi; }
  }
  for (int i = 0; i < QN; i++) out[i * n + tid] = a[i];
}

int main() {
  {
    int nq = 20000, nr = 500;
    float *d = mk<float>((size_t)nq * nr), *kd = mk<float>(nq * 10);
    int *ki = mk<int>(nq * 10);
    topkPerQuery<10><<<(nq + 63) / 64, 64>>>(d, kd, ki, nq, nr);
    show("topkPerQuery", ki, nq * 40);
  }
  {
    unsigned long total = 362880;
    unsigned per = 12, th = (total + per - 1) / per, g = (th + 127) / 128;
    float *dm = mk<float>(NCITY * NCITY), *b = mk<float>(g * 128);
    tspBruteForce<<<g, 128>>>(dm, b, total, per);
    show("tspBruteForce", b, g * 128 * 4);
  }
  {
    int n = 10, t = n * n * n;
    unsigned *c = mk<unsigned>(t);
    queensCount<<<(t + 95) / 96, 96>>>(n, c);
    show("queensCount", c, t * 4);
  }
  {
    int rows = 80000, ncol = 5000, tot = 0;
    int *hp = (int *)malloc((rows + 1) * 4), *p, *c, *g;
    for (int i = 0; i <= rows; i++) { hp[i] = tot; tot += 5 + (i * 7) % 40; }
    int *hc = (int *)malloc(tot * 4), *hg = (int *)malloc(ncol * 4);
    for (int i = 0; i < tot; i++) hc[i] = (i * 7919u) % ncol;
    for (int i = 0; i < ncol; i++) hg[i] = (i * 31) % 24;
    cudaMalloc(&p, (rows + 1) * 4); cudaMalloc(&c, tot * 4); cudaMalloc(&g, ncol * 4);
    cudaMemcpy(p, hp, (rows + 1) * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(c, hc, tot * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(g, hg, ncol * 4, cudaMemcpyHostToDevice);
    double *v = mk<double>(tot), *o = mk<double>(rows * 2);
    sparseBucketAccum<<<256, 128>>>(CsrView{p, c, v, rows}, g, o);
    show("sparseBucketAccum", o, rows * 16);
  }
  {
    int n = 50000;
    int *a = mk<int>(n * QN), *b = mk<int>(n * QN);
    quicksortRows<<<(n + 127) / 128, 128>>>(a, b, n);
    show("quicksortRows", b, n * QN * 4);
  }
}
