// Sequence alignment and friends
#include "shown.h"
#include <vector>
#include <algorithm>

namespace bio {

constexpr int kGap = -2;
constexpr int kMatch = 3;
constexpr int kMismatch = -1;

__device__ __forceinline__ int score(char a, char b) { return a == b ? kMatch : kMismatch; }

// Smith-Waterman: one block per pair, three rotating anti-diagonals in shared memory.
template <int L>
__global__ void smithWaterman(const char *__restrict__ q, const char *__restrict__ t, int *__restrict__ best)
{
  __shared__ char sq[L], st[L];
  __shared__ int diag[3][L + 1];
  __shared__ int mx[L];
  const int i = threadIdx.x;
  const size_t base = (size_t)blockIdx.x * L;
  sq[i] = q[base + i];
  st[i] = t[base + i];
  for (int k = 0; k < 3; ++k) diag[k][i] = 0;
  if (i == 0)
    for (int k = 0; k < 3; ++k) diag[k][L] = 0;
  int m = 0;
  __syncthreads();
  int *prev2 = diag[0], *prev1 = diag[1], *cur = diag[2];
  for (int d = 0; d < 2 * L - 1; ++d) {
    const int j = d - i;
    if (j >= 0 && j < L) {
      int h = (j > 0 ? prev2[i] : 0) + score(sq[i], st[j]);  // (i-1, j-1)
      h = max(h, (j > 0 ? prev1[i + 1] : 0) + kGap);          // (i, j-1)
      h = max(h, prev1[i] + kGap);                            // (i-1, j)
      h = max(h, 0);
      cur[i + 1] = h;
      m = max(m, h);
    }
    __syncthreads();
    int *tmp = prev2;
    prev2 = prev1;
    prev1 = cur;
    cur = tmp;
  }
  mx[i] = m;
  __syncthreads();
  for (int s = L / 2; s > 0; s >>= 1) {
    if (i < s) mx[i] = max(mx[i], mx[i + s]);
    __syncthreads();
  }
  if (i == 0) best[blockIdx.x] = mx[0];
}

// Myers bit-parallel edit distance, one pair per thread, pattern <= 64
__global__ void myersEdit(const char *__restrict__ pat, const char *__restrict__ txt, int *__restrict__ dist, int npairs, int plen, int tlen)
{
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= npairs) return;
  unsigned long long peq[4] = {0, 0, 0, 0};
  for (int k = 0; k < plen; ++k) peq[pat[(size_t)k * npairs + id] & 3] |= 1ull << k;
  unsigned long long pv = ~0ull, mv = 0;
  int sc = plen;
  const unsigned long long last = 1ull << (plen - 1);
  for (int k = 0; k < tlen; ++k) {
    const unsigned long long eq = peq[txt[(size_t)k * npairs + id] & 3];
    const unsigned long long xv = eq | mv;
    const unsigned long long xh = (((eq & pv) + pv) ^ pv) | eq;
    unsigned long long ph = mv | ~(xh | pv), mh = pv & xh;
    if (ph & last) ++sc;
    if (mh & last) --sc;
    ph = (ph << 1) | 1;
    mh <<= 1;
    pv = mh | ~(xv | ph);
    mv = ph & xv;
  }
  dist[id] = sc;
}

// k-mer spectrum: 4^6 counters in shared memory, integer atomics
template <int K>
__global__ void kmerSpectrum(const char *__restrict__ seq, int n, unsigned *__restrict__ spec)
{
  extern __shared__ unsigned cnt[];
  constexpr int kBins = 1 << (2 * K);
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) cnt[b] = 0;
  __syncthreads();
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i + K <= n; i += stride) {
    unsigned w = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) w = (w << 2) | (seq[i + k] & 3);
    atomicAdd(&cnt[w], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += blockDim.x)
    if (cnt[b]) atomicAdd(&spec[b], cnt[b]);
}

// Viterbi: block per observation sequence, thread per state, ping-pong score vectors
template <int S>
__global__ void viterbi(const float *__restrict__ trans, const float *__restrict__ emit, const char *__restrict__ obs, int T, float *__restrict__ best, unsigned char *__restrict__ back)
{
  __shared__ float a[S][S + 1];
  __shared__ float v[2][S];
  const int s = threadIdx.x;
  for (int r = 0; r < S; ++r) a[r][s] = trans[r * S + s];
  const char *o = obs + (size_t)blockIdx.x * T;
  v[0][s] = emit[(o[0] & 3) * S + s];
  __syncthreads();
  for (int t = 1; t < T; ++t) {
    const float *from = v[(t - 1) & 1];
    float m = from[0] + a[0][s];
    int arg = 0;
    for (int r = 1; r < S; ++r) {
      const float c = from[r] + a[r][s];
      if (c > m) { m = c; arg = r; }
    }
    v[t & 1][s] = m + emit[(o[t] & 3) * S + s];
    back[((size_t)blockIdx.x * T + t) * S + s] = (unsigned char)arg;
    __syncthreads();
  }
  best[blockIdx.x * S + s] = v[(T - 1) & 1][s];
}

// Banded global alignment per thread: the band lives in a private array
constexpr int kBand = 8;
__global__ void bandedNW(const char *__restrict__ q, const char *__restrict__ t, int len, int npairs, short *__restrict__ out)
{
  const int id = threadIdx.x + blockIdx.x * blockDim.x;
  if (id >= npairs) return;
  short row[2 * kBand + 1];
  for (int k = 0; k <= 2 * kBand; ++k) row[k] = (k >= kBand) ? (k - kBand) * kGap : -30000;
  for (int i = 1; i <= len; ++i) {
    const char qc = q[(size_t)(i - 1) * npairs + id];
    short left = -30000;
    for (int k = 0; k <= 2 * kBand; ++k) {
      const int j = i + k - kBand;
      short h = -30000;
      if (j == 0) h = i * kGap;
      else if (j > 0 && j <= len) {
        h = row[k] + score(qc, t[(size_t)(j - 1) * npairs + id]);
        if (k < 2 * kBand) h = max(h, (short)(row[k + 1] + kGap));
        h = max(h, (short)(left + kGap));
      }
      row[k] = h;
      left = h;
    }
  }
  out[id] = row[kBand];
}

// Nussinov folding: block per short RNA, triangular table in shared memory, by diagonals
template <int N>
__global__ void nussinov(const char *__restrict__ rna, int *__restrict__ pairs)
{
  __shared__ short m[N][N + 1];
  __shared__ char s[N];
  for (int i = threadIdx.x; i < N; i += blockDim.x) s[i] = rna[(size_t)blockIdx.x * N + i] & 3;
  for (int e = threadIdx.x; e < N * N; e += blockDim.x) m[e / N][e % N] = 0;
  __syncthreads();
  for (int d = 1; d < N; ++d) {
    for (int i = threadIdx.x; i + d < N; i += blockDim.x) {
      const int j = i + d;
      int b = max(m[i + 1][j], m[i][j - 1]);
      const int inner = d > 1 ? m[i + 1][j - 1] : 0;
      if (s[i] + s[j] == 3) b = max(b, inner + 1);
      for (int k = i + 1; k < j; ++k) b = max(b, m[i][k] + m[k + 1][j]);
      m[i][j] = (short)b;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) pairs[blockIdx.x] = m[0][N - 1];
}

// Profile scoring: position weight matrix slid over a genome tile
template <int LEN, int TILE>
__global__ void pwmScan(const char *__restrict__ g, int n, const float *__restrict__ pwm, float *__restrict__ sc)
{
  __shared__ float w[LEN][4];
  __shared__ char t[TILE + LEN - 1];
  const int b0 = blockIdx.x * TILE;
  if (threadIdx.x < LEN * 4) w[threadIdx.x >> 2][threadIdx.x & 3] = pwm[threadIdx.x];
  for (int k = threadIdx.x; k < TILE + LEN - 1; k += blockDim.x) t[k] = b0 + k < n ? (g[b0 + k] & 3) : 0;
  __syncthreads();
  for (int k = threadIdx.x; k < TILE && b0 + k + LEN <= n; k += blockDim.x) {
    float f = 0, r = 0;
    for (int p = 0; p < LEN; ++p) {
      f += w[p][t[k + p]];
      r += w[LEN - 1 - p][3 - t[k + p]];
    }
    sc[b0 + k] = fmaxf(f, r);
  }
}

}  // namespace bio

static char *bases(size_t n, unsigned s)
{
  std::vector<char> h(n);
  for (auto &c : h) { s = s * 1664525u + 1013904223u; c = (s >> 19) & 3; }
  char *d;
  cudaMalloc(&d, n);
  cudaMemcpy(d, h.data(), n, cudaMemcpyHostToDevice);
  return d;
}

int main()
{
  using namespace bio;
  const size_t N = 1 << 24;
  char *a = bases(N, 1), *b = bases(N, 77);
  {
    int np = 4000;
    int *o = mk<int>(np);
    smithWaterman<256><<<np, 256>>>(a, b, o);
    show("smithWaterman", o, np * 4);
  }
  {
    int np = 100003;
    int *o = mk<int>(np);
    myersEdit<<<(np + 127) / 128, 128>>>(a, b, o, np, 60, 160);
    show("myersEdit", o, np * 4);
  }
  {
    unsigned *h = mk<unsigned>(4096);
    kmerSpectrum<6><<<264, 512, 4096 * 4>>>(a, (int)N, h);
    show("kmerSpectrum", h, 4096 * 4);
  }
  {
    int nseq = 700, T = 128;
    float *tr = mk<float>(64 * 64), *em = mk<float>(4 * 64), *o = mk<float>(nseq * 64);
    unsigned char *bk = mk<unsigned char>((size_t)nseq * T * 64);
    viterbi<64><<<nseq, 64>>>(tr, em, a, T, o, bk);
    show("viterbi", o, nseq * 64 * 4);
    show("viterbi_back", bk, (size_t)nseq * T * 64);
  }
  {
    int np = 90001;
    short *o = mk<short>(np);
    bandedNW<<<(np + 63) / 64, 64>>>(a, b, 100, np, o);
    show("bandedNW", o, np * 2);
  }
  {
    int *o = mk<int>(2000);
    nussinov<80><<<2000, 96>>>(b, o);
    show("nussinov", o, 8000);
  }
  {
    float *p = mk<float>(48), *o = mk<float>(N);
    pwmScan<12, 512><<<(N + 511) / 512, 128>>>(a, (int)N, p, o);
    show("pwmScan", o, N * 4);
  }
}
