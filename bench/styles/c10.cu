// sequence kernels
#include "shown.h"
#include <stdint.h>

enum { QLEN = 128, DLEN = 512 };
#define MATCH 3
#define MISMATCH (-2)
#define GAPO 2

// Smith-Waterman score only: block = one pair, thread = one row, anti-diagonals
__global__ void sw_antidiag(const uint8_t *query, const uint8_t *db, int *best) {
  __shared__ int d0[QLEN + 1], d1[QLEN + 1], d2[QLEN + 1];
  __shared__ uint8_t ref[DLEN];
  __shared__ int mx[QLEN];
  int *cur = d0, *prev = d1, *pprev = d2;
  const int r = threadIdx.x;
  const uint8_t q = query[blockIdx.x * QLEN + r] & 3;
  for (int i = r; i < DLEN; i += QLEN) ref[i] = db[(size_t)blockIdx.x * DLEN + i] & 3;
  cur[r + 1] = prev[r + 1] = pprev[r + 1] = 0;
  if (r == 0) cur[0] = prev[0] = pprev[0] = 0;
  __syncthreads();
  int m = 0;
  for (int diag = 0; diag < QLEN + DLEN - 1; diag++) {
    int c = diag - r;
    int h = 0;
    if (c >= 0 && c < DLEN) {
      // cell (r,c): up = (r-1,c) on prev, left = (r,c-1) on prev, diagonal on pprev
      int up = prev[r] - GAPO, left = (c > 0 ? prev[r + 1] : 0) - GAPO;
      int dg = (c > 0 ? pprev[r] : 0) + (q == ref[c] ? MATCH : MISMATCH);
      h = max(0, max(dg, max(up, left)));
      m = max(m, h);
    }
    cur[r + 1] = h;
    __syncthreads();
    int *t = pprev; pprev = prev; prev = cur; cur = t;
  }
  mx[r] = m;
  __syncthreads();
  for (int s = QLEN / 2; s > 0; s /= 2) {
    if (r < s) mx[r] = max(mx[r], mx[r + s]);
    __syncthreads();
  }
  if (r == 0) best[blockIdx.x] = mx[0];
}

// global alignment with affine-like penalties, private H and E rows
#define L 40
__global__ void nw_thread(const uint8_t *a, const uint8_t *b, int *score, int npairs) {
  int tid = blockDim.x * blockIdx.x + threadIdx.x;
  if (tid >= npairs) return;
  int16_t H[L + 1], E[L + 1];
  uint8_t bb[L];
  for (int j = 0; j < L; j++) bb[j] = b[(size_t)j * npairs + tid] & 3;
  H[0] = 0;
  for (int j = 1; j <= L; j++) { H[j] = -3 - j; E[j] = -1000; }
  for (int i = 1; i <= L; i++) {
    uint8_t ca = a[(size_t)(i - 1) * npairs + tid] & 3;
    int diag = H[0], F = -1000;
    H[0] = -3 - i;
    for (int j = 1; j <= L; j++) {
      int e = max(E[j] - 1, H[j] - 4);
      F = max(F - 1, H[j - 1] - 4);
      int h = max(diag + (ca == bb[j - 1] ? 2 : -1), max(e, F));
      diag = H[j];
      E[j] = e;
      H[j] = h;
    }
  }
  score[tid] = H[L];
}

// canonical 5-mer spectrum
constexpr int KMER = 5, NBINS = 1 << (2 * KMER);
__global__ void kmerSpectrum(const uint8_t *__restrict__ seq, size_t len, unsigned *__restrict__ spec) {
  __shared__ unsigned bins[NBINS];
  for (int i = threadIdx.x; i < NBINS; i += blockDim.x) bins[i] = 0u;
  __syncthreads();
  size_t per = 64;
  size_t start = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * per;
  unsigned code = 0;
  for (size_t p = 0; p < per + KMER - 1; ++p) {
    if (start + p >= len) break;
    code = ((code << 2) | (seq[start + p] & 3u)) & (NBINS - 1);
    if (p >= KMER - 1) atomicAdd(bins + code, 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < NBINS; i += blockDim.x)
    if (bins[i]) atomicAdd(spec + i, bins[i]);
}

// approximate matching: hamming distance of a pattern at each text position
#define PAT 24
__global__ void patternDistance(const uint8_t *text, const uint8_t *pattern, uint8_t *dist, int n) {
  extern __shared__ uint8_t sh[];
  uint8_t *stext = sh;                        // blockDim.x + PAT - 1
  uint8_t *spat = sh + blockDim.x + PAT;
  int base = blockIdx.x * blockDim.x;
  if (threadIdx.x < PAT) spat[threadIdx.x] = pattern[threadIdx.x];
  int idx = base + threadIdx.x;
  stext[threadIdx.x] = idx < n ? text[idx] : 0xff;
  if (threadIdx.x < PAT - 1) stext[threadIdx.x + blockDim.x] = idx + (int)blockDim.x < n ? text[idx + blockDim.x] : 0xff;
  __syncthreads();
  if (idx <= n - PAT) {
    int d = 0;
    for (int k = 0; k < PAT; ++k) d += stext[threadIdx.x + k] != spat[k];
    dist[idx] = (uint8_t)d;
  } else if (idx < n) dist[idx] = 255;
}

// all-against-all distances of bit-packed fingerprints
template <int TS, int WORDS>
__global__ void hammingMatrix(const uint32_t *fp, uint16_t *dm, int n) {
  __shared__ uint32_t rowFp[TS][WORDS + 1];
  __shared__ uint32_t colFp[TS][WORDS + 1];
  for (int t = threadIdx.y * TS + threadIdx.x; t < TS * WORDS; t += TS * TS) {
    int r = t / WORDS, w = t % WORDS;
    int gi = blockIdx.y * TS + r, gj = blockIdx.x * TS + r;
    rowFp[r][w] = gi < n ? fp[gi * WORDS + w] * 2654435761u : 0u;
    colFp[r][w] = gj < n ? fp[gj * WORDS + w] * 2654435761u : 0u;
  }
  __syncthreads();
  int i = blockIdx.y * TS + threadIdx.y, j = blockIdx.x * TS + threadIdx.x;
  int d = 0;
#pragma unroll
  for (int w = 0; w < WORDS; w++) d += __popc(rowFp[threadIdx.y][w] ^ colFp[threadIdx.x][w]);
  if (i < n && j < n) dm[(size_t)i * n + j] = (uint16_t)d;
}

int main() {
  const int NP = 8192;
  size_t tlen = 20u << 20;
  uint8_t *text = mk<uint8_t>(tlen);
  int *res;
  cudaMalloc(&res, sizeof(int) * 200000);
  sw_antidiag<<<NP, QLEN>>>(text + 3333, text, res);
  show("sw_antidiag", res, NP * sizeof(int));
  nw_thread<<<(100000 + 255) / 256, 256>>>(text, text + 7000001, res, 100000);
  show("nw_thread", res, 100000 * sizeof(int));
  unsigned *spec;
  cudaMalloc(&spec, NBINS * sizeof(unsigned));
  cudaMemset(spec, 0, NBINS * sizeof(unsigned));
  kmerSpectrum<<<(tlen / 64 + 255) / 256, 256>>>(text, tlen - 11, spec);
  show("kmerSpectrum", spec, NBINS * sizeof(unsigned));
  uint8_t *dist;
  cudaMalloc(&dist, tlen);
  patternDistance<<<(tlen - 100 + 511) / 512, 512, 512 + 2 * PAT>>>(text, text + 4242, dist, (int)tlen - 100);
  show("patternDistance", dist, tlen - 100);
  uint32_t *fp = mk<uint32_t>(3000 * 32);
  uint16_t *dm;
  cudaMalloc(&dm, 3000 * 3000 * sizeof(uint16_t));
  hammingMatrix<16, 32><<<dim3((3000 + 15) / 16, (3000 + 15) / 16), dim3(16, 16)>>>(fp, dm, 3000);
  show("hammingMatrix", dm, 3000 * 3000 * sizeof(uint16_t));
  return 0;
}
