// Sequences: alignment, profiles, hidden states, counting, and other dynamic programs.
#include <cstdint>
#include "shown.h"

// 1. Needleman-Wunsch scores of pairs of length LEN, anti-diagonals in three rotating rows ----
template <int LEN>
__global__ void nwScore(const unsigned char *__restrict__ qs, const unsigned char *__restrict__ ts, int *__restrict__ score,
                        int match, int mismatch, int gap)
{
  __shared__ int diag[3][LEN + 1];
  __shared__ unsigned char q[LEN], t[LEN];
  const int i = threadIdx.x;                   // row i + 1 of the table
  q[i] = qs[(size_t)blockIdx.x * LEN + i] & 3;
  t[i] = ts[(size_t)blockIdx.x * LEN + i] & 3;
  if (i == 0) {
    diag[0][0] = 0;
    diag[1][0] = gap;
    diag[1][1] = gap;
  }
  __syncthreads();
  for (int d = 2; d <= 2 * LEN; d++) {
    int *cur = diag[d % 3];
    const int *p1 = diag[(d + 2) % 3], *p2 = diag[(d + 1) % 3];
    int r = i + 1, c = d - r;
    if (c >= 1 && c <= LEN) {
      int s = p2[r - 1] + (q[r - 1] == t[c - 1] ? match : mismatch);
      int up = p1[r - 1] + gap, left = p1[r] + gap;
      cur[r] = max(s, max(up, left));
    } else if (c == 0) {
      cur[r] = d * gap;
    }
    if (i == 0 && d <= LEN) cur[0] = d * gap;
    __syncthreads();
  }
  if (i == LEN - 1) score[blockIdx.x] = diag[(2 * LEN) % 3][LEN];
}

// 2. Viterbi forward pass, one observation sequence a block, a state a thread -------------------
#define NSTATE 64
__global__ void viterbi_fwd(const float *logA, const float *logB, const unsigned char *obs, float *best, unsigned char *back,
                            int T, int nsym) {
  __shared__ float v[2][NSTATE];
  __shared__ float A[NSTATE][NSTATE + 1];
  const int j = threadIdx.x;
  const unsigned char *o = obs + (size_t)blockIdx.x * T;
  for (int i = 0; i < NSTATE; i++) A[i][j] = -logA[i * NSTATE + j];
  v[0][j] = -logB[j * nsym + o[0] % nsym];
  __syncthreads();
  for (int t = 1; t < T; t++) {
    const float *prev = v[(t - 1) & 1];
    float m = prev[0] + A[0][j];
    int arg = 0;
    for (int i = 1; i < NSTATE; i++) {
      float w = prev[i] + A[i][j];
      if (w > m) { m = w; arg = i; }
    }
    v[t & 1][j] = m - logB[j * nsym + (o[t] + t) % nsym];
    back[((size_t)blockIdx.x * T + t) * NSTATE + j] = (unsigned char)arg;
    __syncthreads();
  }
  best[blockIdx.x * NSTATE + j] = v[(T - 1) & 1][j];
}

// 3. Myers' bit-vector edit distance, pattern masks in a private table ----------------------------
__global__ void myersEdit(const unsigned char *__restrict__ reads, const unsigned char *__restrict__ ref, int *__restrict__ dist,
                          unsigned nread, int m, int n) {
  unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= nread) return;
  uint64_t peq[16];
  for (int k = 0; k < 16; k++) peq[k] = 0;
  for (int i = 0; i < m; i++) peq[(reads[(size_t)i * nread + id] + (i * id >> 3)) & 15] |= 1ull << i;
  uint64_t pv = ~0ull, mv = 0;
  int score = m, low = m;
  for (int j = 0; j < n; j++) {
    uint64_t eq = peq[ref[(j + id * 5) % n] & 15];
    uint64_t xv = eq | mv;
    uint64_t xh = (((eq & pv) + pv) ^ pv) | eq;
    uint64_t ph = mv | ~(xh | pv);
    uint64_t mh = pv & xh;
    if (ph >> (m - 1) & 1) score++;
    if (mh >> (m - 1) & 1) score--;
    ph <<= 1;
    mh <<= 1;
    pv = mh | ~(xv | ph);
    mv = ph & xv;
    if (score < low) low = score;
  }
  dist[id] = low;
}

// 4. 0/1 knapsack, one instance a block, capacities in shared memory -------------------------------
__global__ void knapsackRows(const int *weight, const int *value, int *best, int items, int cap)
{
  extern __shared__ int row[];
  int *a = row, *b = row + cap + 1;
  for (int c = threadIdx.x; c <= cap; c += blockDim.x) a[c] = 0;
  __syncthreads();
  for (int k = 0; k < items; k++) {
    int w = 1 + weight[blockIdx.x * items + k] * 9 + k % 5;
    int v = 3 + value[blockIdx.x * items + k] * ((k * 7) % 11 + 1);
    for (int c = threadIdx.x; c <= cap; c += blockDim.x) {
      int keep = a[c];
      if (c >= w) {
        int take = a[c - w] + v;
        keep = take > keep ? take : keep;
      }
      b[c] = keep;
    }
    __syncthreads();
    int *t = a; a = b; b = t;
  }
  for (int c = threadIdx.x; c <= cap; c += blockDim.x) best[(size_t)blockIdx.x * (cap + 1) + c] = a[c];
}

// 5. joint histogram of two images, 32 x 32 bins, block totals written out ---------------------------
__global__ void jointHist32(const uint8_t *a, const uint8_t *b, unsigned *partial, size_t n) {
  __shared__ unsigned bins[32][32];
  unsigned *flat = &bins[0][0];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) flat[i] = 0u;
  __syncthreads();
  size_t per = (n + gridDim.x - 1) / gridDim.x;
  size_t lo = per * blockIdx.x, hi = lo + per < n ? lo + per : n;
  for (size_t i = lo + threadIdx.x; i < hi; i += blockDim.x) {
    unsigned p = (a[i] * 5u + (unsigned)(i >> 9)) & 31u, q = (b[i] + (unsigned)(i % 11)) & 31u;
    atomicAdd(&bins[p][q], 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) partial[blockIdx.x * 1024u + i] = flat[i];
}

// 6. codon usage of genes: 64 private counters, relative entropy -----------------------------------
struct GeneStat { float entropy; int top; int stops; };
__global__ void codonUsage(const unsigned char *seq, GeneStat *out, int genes, int len) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= genes) return;
  unsigned short cnt[64];
  for (int k = 0; k < 64; k++) cnt[k] = 0;
  for (int p = 0; p + 2 < len; p += 3) {
    int c = 0;
    for (int k = 0; k < 3; k++) c = c << 2 | ((seq[(size_t)(p + k) * genes + g] + (p + k) * g % 3) & 3);
    cnt[c]++;
  }
  float total = (float)(len / 3), h = 0.f;
  int top = 0;
  for (int k = 0; k < 64; k++) {
    if (cnt[k] > cnt[top]) top = k;
    if (cnt[k]) { float f = cnt[k] / total; h -= f * log2f(f); }
  }
  GeneStat s;
  s.entropy = h;
  s.top = top;
  s.stops = cnt[48] + cnt[50] + cnt[56];
  out[g] = s;
}

// 7. minimizers: hash every k-mer in the tile, then the least hash of W neighbours -------------------
#define KMER 15
#define MW 10
#define MBLK 256
__device__ __forceinline__ unsigned mix32(unsigned h) {
  h ^= h >> 16; h *= 0x85ebca6bu;
  h ^= h >> 13; h *= 0xc2b2ae35u;
  return h ^ (h >> 16);
}
__global__ void __launch_bounds__(MBLK) minimizers(const unsigned char *__restrict__ seq, unsigned *__restrict__ mz,
                                                   unsigned char *__restrict__ isNew, unsigned n) {
  __shared__ unsigned char base[MBLK + MW + KMER];
  __shared__ unsigned hs[MBLK + MW];
  const unsigned b0 = blockIdx.x * MBLK;
  for (unsigned k = threadIdx.x; k < MBLK + MW + KMER; k += MBLK) {
    unsigned g = b0 + k;
    base[k] = g < n ? (unsigned char)((seq[g] ^ (g >> 6)) & 3) : (unsigned char)0;
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < MBLK + MW; k += MBLK) {
    unsigned w = 0;
    for (unsigned j = 0; j < KMER; j++) w = w << 2 | base[k + j];
    hs[k] = mix32(w);
  }
  __syncthreads();
  unsigned g = b0 + threadIdx.x;
  if (g + MW + KMER <= n) {
    unsigned m = hs[threadIdx.x];
    for (unsigned j = 1; j < MW; j++) m = min(m, hs[threadIdx.x + j]);
    unsigned nxt = hs[threadIdx.x + 1];
    for (unsigned j = 2; j <= MW; j++) nxt = min(nxt, hs[threadIdx.x + j]);
    mz[g] = m;
    isNew[g] = nxt != m;
  }
}

// 8. position weight matrices scanned over both strands ------------------------------------------------
template <int MLEN>
__global__ void pwmScan(const unsigned char *dna, const float *pwm, float *hit, int n, int nmotif)
{
  __shared__ float w[4][MLEN];
  __shared__ unsigned char s[128 + MLEN - 1];
  int start = blockIdx.x * 128;
  for (int k = threadIdx.x; k < 128 + MLEN - 1; k += 128) s[k] = start + k < n ? dna[start + k] & 3 : 0;
  for (int m = 0; m < nmotif; m++) {
    __syncthreads();
    for (int e = threadIdx.x; e < 4 * MLEN; e += 128) w[e / MLEN][e % MLEN] = pwm[m * 4 * MLEN + e] - 6.f;
    __syncthreads();
    float f = 0.f, r = 0.f;
#pragma unroll 4
    for (int k = 0; k < MLEN; k++) {
      int b = s[threadIdx.x + k];
      f += w[b][k];
      r += w[3 - b][MLEN - 1 - k];
    }
    if (start + threadIdx.x + MLEN <= n) hit[(size_t)m * n + start + threadIdx.x] = f > r ? f : r;
  }
}

int main() {
  {
    int pairs = 6000;
    unsigned char *q = mk<unsigned char>(pairs * 128 + 9), *t = mk<unsigned char>(pairs * 128);
    int *s = mk<int>(pairs);
    nwScore<128><<<pairs, 128>>>(q + 9, t, s, 2, -1, -2);
    show("nwScore", s, pairs * 4);
  }
  {
    int nseq = 1000, T = 120, nsym = 20;
    float *A = mk<float>(NSTATE * NSTATE), *B = mk<float>(NSTATE * nsym), *best = mk<float>(nseq * NSTATE);
    unsigned char *o = mk<unsigned char>(nseq * T), *back = mk<unsigned char>((size_t)nseq * T * NSTATE);
    viterbi_fwd<<<nseq, NSTATE>>>(A, B, o, best, back, T, nsym);
    show("viterbi_fwd", best, nseq * NSTATE * 4);
    show("viterbi_fwd", back, (size_t)nseq * T * NSTATE);
  }
  {
    unsigned nread = 60000;
    int m = 60, n = 300;
    unsigned char *r = mk<unsigned char>((size_t)nread * m), *ref = mk<unsigned char>(n);
    int *d = mk<int>(nread);
    myersEdit<<<(nread + 255) / 256, 256>>>(r, ref, d, nread, m, n);
    show("myersEdit", d, nread * 4);
  }
  {
    int inst = 1500, items = 60, cap = 2500;
    int *w = mk<int>(inst * items + 50), *b = mk<int>((size_t)inst * (cap + 1));
    knapsackRows<<<inst, 256, 2 * (cap + 1) * sizeof(int)>>>(w, w + 50, b, items, cap);
    show("knapsackRows", b, (size_t)inst * (cap + 1) * 4);
  }
  {
    size_t n = 60000000;
    uint8_t *a = mk<uint8_t>(n), *b = mk<uint8_t>(n);
    unsigned *p = mk<unsigned>(600 * 1024);
    jointHist32<<<600, 512>>>(a, b, p, n);
    show("jointHist32", p, 600 * 4096);
    cudaFree(a); cudaFree(b);
  }
  {
    int genes = 50000, len = 600;
    unsigned char *s = mk<unsigned char>((size_t)genes * len);
    GeneStat *g = (GeneStat *)mk<int>(genes * 3);
    codonUsage<<<(genes + 127) / 128, 128>>>(s, g, genes, len);
    show("codonUsage", g, genes * sizeof(GeneStat));
    cudaFree(s);
  }
  {
    unsigned n = 20000003;
    unsigned char *s = mk<unsigned char>(n), *f = mk<unsigned char>(n);
    unsigned *m = mk<unsigned>(n);
    minimizers<<<(n + MBLK - 1) / MBLK, MBLK>>>(s, m, f, n);
    show("minimizers", m, n * 4ul);
    show("minimizers", f, n);
    cudaFree(s); cudaFree(f); cudaFree(m);
  }
  {
    int n = 3000000, nm = 12;
    unsigned char *s = mk<unsigned char>(n);
    float *p = mk<float>(nm * 4 * 18), *h = mk<float>((size_t)n * nm);
    pwmScan<18><<<(n + 127) / 128, 128>>>(s, p, h, n, nm);
    show("pwmScan", h, (size_t)n * nm * 4);
  }
  return 0;
}
