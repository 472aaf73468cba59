// sequence alignment kernels
#include "h.h"
#include <cstdint>

#define ALPHABET 24
#define QLEN 128
#define MAX2(a, b) ((a) > (b) ? (a) : (b))

typedef int8_t residue_t;

// one block aligns one pair, anti-diagonal by anti-diagonal; thread = row
__global__ void sw_diag_score(const residue_t *query, const residue_t *targets, int tlen, int gap, int *best) {
  __shared__ int prev[QLEN + 1];
  __shared__ int prev2[QLEN + 1];
  __shared__ int cur[QLEN + 1];
  const int r = threadIdx.x + 1;
  const residue_t *tg = targets + (size_t)blockIdx.x * tlen;
  const int q = query[threadIdx.x];
  prev[r] = prev2[r] = cur[r] = 0;
  if (threadIdx.x == 0) prev[0] = prev2[0] = cur[0] = 0;
  __syncthreads();
  int top = 0;
  for (int d = 0; d < tlen + QLEN - 1; ++d) {
    int c = d - threadIdx.x;
    int v = 0;
    if (c >= 0 && c < tlen) {
      int m = (tg[c] == q) ? 5 : -3;
      v = prev2[r - 1] + m;
      v = MAX2(v, prev[r - 1] - gap);
      v = MAX2(v, prev[r] - gap);
      v = MAX2(v, 0);
      top = MAX2(top, v);
    }
    cur[r] = v;
    __syncthreads();
    prev2[r] = prev[r];
    prev[r] = cur[r];
    __syncthreads();
  }
  cur[threadIdx.x] = top;
  __syncthreads();
  for (int s = QLEN / 2; s; s >>= 1) {
    if (threadIdx.x < s) cur[threadIdx.x] = MAX2(cur[threadIdx.x], cur[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) best[blockIdx.x] = cur[0];
}

// ungapped score of every target position against a profile kept in shared memory
__global__ void profile_scan(const residue_t *seq, const float *pssm, float *score, int n, int width) {
  extern __shared__ float prof[];
  for (int i = threadIdx.x; i < width * ALPHABET; i += blockDim.x) prof[i] = pssm[i];
  __syncthreads();
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p + width > n) return;
  float s = 0.f;
  for (int k = 0; k < width; ++k) s += prof[k * ALPHABET + seq[p + k]];
  score[p] = s;
}

// banded edit distance, the band of a thread is private
template <int BAND>
__global__ void edit_band(const uint8_t *a, const uint8_t *b, int len, int pairs, int *dist) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= pairs) return;
  int row[2 * BAND + 2];
  for (int k = 0; k < 2 * BAND + 2; ++k) row[k] = k < BAND ? 1000 : k - BAND;
  for (int i = 0; i < len; ++i) {
    int left = 1000;
    const uint8_t ca = a[i * pairs + id];
    for (int k = 0; k <= 2 * BAND; ++k) {
      int j = i + k - BAND;
      int v = 1000;
      if (j >= 0 && j < len) {
        v = row[k] + (ca != b[j * pairs + id]);
        v = min(v, row[k + 1] + 1);
        v = min(v, left + 1);
      }
      row[k] = v;
      left = v;
    }
  }
  dist[id] = row[BAND];
}

// GC content over a sliding window of W bases
__global__ void gc_window(const unsigned char *bases, unsigned short *gc, int n, const int W) {
  extern __shared__ unsigned char flag[];
  const int first = blockIdx.x * blockDim.x;
  for (int i = threadIdx.x; i < blockDim.x + W - 1; i += blockDim.x) {
    int g = first + i;
    flag[i] = (g < n) ? ((bases[g] & 3) == 1 || (bases[g] & 3) == 2) : 0;
  }
  __syncthreads();
  const int me = first + threadIdx.x;
  if (me >= n) return;
  unsigned short c = 0;
  for (int k = 0; k < W; ++k) c += flag[threadIdx.x + k];
  gc[me] = c;
}

static void fnv(const char *nm, void *d, size_t n) {
  uint8_t *p = (uint8_t *)malloc(n);
  cudaMemcpy(p, d, n, cudaMemcpyDeviceToHost);
  uint64_t h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < n; ++i) h = (h ^ p[i]) * 0x100000001b3ull;
  printf("%s=%016lx\n", nm, h);
  free(p);
}

int main() {
  const int tlen = 200, targets = 3000;
  residue_t *hq = (residue_t *)malloc(QLEN), *ht = (residue_t *)malloc((size_t)tlen * targets), *dq, *dt;
  uint32_t s = 12345;
  for (int i = 0; i < QLEN; ++i) { s = s * 1664525u + 1013904223u; hq[i] = (s >> 20) % 20; }
  for (int i = 0; i < tlen * targets; ++i) { s = s * 1664525u + 1013904223u; ht[i] = (s >> 20) % 20; }
  cudaMalloc(&dq, QLEN); cudaMalloc(&dt, (size_t)tlen * targets);
  cudaMemcpy(dq, hq, QLEN, cudaMemcpyHostToDevice);
  cudaMemcpy(dt, ht, (size_t)tlen * targets, cudaMemcpyHostToDevice);
  int *best; cudaMalloc(&best, targets * 4);
  sw_diag_score<<<targets, QLEN>>>(dq, dt, tlen, 4, best);

  const int nres = 4000000, width = 30;
  residue_t *hs = (residue_t *)malloc(nres), *ds;
  for (int i = 0; i < nres; ++i) { s = s * 1664525u + 1013904223u; hs[i] = (s >> 18) % ALPHABET; }
  cudaMalloc(&ds, nres); cudaMemcpy(ds, hs, nres, cudaMemcpyHostToDevice);
  float *pssm = mk<float>(width * ALPHABET), *score;
  cudaMalloc(&score, nres * 4); cudaMemset(score, 0, nres * 4);
  profile_scan<<<(nres + 255) / 256, 256, width * ALPHABET * sizeof(float)>>>(ds, pssm, score, nres, width);

  const int pairs = 100000, len = 48;
  uint8_t *a = mk<uint8_t>((size_t)pairs * len), *b = mk<uint8_t>((size_t)pairs * len + 17);
  int *dist; cudaMalloc(&dist, pairs * 4);
  edit_band<6><<<(pairs + 127) / 128, 128>>>(a, b + 17, len, pairs, dist);

  const int nb = 8000001, W = 64;
  unsigned char *bases = mk<unsigned char>(nb); unsigned short *gc;
  cudaMalloc(&gc, nb * 2);
  gc_window<<<(nb + 255) / 256, 256, 256 + W>>>(bases, gc, nb, W);
  cudaDeviceSynchronize();
  fnv("sw", best, targets * 4);
  fnv("pssm", score, (size_t)nres * 4);
  fnv("edit", dist, pairs * 4);
  fnv("gc", gc, (size_t)nb * 2);
}
