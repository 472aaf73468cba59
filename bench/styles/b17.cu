#include "shown.h"

// Levenshtein with a private row
#define MAXW 40
__global__ void editDistance(const char *words, int stride, const int *len, const char *pattern, int plen, int *dist, int n) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= n) return;
  const char *s = words + (long)w * stride;
  int L = len[w];
  int col[MAXW + 1];
  for (int i = 0; i <= L; i++) col[i] = i;
  for (int p = 1; p <= plen; p++) {
    int last = p - 1;
    col[0] = p;
    for (int i = 1; i <= L; i++) {
      int old = col[i];
      int sub = last + (s[i - 1] == pattern[p - 1] ? 0 : 1);
      int best = col[i] + 1;
      if (col[i - 1] + 1 < best) best = col[i - 1] + 1;
      if (sub < best) best = sub;
      col[i] = best;
      last = old;
    }
  }
  dist[w] = col[L];
}

// RC4 keystream, state per thread
__global__ void rc4_keystream(const unsigned char *keys, int keyLen, unsigned char *out, int outLen, int n) {
  const int idx = threadIdx.x + blockIdx.x * blockDim.x;
  if (idx >= n) return;
  unsigned char S[256];
  for (int i = 0; i < 256; i++) S[i] = (unsigned char)i;
  unsigned char j = 0;
  for (int i = 0; i < 256; i++) {
    j = j + S[i] + keys[idx * keyLen + i % keyLen] + (unsigned char)idx;
    unsigned char t = S[i];
    S[i] = S[j];
    S[j] = t;
  }
  unsigned char a = 0, b = 0;
  for (int k = 0; k < outLen; k++) {
    a++;
    b += S[a];
    unsigned char t = S[a];
    S[a] = S[b];
    S[b] = t;
    out[k * n + idx] = S[(unsigned char)(S[a] + S[b])];
  }
}

// Thomas algorithm, coefficients in local arrays (ADI line solve)
#define LINE_MAX 128
__global__ void adi_thomas_lines(double *u, const double *rhs, double lam, int nx, int nlines) {
  int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= nlines) return;
  double cp[LINE_MAX], dp[LINE_MAX];
  double a = -lam, b = 1.0 + 2.0 * lam, c = -lam;
  cp[0] = c / b;
  dp[0] = rhs[line] / b;
  for (int i = 1; i < nx; i++) {
    double m = 1.0 / (b - a * cp[i - 1]);
    cp[i] = c * m;
    dp[i] = (rhs[i * nlines + line] - a * dp[i - 1]) * m;
  }
  u[(nx - 1) * nlines + line] = dp[nx - 1];
  for (int i = nx - 2; i >= 0; i--) {
    dp[i] -= cp[i] * dp[i + 1];
    u[i * nlines + line] = dp[i];
  }
}

// implicit kd-tree (heap order) range count with stack of (node, depth)
typedef struct { float x, y; } pt2;
__global__ void kdRangeCount(const pt2 *tree, int nNodes, const pt2 *queries, float radius, int *count, int nq) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q < nq) {
    int todo[40];
    int todoDepth[40];
    int top = 0, c = 0;
    pt2 Q = queries[q];
    todo[0] = 0;
    todoDepth[0] = 0;
    top = 1;
    while (top) {
      --top;
      int node = todo[top], dep = todoDepth[top];
      pt2 P = tree[node];
      float dx = Q.x - P.x, dy = Q.y - P.y;
      if (dx * dx + dy * dy <= radius * radius) c++;
      float plane = (dep & 1) ? dy : dx;
      int near = plane < 0 ? 2 * node + 1 : 2 * node + 2;
      int far = plane < 0 ? 2 * node + 2 : 2 * node + 1;
      if (near < nNodes) { todo[top] = near; todoDepth[top++] = dep + 1; }
      if (far < nNodes && fabsf(plane) <= radius) { todo[top] = far; todoDepth[top++] = dep + 1; }
    }
    count[q] = c;
  }
}

// Viterbi, 8 states, back pointers recomputed path length small
#define NSTATE 8
#define TLEN 24
__global__ void viterbiDecode(const float *logTrans, const float *logEmit, const unsigned char *obs, unsigned char *path, int nseq) {
  const unsigned s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= nseq) return;
  float score[2][NSTATE];
  unsigned char back[TLEN][NSTATE];
  for (int j = 0; j < NSTATE; j++) score[0][j] = logEmit[j * 16 + (obs[s] & 15)];
  for (int t = 1; t < TLEN; t++) {
    int o = obs[t * nseq + s] & 15;
    float *prev = score[(t - 1) & 1], *cur = score[t & 1];
    for (int j = 0; j < NSTATE; j++) {
      float b = -1e30f;
      int bi = 0;
      for (int i = 0; i < NSTATE; i++) {
        float v = prev[i] + logTrans[i * NSTATE + j];
        if (v > b) { b = v; bi = i; }
      }
      cur[j] = b + logEmit[j * 16 + o];
      back[t][j] = bi;
    }
  }
  int k = 0;
  for (int j = 1; j < NSTATE; j++)
    if (score[(TLEN - 1) & 1][j] > score[(TLEN - 1) & 1][k]) k = j;
  for (int t = TLEN - 1; t >= 0; t--) {
    path[t * nseq + s] = k;
    if (t) k = back[t][k];
  }
}

static void kd(pt2 *p, pt2 *t, int node, int n, int lo, int hi, int dep) {
  if (lo >= hi) return;
  for (int i = lo + 1; i < hi; i++) {  // insertion via shell passes is enough for a few thousand points
    pt2 k = p[i];
    int j = i - 1;
    while (j >= lo && ((dep & 1) ? p[j].y > k.y : p[j].x > k.x)) { p[j + 1] = p[j]; j--; }
    p[j + 1] = k;
  }
  int m = (lo + hi) / 2;
  t[node] = p[m];
  kd(p, t, 2 * node + 1, n, lo, m, dep + 1);
  kd(p, t, 2 * node + 2, n, m + 1, hi, dep + 1);
}

int main() {
  {
    int n = 100000, st = MAXW;
    char *w = mk<char>(n * st), *p = mk<char>(64);
    int *hl = (int *)malloc(n * 4), *l, *d = mk<int>(n);
    for (int i = 0; i < n; i++) hl[i] = 3 + i % 30;
    cudaMalloc(&l, n * 4);
    cudaMemcpy(l, hl, n * 4, cudaMemcpyHostToDevice);
    editDistance<<<(n + 255) / 256, 256>>>(w, st, l, p, 11, d, n);
    show("editDistance", d, n * 4);
  }
  {
    int n = 20000, kl = 13, ol = 64;
    unsigned char *k = mk<unsigned char>(n * kl), *o = mk<unsigned char>(n * ol);
    rc4_keystream<<<(n + 63) / 64, 64>>>(k, kl, o, ol, n);
    show("rc4_keystream", o, n * ol);
  }
  {
    int nx = 100, nl = 40000;
    double *r = mk<double>((size_t)nx * nl), *u = mk<double>((size_t)nx * nl);
    adi_thomas_lines<<<(nl + 127) / 128, 128>>>(u, r, 0.7, nx, nl);
    show("adi_thomas_lines", u, (size_t)nx * nl * 8);
  }
  {
    int n = 4095, nq = 60000;
    pt2 *h = (pt2 *)malloc(n * 8), *t = (pt2 *)malloc(n * 8), *d;
    for (int i = 0; i < n; i++) h[i] = {(float)((i * 7919u) % 4093) / 330.f, (float)((i * 104729u) % 4091) / 330.f};
    kd(h, t, 0, n, 0, n, 0);
    cudaMalloc(&d, n * 8);
    cudaMemcpy(d, t, n * 8, cudaMemcpyHostToDevice);
    pt2 *q = (pt2 *)mk<float>(nq * 2);
    int *c = mk<int>(nq);
    kdRangeCount<<<(nq + 127) / 128, 128>>>(d, n, q, 0.6f, c, nq);
    show("kdRangeCount", c, nq * 4);
  }
  {
    int n = 100000;
    float *lt = mk<float>(64), *le = mk<float>(128);
    unsigned char *o = mk<unsigned char>(n * TLEN), *p = mk<unsigned char>(n * TLEN);
    viterbiDecode<<<(n + 127) / 128, 128>>>(lt, le, o, p, n);
    show("viterbiDecode", p, n * TLEN);
  }
}
