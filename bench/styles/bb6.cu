// bioinformatics + string kernels
#include <string>
#include <vector>
#include <cstdint>
#include "shown.h"

// ===== Smith-Waterman, linear gap, one pair per block, anti-diagonal wavefront =====
// thread j owns query letter j; three diagonals rotate in shared memory
#define SW_Q 96
__global__ void swWavefront(const char *queries, const char *targets, const int8_t *subst, int *score, int qlen, int tlen, int gap)
{
    __shared__ int8_t S[24 * 24];
    __shared__ int H[3][SW_Q + 1];
    __shared__ int best[SW_Q];
    int j = threadIdx.x;
    for (int k = j; k < 24 * 24; k += blockDim.x) S[k] = subst[k];
    for (int d = 0; d < 3; d++) {
        H[d][j + 1] = 0;
        if (j == 0) H[d][0] = 0;
    }
    int q = j < qlen ? queries[(size_t)blockIdx.x * qlen + j] : 0;
    const char *t = targets + (size_t)blockIdx.x * tlen;
    int mybest = 0;
    int p2 = 0, p1 = 1, cur = 2;
    __syncthreads();
    for (int d = 0; d < qlen + tlen - 1; d++) {
        int i = d - j;
        if (j < qlen && i >= 0 && i < tlen) {
            int diag = H[p2][j] + S[q * 24 + t[i]];
            int up = H[p1][j + 1] - gap;
            int left = H[p1][j] - gap;
            int h = max(max(0, diag), max(up, left));
            H[cur][j + 1] = h;
            mybest = max(mybest, h);
        } else {
            H[cur][j + 1] = 0;
        }
        __syncthreads();
        int tmp = p2; p2 = p1; p1 = cur; cur = tmp;
    }
    best[j] = mybest;
    __syncthreads();
    if (j == 0) {
        int b = 0;
        for (int k = 0; k < qlen; k++) b = max(b, best[k]);
        score[blockIdx.x] = b;
    }
}

// ===== Needleman-Wunsch tile: boundaries in, bottom row and right column out =====
template <int T>
__global__ void nwTile(const uint8_t *__restrict__ a, const uint8_t *__restrict__ b, const int *__restrict__ top,
                       const int *__restrict__ left, int *__restrict__ bottom, int *__restrict__ right, int penalty) {
  __shared__ int cell[T + 1][T + 1];
  __shared__ uint8_t sa[T], sb[T];
  const int t = threadIdx.x;
  const size_t tile = blockIdx.x;
  sa[t] = a[tile * T + t];
  sb[t] = b[tile * T + t];
  cell[0][t + 1] = top[tile * T + t] - (t + 1) * penalty;
  cell[t + 1][0] = left[tile * T + t] - (t + 1) * penalty;
  if (t == 0) cell[0][0] = 0;
  for (int d = 0; d < 2 * T - 1; ++d) {
    __syncthreads();
    int r = d - t;
    if (r >= 0 && r < T) {
      int m = cell[r][t] + (sa[r] == sb[t] ? 5 : -4);
      m = max(m, cell[r][t + 1] - penalty);
      m = max(m, cell[r + 1][t] - penalty);
      cell[r + 1][t + 1] = m;
    }
  }
  __syncthreads();
  bottom[tile * T + t] = cell[T][t + 1];
  right[tile * T + t] = cell[t + 1][T];
}

// ===== k-mer spectrum: histogram of 4^5 words, reverse complement folded =====
enum { KMER = 5, NWORDS = 1 << (2 * KMER) };
__device__ unsigned revcomp(unsigned w) {
  unsigned r = 0;
  for (int i = 0; i < KMER; i++) { r = (r << 2) | (3 - (w & 3)); w >>= 2; }
  return r;
}
__global__ void kmerSpectrum(const uint8_t *seq, unsigned int *spectrum, long long len) {
  __shared__ unsigned int bins[NWORDS];
  for (int i = threadIdx.x; i < NWORDS; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (long long p = blockIdx.x * (long long)blockDim.x + threadIdx.x; p + KMER <= len; p += (long long)gridDim.x * blockDim.x) {
    unsigned w = 0;
#pragma unroll
    for (int k = 0; k < KMER; k++) w = (w << 2) | (seq[p + k] & 3);
    unsigned rc = revcomp(w);
    atomicAdd(&bins[w < rc ? w : rc], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < NWORDS; i += blockDim.x)
    if (bins[i]) atomicAdd(&spectrum[i], bins[i]);
}

// ===== Levenshtein distance, one row kept per thread =====
#define MAX_PATTERN 64
__global__ void editDistance(const char *words, const char *dict, unsigned short *dist, int nw, int wl, int dl)
{
	int id = blockIdx.x * blockDim.x + threadIdx.x;
	if (id >= nw)
		return;
	unsigned short row[MAX_PATTERN + 1];
	for (int j = 0; j <= wl; j++)
		row[j] = j;
	for (int i = 1; i <= dl; i++) {
		char c = dict[(size_t)(i - 1) * nw + id];
		int prev = row[0];
		row[0] = i;
		for (int j = 1; j <= wl; j++) {
			int old = row[j];
			int v = prev + (words[(size_t)(j - 1) * nw + id] != c);
			if (row[j] + 1 < v) v = row[j] + 1;
			if (row[j - 1] + 1 < v) v = row[j - 1] + 1;
			row[j] = v;
			prev = old;
		}
	}
	dist[id] = row[wl];
}

// ===== HMM forward algorithm with scaling, 64 hidden states =====
constexpr int NS = 64;
__global__ void hmmForward(const float *A, const float *Bemit, const unsigned char *obs, double *loglik, int T, int nsym) {
  __shared__ float trans[NS][NS];
  __shared__ float alpha[NS];
  __shared__ float part[2];
  const int s = threadIdx.x;
  for (int i = 0; i < NS; i++) trans[i][s] = A[i * NS + s] + 0.1f;
  alpha[s] = 1.f / NS;
  const unsigned char *o = obs + (size_t)blockIdx.x * T;
  double ll = 0.0;
  __syncthreads();
  for (int t = 0; t < T; ++t) {
    float a = 0.f;
    for (int i = 0; i < NS; ++i) a += alpha[i] * trans[i][s];
    a *= Bemit[(o[t] % nsym) * NS + s] + 0.05f;
    float w = a;
    for (int m = 16; m > 0; m /= 2) w += __shfl_xor_sync(0xffffffff, w, m);
    if ((s & 31) == 0) part[s >> 5] = w;
    __syncthreads();
    float c = part[0] + part[1];
    alpha[s] = a / c;
    ll += log((double)c);
    __syncthreads();
  }
  if (s == 0) loglik[blockIdx.x] = ll;
}

// ===== PSSM / motif scan with a tile of the sequence in dynamic shared memory =====
__global__ void pssmScan(const uint8_t *seq, const float *pssm, float *hit, int n, int L) {
  extern __shared__ float mem[];
  float *mat = mem;                              // L x 4
  uint8_t *win = (uint8_t *)(mem + 4 * L);       // blockDim + L - 1
  int start = blockIdx.x * blockDim.x;
  for (int i = threadIdx.x; i < 4 * L; i += blockDim.x) mat[i] = pssm[i] - 6.f;
  for (int i = threadIdx.x; i < (int)blockDim.x + L - 1; i += blockDim.x) win[i] = start + i < n ? seq[start + i] & 3 : 0;
  __syncthreads();
  int p = start + threadIdx.x;
  if (p + L > n) return;
  float f = 0.f;
  for (int k = 0; k < L; k++) f += mat[4 * k + win[threadIdx.x + k]];
  hit[p] = f;
}

// ===== DFA matching: transition table in shared memory, each thread scans a strip =====
#define STATES 96
#define CLASSES 32
__global__ void dfaScan(const char *text, const unsigned short *delta, unsigned int *hits, int n, int strip, int overlap) {
  __shared__ unsigned short table[STATES * CLASSES];
  for (unsigned i = threadIdx.x; i < STATES * CLASSES; i += blockDim.x) table[i] = delta[i];
  __syncthreads();
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  int from = tid * strip;
  int to = min(from + strip + overlap, n);
  unsigned short st = 0;
  unsigned found = 0;
  for (int p = from; p < to; ++p) {
    st = table[st * CLASSES + (text[p] & 31)];
    if (st >= STATES - 4) { ++found; st = 0; }
  }
  hits[tid] = found;
}

// ===== Nussinov RNA folding of short windows =====
#define FOLD 56
__device__ __forceinline__ int canPair(int x, int y) {
  int s = (x & 3) * 4 + (y & 3);
  return (0x4A52 >> s) & 1;
}
__global__ void nussinovWindows(const uint8_t *rna, uint8_t *maxPairs, int step)
{
  __shared__ uint8_t w[FOLD];
  __shared__ uint8_t M[FOLD + 1][FOLD + 3];
  const uint8_t *r = rna + (size_t)blockIdx.x * step;
  int t = threadIdx.x;
  if (t < FOLD) w[t] = r[t];
  for (int k = t; k < (FOLD + 1) * (FOLD + 3); k += blockDim.x) M[k / (FOLD + 3)][k % (FOLD + 3)] = 0;
  __syncthreads();
  for (int span = 4; span < FOLD; span++) {
    int i = t, j = t + span;
    if (j < FOLD) {
      int b = max((int)M[i + 1][j], (int)M[i][j - 1]);
      if (canPair(w[i], w[j])) b = max(b, M[i + 1][j - 1] + 1);
      for (int k = i + 1; k < j; k++) b = max(b, M[i][k] + M[k + 1][j]);
      M[i][j] = b;
    }
    __syncthreads();
  }
  if (t < FOLD) maxPairs[(size_t)blockIdx.x * FOLD + t] = M[0][t];
}

template <class T>
static T *letters(size_t n, int alphabet, int first, unsigned seed) {
  std::vector<T> h(n);
  for (size_t i = 0; i < n; i++) {
    seed = seed * 22695477u + 1u;
    h[i] = (T)(first + ((seed >> 16) & 0x7fff) % alphabet);
  }
  T *d;
  cudaMalloc(&d, n * sizeof(T));
  cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

int main(int argc, char **argv) {
  {
    int pairs = 8000, ql = 90, tl = 350;
    char *q = letters<char>((size_t)pairs * ql, 24, 0, 1), *t = letters<char>((size_t)pairs * tl, 24, 0, 2);
    int8_t *s = letters<int8_t>(24 * 24, 12, -6, 3);
    int *sc = mk<int>(pairs);
    swWavefront<<<pairs, SW_Q>>>(q, t, s, sc, ql, tl, 3);
    show("swWavefront", sc, pairs * sizeof(int));
  }
  {
    const int tiles = 12345;
    uint8_t *a = letters<uint8_t>(tiles * 64, 4, 0, 4), *b = letters<uint8_t>(tiles * 64, 4, 0, 5);
    int *top = mk<int>(tiles * 64), *lf = mk<int>(tiles * 64), *bo = mk<int>(tiles * 64), *ri = mk<int>(tiles * 64);
    nwTile<64><<<tiles, 64>>>(a, b, top, lf, bo, ri, 3);
    show("nwTile", bo, tiles * 64 * sizeof(int));
    show("nwTile", ri, tiles * 64 * sizeof(int));
  }
  {
    long long len = 40000019;
    uint8_t *g = letters<uint8_t>(len, 4, 0, 6);
    unsigned *sp = mk<unsigned>(NWORDS);
    cudaMemset(sp, 0, NWORDS * sizeof(unsigned));
    kmerSpectrum<<<528, 512>>>(g, sp, len);
    show("kmerSpectrum", sp, NWORDS * sizeof(unsigned));
  }
  {
    int nw = 120000, wl = 31, dl = 40;
    char *w = letters<char>((size_t)nw * wl, 5, 'a', 7), *d = letters<char>((size_t)nw * dl, 5, 'a', 8);
    unsigned short *o = mk<unsigned short>(nw);
    editDistance<<<(nw + 255) / 256, 256>>>(w, d, o, nw, wl, dl);
    show("editDistance", o, nw * sizeof(unsigned short));
  }
  {
    int seqs = 2000, T = 300;
    float *A = mk<float>(NS * NS), *B = mk<float>(20 * NS);
    unsigned char *o = letters<unsigned char>(seqs * T, 20, 0, 9);
    double *l = mk<double>(seqs);
    hmmForward<<<seqs, NS>>>(A, B, o, l, T, 20);
    show("hmmForward", l, seqs * sizeof(double));
  }
  {
    int n = 20000000, L = 23;
    uint8_t *s = letters<uint8_t>(n, 4, 0, 10);
    float *p = mk<float>(4 * L), *h = mk<float>(n);
    pssmScan<<<(n + 319) / 320, 320, 4 * L * sizeof(float) + 320 + L>>>(s, p, h, n, L);
    show("pssmScan", h, (size_t)n * sizeof(float));
  }
  {
    int n = 1 << 25, strip = 128, threads = n / strip;
    char *t = letters<char>(n, 26, 'a', 11);
    unsigned short *d = letters<unsigned short>(STATES * CLASSES, STATES, 0, 12);
    unsigned *h = mk<unsigned>(threads);
    dfaScan<<<threads / 256, 256>>>(t, d, h, n, strip, 16);
    show("dfaScan", h, threads * sizeof(unsigned));
  }
  {
    int win = 15001, step = 20;
    uint8_t *r = letters<uint8_t>((size_t)win * step + FOLD, 4, 0, 13), *m = mk<uint8_t>((size_t)win * FOLD);
    nussinovWindows<<<win, 64>>>(r, m, step);
    show("nussinovWindows", m, (size_t)win * FOLD);
  }
  return 0;
}
