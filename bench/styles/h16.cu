// h16: assorted
#include "shown.h"
#include <cassert>
#include <cstdint>
#include <vector>

#define FOR_STRIDE(i, n) for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (n); i += (size_t)gridDim.x * blockDim.x)

/* ---- k-means assignment: centroids tile by tile in shared, features tiled too ---- */
#define KM_DIM 24
#define KM_CT 32
__global__ void kmeans_assign(const float *pts, const float *cent, int *label, float *dist, int npts, int k)
{
  __shared__ float sc[KM_CT][KM_DIM + 1];
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  float x[KM_DIM];
  if (p < npts)
    for (int d = 0; d < KM_DIM; d++) x[d] = pts[(size_t)d * npts + p];
  float bd = 1e30f;
  int bi = -1;
  for (int c0 = 0; c0 < k; c0 += KM_CT) {
    __syncthreads();
    for (int e = threadIdx.x; e < KM_CT * KM_DIM; e += blockDim.x) {
      int c = e / KM_DIM, d = e % KM_DIM;
      sc[c][d] = c0 + c < k ? cent[(c0 + c) * KM_DIM + d] : 0.f;
    }
    __syncthreads();
    if (p < npts) {
      int lim = k - c0 < KM_CT ? k - c0 : KM_CT;
      for (int c = 0; c < lim; c++) {
        float s = 0.f;
#pragma unroll
        for (int d = 0; d < KM_DIM; d++) { float q = x[d] - sc[c][d]; s += q * q; }
        if (s < bd) { bd = s; bi = c0 + c; }
      }
    }
  }
  if (p < npts) { label[p] = bi; dist[p] = bd; }
}

/* ---- AoS -> SoA through shared memory, 7-word records ---- */
struct Particle { float pos[3]; float vel[3]; int id; };
template <int NT>
__global__ void aos_to_soa(const Particle *__restrict__ in, float *__restrict__ soa, int *__restrict__ ids, unsigned n)
{
  __shared__ float raw[NT * 7];
  const unsigned first = blockIdx.x * NT;
  const unsigned cnt = min((unsigned)NT, n - first);
  const float *src = reinterpret_cast<const float *>(in + first);
  for (unsigned i = threadIdx.x; i < cnt * 7; i += NT) raw[i] = src[i];
  __syncthreads();
  if (threadIdx.x >= cnt) return;
  const Particle *p = reinterpret_cast<const Particle *>(raw) + threadIdx.x;
  for (int c = 0; c < 3; c++) {
    soa[(size_t)c * n + first + threadIdx.x] = p->pos[c] + 0.01f * p->vel[c];
    soa[(size_t)(3 + c) * n + first + threadIdx.x] = p->vel[c];
  }
  ids[first + threadIdx.x] = p->id;
}

/* ---- particle binning of a block (counting sort in shared memory) ---- */
#define NBIN 64
__global__ void bin_block(const float2 *pos, float2 *sorted, int *offsets, int n, float inv)
{
  __shared__ int cnt[NBIN + 1];
  __shared__ unsigned char bin[256];
  __shared__ float2 sp[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  int b = NBIN - 1;
  float2 p = make_float2(0.f, 0.f);
  if (g < n) {
    p = pos[g];
    int bx = min(7, (int)(p.x * inv)), by = min(7, (int)(p.y * inv));
    b = by * 8 + bx;
  }
  bin[t] = b;
  if (t <= NBIN) cnt[t] = 0;
  __syncthreads();
  atomicAdd(&cnt[b + 1], 1);
  __syncthreads();
  if (t == 0) for (int i = 0; i < NBIN; i++) cnt[i + 1] += cnt[i];
  __syncthreads();
  // stable rank
  int r = 0;
  for (int i = 0; i < t; i++) r += bin[i] == b;
  sp[cnt[b] + r] = p;
  __syncthreads();
  if (g < n) sorted[g] = sp[t];
  if (t < NBIN) offsets[blockIdx.x * NBIN + t] = cnt[t];
}

/* ---- game of life with bit-packed words and shared borders ---- */
#define GOL_W 32
#define GOL_H 8
__global__ void life_packed(const uint32_t *in, uint32_t *out, int words, int rows)
{
  __shared__ uint32_t s[GOL_H + 2][GOL_W + 2];
  int wx = blockIdx.x * GOL_W + threadIdx.x, y = blockIdx.y * GOL_H + threadIdx.y;
  for (int r = threadIdx.y; r < GOL_H + 2; r += GOL_H)
    for (int c = threadIdx.x; c < GOL_W + 2; c += GOL_W) {
      int gy = (int)blockIdx.y * GOL_H + r - 1, gx = (int)blockIdx.x * GOL_W + c - 1;
      s[r][c] = gy >= 0 && gy < rows && gx >= 0 && gx < words ? in[gy * words + gx] : 0u;
    }
  __syncthreads();
  if (wx >= words || y >= rows) return;
  uint32_t ones = 0, twos = 0, fours = 0;
  for (int dy = 0; dy < 3; dy++) {
    uint32_t l = s[threadIdx.y + dy][threadIdx.x], m = s[threadIdx.y + dy][threadIdx.x + 1], r = s[threadIdx.y + dy][threadIdx.x + 2];
    uint32_t v[3] = {m << 1 | l >> 31, dy == 1 ? 0u : m, m >> 1 | r << 31};
    for (int k = 0; k < 3; k++) {
      uint32_t c1 = ones & v[k];
      ones ^= v[k];
      uint32_t c2 = twos & c1;
      twos ^= c1;
      fours |= c2;
    }
  }
  uint32_t me = s[threadIdx.y + 1][threadIdx.x + 1];
  out[y * words + wx] = ~fours & twos & (ones | me);
}

/* ---- sliced ELL with a shared x window for banded matrices ---- */
#define BAND 96
__global__ void dia_spmv(const float *diag, const int *off, int nd, const float *x, float *y, int n)
{
  __shared__ float xs[256 + 2 * BAND];
  __shared__ int so[32];
  int base = blockIdx.x * 256;
  if (threadIdx.x < nd) so[threadIdx.x] = off[threadIdx.x];
  for (int i = threadIdx.x; i < 256 + 2 * BAND; i += 256) {
    int g = base + i - BAND;
    xs[i] = (unsigned)g < (unsigned)n ? x[g] : 0.f;
  }
  __syncthreads();
  int r = base + threadIdx.x;
  if (r < n) {
    float s = 0.f;
    for (int d = 0; d < nd; d++) s += diag[(size_t)d * n + r] * xs[threadIdx.x + BAND + so[d]];
    y[r] = s;
  }
}

/* ---- hidden Markov model: Viterbi, states in shared, back pointers to global ---- */
template <int NST>
__global__ void viterbi(const float *logA, const float *logB, const uint8_t *obs, uint8_t *back, float *score, int T, int nsym)
{
  __shared__ float A[NST][NST + 1];
  __shared__ float v[2][NST];
  const int s = threadIdx.x;
  for (int i = 0; i < NST; i++) A[i][s] = logA[i * NST + s];
  const uint8_t *o = obs + (size_t)blockIdx.x * T;
  v[0][s] = logB[s * nsym + o[0]];
  int cur = 0;
  __syncthreads();
  for (int t = 1; t < T; t++) {
    float best = -1e30f;
    int arg = 0;
    for (int i = 0; i < NST; i++) {
      float q = v[cur][i] + A[i][s];
      if (q > best) { best = q; arg = i; }
    }
    v[cur ^ 1][s] = best - logB[s * nsym + o[t]];
    back[((size_t)blockIdx.x * T + t) * NST + s] = (uint8_t)arg;
    cur ^= 1;
    __syncthreads();
  }
  score[blockIdx.x * NST + s] = v[cur][s];
}

/* ---- per-thread joint histogram (mutual information of small patches) ---- */
__device__ float entropy_(const unsigned short *h, int n, float inv)
{
  float e = 0.f;
  for (int i = 0; i < n; i++)
    if (h[i]) { float p = h[i] * inv; e -= p * log2f(p); }
  return e;
}
__global__ void patch_mi(const uint8_t *a, const uint8_t *b, float *mi, int w, int h)
{
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x * 4 + 8 > w || y * 4 + 8 > h) return;
  unsigned short joint[64] = {0}, ha[8] = {0}, hb[8] = {0};
  for (int j = 0; j < 8; j++)
    for (int i = 0; i < 8; i++) {
      size_t q = (size_t)(y * 4 + j) * w + x * 4 + i;
      int u = a[q] & 7, v = (b[q] + a[q]) >> 1 & 7;
      joint[u * 8 + v]++;
      ha[u]++;
      hb[v]++;
    }
  mi[(size_t)y * (w / 4) + x] = entropy_(ha, 8, 1.f / 64) + entropy_(hb, 8, 1.f / 64) - entropy_(joint, 64, 1.f / 64);
}

int main()
{
  {
    int n = 500009, k = 75;
    float *p = mk<float>((size_t)n * KM_DIM), *c = mk<float>(k * KM_DIM), *d = mk<float>(n);
    int *l = mk<int>(n);
    kmeans_assign<<<(n + 255) / 256, 256>>>(p, c, l, d, n, k);
    show("kmeans_label", l, 4ull * n);
    show("kmeans_dist", d, 4ull * n);
  }
  {
    unsigned n = 3000001;
    Particle *p = (Particle *)mk<float>(7ull * n);
    float *s = mk<float>(6ull * n);
    int *id = mk<int>(n);
    aos_to_soa<192><<<(n + 191) / 192, 192>>>(p, s, id, n);
    show("aos_to_soa", s, 24ull * n);
    show("aos_ids", id, 4ull * n);
  }
  {
    int n = (1 << 20) + 99, nb = (n + 255) / 256;
    float2 *p = (float2 *)mk<float>(2 * n), *q = (float2 *)mk<float>(2 * n);
    int *o = mk<int>(nb * NBIN);
    bin_block<<<nb, 256>>>(p, q, o, n, 0.625f);
    show("bin_sorted", q, 8ull * n);
    show("bin_offsets", o, 4ull * nb * NBIN);
  }
  {
    int words = 777, rows = 9000;
    std::vector<uint32_t> h(words * rows);
    uint32_t s = 77;
    for (auto &v : h) { s = s * 1664525u + 1013904223u; v = s ^ s << 7 ^ s >> 9; }
    uint32_t *a = mk<uint32_t>(h.size()), *b = mk<uint32_t>(h.size());
    cudaMemcpy(a, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
    life_packed<<<dim3((words + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(a, b, words, rows);
    show("life_packed", b, h.size() * 4);
  }
  {
    int n = 2000003, nd = 11, off[11] = {-96, -64, -33, -32, -1, 0, 1, 32, 33, 64, 96};
    float *d = mk<float>((size_t)n * nd), *x = mk<float>(n), *y = mk<float>(n);
    int *o = mk<int>(nd);
    cudaMemcpy(o, off, sizeof off, cudaMemcpyHostToDevice);
    dia_spmv<<<(n + 255) / 256, 256>>>(d, o, nd, x, y, n);
    show("dia_spmv", y, 4ull * n);
  }
  {
    int T = 60, ns = 6000, nsym = 13;
    float *A = mk<float>(64 * 64), *B = mk<float>(64 * nsym), *sc = mk<float>(ns * 64);
    uint8_t *ob = mk<uint8_t>((size_t)ns * T), *bk = mk<uint8_t>((size_t)ns * T * 64);
    viterbi<64><<<ns, 64>>>(A, B, ob, bk, sc, T, nsym);
    show("viterbi_score", sc, 4ull * ns * 64);
    show("viterbi_back", bk, (size_t)ns * T * 64);
  }
  {
    int w = 2402, h = 1803;
    uint8_t *a = mk<uint8_t>(w * h), *b = mk<uint8_t>(w * h);
    float *m = mk<float>((w / 4) * (h / 4 + 1));
    patch_mi<<<dim3((w / 4 + 31) / 32, (h / 4 + 3) / 4), dim3(32, 4)>>>(a, b, m, w, h);
    show("patch_mi", m, 4ull * (w / 4) * (h / 4 + 1));
  }
  return 0;
}
