// sequence analysis
#include "shown.h"
typedef unsigned char base_t;

// edit distance of many short pairs, one pair per thread, private DP row
#define MAXL 32
__global__ void edit_distance_batch(const base_t *a, const base_t *b, int *dist, int npairs) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= npairs) return;
  int row[MAXL + 1];
  const base_t *sa = a + (size_t)p * MAXL, *sb = b + (size_t)p * MAXL;
  for (int j = 0; j <= MAXL; ++j) row[j] = j;
  for (int i = 1; i <= MAXL; ++i) {
    int diag = row[0];
    row[0] = i;
    base_t ca = sa[i - 1];
    for (int j = 1; j <= MAXL; ++j) {
      int up = row[j];
      int cost = ca == sb[j - 1] ? 0 : 1;
      int v = min(min(up + 1, row[j - 1] + 1), diag + cost);
      diag = up;
      row[j] = v;
    }
  }
  dist[p] = row[MAXL];
}

// LCS of one pair per block, wavefront over anti-diagonals in shared memory
#define LEN 128
__global__ void lcs_wavefront(const base_t *x, const base_t *y, int *len) {
  __shared__ base_t sx[LEN], sy[LEN];
  __shared__ int d[3][LEN + 1];
  int t = threadIdx.x;
  sx[t] = x[(size_t)blockIdx.x * LEN + t];
  sy[t] = y[(size_t)blockIdx.x * LEN + t];
  for (int k = 0; k < 3; ++k) {
    d[k][t] = 0;
    if (t == 0) d[k][LEN] = 0;
  }
  __syncthreads();
  for (int diag = 0; diag < 2 * LEN - 1; ++diag) {
    int cur = diag % 3, p1 = (diag + 2) % 3, p2 = (diag + 1) % 3;
    int i = t, j = diag - t;
    if (j >= 0 && j < LEN) {
      int v;
      if (sx[i] == sy[j])
        v = (j > 0 ? d[p2][i] : 0) + 1;
      else
        v = max(d[p1][i], j > 0 ? d[p1][i + 1] : 0);
      d[cur][i + 1] = v;
    }
    __syncthreads();
  }
  if (t == LEN - 1) len[blockIdx.x] = d[(2 * LEN - 2) % 3][LEN];
}

// local alignment, query profile in shared memory, one database sequence per thread
#define QLEN 24
__global__ void sw_profile(const base_t *query, const base_t *db, int *best, int nseq, int dlen, int gap) {
  __shared__ signed char prof[16][QLEN];
  for (int k = threadIdx.x; k < 16 * QLEN; k += blockDim.x) {
    int c = k / QLEN, q = k % QLEN;
    prof[c][q] = query[q] == c ? 5 : -3;
  }
  __syncthreads();
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= nseq) return;
  int h[QLEN + 1];
  for (int q = 0; q <= QLEN; ++q) h[q] = 0;
  int m = 0;
  for (int j = 0; j < dlen; ++j) {
    int c = db[(size_t)j * nseq + s] & 15;
    int diag = 0;
    for (int q = 1; q <= QLEN; ++q) {
      int up = h[q];
      int v = max(max(diag + prof[c][q - 1], 0), max(up, h[q - 1]) - gap);
      diag = up;
      h[q] = v;
      m = max(m, v);
    }
  }
  best[s] = m;
}

// per-thread composition counters with data dependent index
__global__ void base_composition(const base_t *seq, unsigned short *cnt, int nseq, int len) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= nseq) return;
  unsigned short c[16];
  for (int k = 0; k < 16; ++k) c[k] = 0;
  for (int i = 0; i < len; ++i) c[seq[(size_t)i * nseq + s] & 15]++;
  for (int k = 0; k < 16; ++k) cnt[(size_t)k * nseq + s] = c[k];
}

// Viterbi: one observation sequence per block, one thread per state
#define NSTATE 64
__global__ void viterbi_block(const float *__restrict__ trans, const float *__restrict__ emit, const int *__restrict__ obs,
                              float *score, int T) {
  __shared__ float prob[NSTATE];
  __shared__ float A[NSTATE][NSTATE];
  int s = threadIdx.x;
  for (int k = 0; k < NSTATE; ++k) A[k][s] = trans[k * NSTATE + s];
  prob[s] = emit[(obs[(size_t)blockIdx.x * T]) * NSTATE + s];
  __syncthreads();
  for (int t = 1; t < T; ++t) {
    float best = -1e30f;
    for (int k = 0; k < NSTATE; ++k) best = fmaxf(best, prob[k] - A[k][s]);
    float e = emit[obs[(size_t)blockIdx.x * T + t] * NSTATE + s];
    __syncthreads();
    prob[s] = best - e;
    __syncthreads();
  }
  score[(size_t)blockIdx.x * NSTATE + s] = prob[s];
}

// Hamming matches of all offsets of a short pattern
#define PAT 20
__constant__ base_t c_pat[PAT];
__global__ void hamming_scan(const base_t *text, base_t *mism, int n) {
  __shared__ base_t buf[512 + PAT - 1];
  int g = blockIdx.x * 512 + threadIdx.x;
  buf[threadIdx.x] = g < n ? text[g] : 0;
  if (threadIdx.x < PAT - 1) {
    int g2 = g + 512;
    buf[threadIdx.x + 512] = g2 < n ? text[g2] : 0;
  }
  __syncthreads();
  if (g > n - PAT) return;
  int m = 0;
  for (int k = 0; k < PAT; k++) m += buf[threadIdx.x + k] != c_pat[k];
  mism[g] = (base_t)m;
}

int main() {
  {
    const int np = 1 << 17;
    base_t *a = mk<base_t>((size_t)np * MAXL), *b = mk<base_t>((size_t)np * MAXL + 64);
    int *d = mk<int>(np);
    edit_distance_batch<<<(np + 127) / 128, 128>>>(a, b + 37, d, np);
    show("edit_distance_batch", d, np * 4);
  }
  {
    const int np = 8192;
    base_t *a = mk<base_t>((size_t)np * LEN), *b = mk<base_t>((size_t)np * LEN + 64);
    int *d = mk<int>(np);
    lcs_wavefront<<<np, LEN>>>(a, b + 11, d);
    show("lcs_wavefront", d, np * 4);
  }
  {
    const int ns = 1 << 17, len = 100;
    base_t *q = mk<base_t>(QLEN), *db = mk<base_t>((size_t)ns * len);
    int *d = mk<int>(ns);
    unsigned short *c = mk<unsigned short>((size_t)ns * 16);
    sw_profile<<<(ns + 255) / 256, 256>>>(q, db, d, ns, len, 4);
    show("sw_profile", d, ns * 4);
    base_composition<<<(ns + 127) / 128, 128>>>(db, c, ns, len);
    show("base_composition", c, (size_t)ns * 32);
  }
  {
    const int ns = 4096, T = 64;
    float *tr = mk<float>(NSTATE * NSTATE), *em = mk<float>(16 * NSTATE), *sc = mk<float>(ns * NSTATE);
    int *obs = mk<int>(ns * T);
    viterbi_block<<<ns, NSTATE>>>(tr, em, obs, sc, T);
    show("viterbi_block", sc, ns * NSTATE * 4);
  }
  {
    const int n = 1 << 24;
    base_t hp[PAT];
    for (int i = 0; i < PAT; ++i) hp[i] = (base_t)(i * 3 % 13);
    cudaMemcpyToSymbol(c_pat, hp, PAT);
    base_t *t = mk<base_t>(n), *m = mk<base_t>(n);
    hamming_scan<<<(n + 511) / 512, 512>>>(t, m, n);
    show("hamming_scan", m, n);
  }
  return 0;
}
