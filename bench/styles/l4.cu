// l4 -- sequence comparison and other dynamic programs over rows and anti-diagonals.
#include "shown.h"
#include <climits>

namespace {

template <class T>
T *upload_random(size_t n, unsigned mod, unsigned seed)
{
  T *h = static_cast<T *>(malloc(n * sizeof(T)));
  unsigned s = seed * 747796405u + 2891336453u;
  for (size_t i = 0; i < n; ++i) {
    s = s * 747796405u + 2891336453u;
    unsigned w = ((s >> ((s >> 28) + 4u)) ^ s) * 277803737u;
    w = (w >> 22) ^ w;
    h[i] = static_cast<T>(w % mod);
  }
  T *d = nullptr;
  cudaMalloc(&d, n * sizeof(T));
  cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
  free(h);
  return d;
}

constexpr int LCS_LEN = 128;

// class 5: longest common subsequence, three anti-diagonals in rotation
__global__ void lcs_kernel(const char *__restrict__ seqA, const char *__restrict__ seqB, int *__restrict__ lengths)
{
  __shared__ int diag[3][LCS_LEN + 1];
  const int tid = threadIdx.x;
  const char a = seqA[blockIdx.x * LCS_LEN + tid];
  const char *b = seqB + blockIdx.x * LCS_LEN;
  for (int k = 0; k < 3; ++k) {
    diag[k][tid + 1] = 0;
    if (tid == 0) diag[k][0] = 0;
  }
  __syncthreads();
  int p2 = 0, p1 = 1, cur = 2;
  for (int d = 0; d < 2 * LCS_LEN - 1; ++d) {
    const int j = d - tid;
    if (j >= 0 && j < LCS_LEN) {
      int best = max(diag[p1][tid], diag[p1][tid + 1]);
      if (a == b[j]) best = max(best, diag[p2][tid] + 1);
      diag[cur][tid + 1] = best;
    }
    __syncthreads();
    int t = p2;
    p2 = p1;
    p1 = cur;
    cur = t;
  }
  if (tid == 0) lengths[blockIdx.x] = diag[p1][LCS_LEN];
}

// class 5: edit distance, rows computed with the insertion chain resolved by a min-scan
template <int N>
__global__ void edit_distance_rows(const unsigned char *s, const unsigned char *t, int *dist)
{
  __shared__ int row[N];
  __shared__ int tmp[N];
  const int j = threadIdx.x;
  const unsigned char tc = t[blockIdx.x * N + j];
  row[j] = j + 1;
  __syncthreads();
  for (int i = 0; i < N; ++i) {
    const unsigned char sc = s[blockIdx.x * N + i];
    int up = row[j] + 1;
    int left_diag = j == 0 ? i : row[j - 1];
    int v = min(up, left_diag + (sc != tc));
    if (j == 0) v = min(v, i + 2);
    tmp[j] = v - j;
    __syncthreads();
    for (int off = 1; off < N; off <<= 1) {
      int w = tmp[j];
      if (j >= off) w = min(w, tmp[j - off]);
      __syncthreads();
      tmp[j] = w;
      __syncthreads();
    }
    row[j] = tmp[j] + j;
    __syncthreads();
  }
  if (j == N - 1) dist[blockIdx.x] = row[N - 1];
}

// class 5: 0/1 knapsack, row of 512 capacities, weights the same for all threads
__global__ void knapsack_row(const int *weights, const int *values, int items, int *out)
{
  __shared__ int best[512];
  const int c = threadIdx.x;
  const int *w = weights + blockIdx.x * items;
  const int *v = values + blockIdx.x * items;
  best[c] = 0;
  __syncthreads();
  for (int k = 0; k < items; ++k) {
    int wk = w[k];
    int take = INT_MIN;
    if (c >= wk) take = best[c - wk] + v[k];
    __syncthreads();
    if (take > best[c]) best[c] = take;
    __syncthreads();
  }
  out[blockIdx.x * 512 + c] = best[c];
}

// class 5: binomial tree with max of integers, shrinking valid region, fixed point
__global__ void binomial_american_int(const int *spot, const int *strike, int *price)
{
  __shared__ int call[256];
  const int i = threadIdx.x;
  const int S = spot[blockIdx.x], K = strike[blockIdx.x];
  call[i] = max(K - (S + (2 * i - 255) * 16), 0);
  __syncthreads();
  for (int step = 255; step > 0; --step) {
    int v = 0;
    if (i < step) {
      int hold = (call[i] * 33 + call[i + 1] * 31) >> 6;
      int now = K - (S + (2 * i - (step - 1)) * 16);
      v = max(hold, now);
    }
    __syncthreads();
    if (i < step) call[i] = v;
    __syncthreads();
  }
  if (i == 0) price[blockIdx.x] = call[0];
}

// class 1: nearest reference, arg-min with an index array, 192 threads (not a power of two)
__global__ void nearest_reference(const float *query, const float *refs, int nrefs, int *which, float *distance)
{
  __shared__ float sd[192];
  __shared__ int si[192];
  const int t = threadIdx.x;
  const float q = query[blockIdx.x];
  float d = 3.0e38f;
  int arg = -1;
  for (int r = t; r < nrefs; r += 192) {
    float e = (refs[r] - q) * (refs[r] - q) + 0.001f * (r & 15);
    if (e < d) { d = e; arg = r; }
  }
  sd[t] = d;
  si[t] = arg;
  __syncthreads();
  for (int n = 192; n > 1;) {
    int half = (n + 1) / 2;
    if (t + half < n) {
      float o = sd[t + half];
      if (o < sd[t] || (o == sd[t] && si[t + half] < si[t])) {
        sd[t] = o;
        si[t] = si[t + half];
      }
    }
    __syncthreads();
    n = half;
  }
  if (t == 0) {
    which[blockIdx.x] = si[0];
    distance[blockIdx.x] = sd[0];
  }
}

// class 7: k-mer spectrum of reads, positions from the data
__global__ void kmer_spectrum(const unsigned char *reads, int read_len, int *spectrum)
{
  __shared__ int counts[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  const unsigned char *r = reads + (size_t)blockIdx.x * read_len;
  for (int p = threadIdx.x; p + 5 <= read_len; p += blockDim.x) {
    int code = 0;
    for (int k = 0; k < 5; ++k) code = code * 4 + (r[p + k] & 3);
    atomicAdd(&counts[code], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) spectrum[(size_t)blockIdx.x * 1024 + i] = counts[i];
}

// class 2: best score of a block, 1024 scores of long long with positions
__global__ void best_hit(const long long *scores, long long *best, int *where, int n)
{
  __shared__ long long sc[1024];
  __shared__ int pos[1024];
  const int tid = threadIdx.x;
  const int g = blockIdx.x * 1024 + tid;
  sc[tid] = g < n ? scores[g] : LLONG_MIN;
  pos[tid] = g;
  __syncthreads();
  for (int s = 512; s >= 1; s >>= 1) {
    if (tid < s) {
      if (sc[tid + s] > sc[tid]) {
        sc[tid] = sc[tid + s];
        pos[tid] = pos[tid + s];
      }
    }
    __syncthreads();
  }
  if (tid == 0) {
    best[blockIdx.x] = sc[0];
    where[blockIdx.x] = pos[0];
  }
}

// class 1: hidden Markov forward pass, 32 states, rows normalised by a tree whose sum all threads use
__global__ void hmm_forward(const float *trans, const float *emit, const unsigned char *obs, int T, float *alpha_out)
{
  __shared__ float alpha[32];
  __shared__ float red[32];
  const int s = threadIdx.x;
  float col[32];
#pragma unroll
  for (int k = 0; k < 32; ++k) col[k] = trans[k * 32 + s];
  alpha[s] = 1.0f / 32;
  __syncthreads();
  for (int t = 0; t < T; ++t) {
    float acc = 0.f;
#pragma unroll
    for (int k = 0; k < 32; ++k) acc += alpha[k] * col[k];
    acc *= emit[obs[blockIdx.x * T + t] * 32 + s];
    red[s] = acc;
    __syncthreads();
    for (int h = 16; h > 0; h >>= 1) {
      if (s < h) red[s] += red[s + h];
      __syncthreads();
    }
    alpha[s] = acc / red[0];
    __syncthreads();
  }
  alpha_out[blockIdx.x * 32 + s] = alpha[s];
}

// class 6: bit-sliced carry-less product of two 128-bit words, one result bit a thread
__global__ void clmul_bits(const unsigned *x, const unsigned *y, unsigned *z)
{
  __shared__ unsigned char xb[128], yb[128];
  __shared__ unsigned char zb[256];
  const int t = threadIdx.x;
  if (t < 128) {
    xb[t] = (x[blockIdx.x * 4 + t / 32] >> (t % 32)) & 1;
    yb[t] = (y[blockIdx.x * 4 + t / 32] >> (t % 32)) & 1;
  }
  __syncthreads();
  int lo = t < 128 ? 0 : t - 127;
  int hi = t < 128 ? t : 127;
  unsigned char acc = 0;
  for (int i = lo; i <= hi; ++i) acc ^= xb[i] & yb[t - i];
  zb[t] = acc;
  __syncthreads();
  if (t < 8) {
    unsigned w = 0;
    for (int k = 0; k < 32; ++k) w |= (unsigned)zb[t * 32 + k] << k;
    z[blockIdx.x * 8 + t] = w;
  }
}

// class 2: local alignment with linear gaps, 512 columns, three diagonals of ints and a tree of maxima
__global__ void smith_waterman_score(const char *q, const char *db, int *score)
{
  __shared__ int h0[513], h1[513], h2[513];
  __shared__ int top[512];
  const int i = threadIdx.x;
  const char qc = q[i];
  const char *d = db + (size_t)blockIdx.x * 512;
  h0[i + 1] = 0;
  h1[i + 1] = 0;
  h2[i + 1] = 0;
  if (i == 0) h0[0] = h1[0] = h2[0] = 0;
  int m = 0;
  __syncthreads();
  for (int step = 0; step < 1023; ++step) {
    const int j = step - i;
    int v = 0;
    if (j >= 0 && j < 512) {
      int diagonal = h0[i] + (qc == d[j] ? 5 : -3);
      int gap = max(h1[i], h1[i + 1]) - 4;
      v = max(0, max(diagonal, gap));
      m = max(m, v);
    }
    h2[i + 1] = v;
    __syncthreads();
    h0[i + 1] = h1[i + 1];
    h1[i + 1] = h2[i + 1];
    __syncthreads();
  }
  top[i] = m;
  __syncthreads();
  for (int s = 256; s > 0; s /= 2) {
    if (i < s) top[i] = max(top[i], top[i + s]);
    __syncthreads();
  }
  if (i == 0) score[blockIdx.x] = top[0];
}

} // namespace

int main()
{
  {
    int blocks = 16384;
    char *a = upload_random<char>((size_t)blocks * LCS_LEN, 4, 1), *b = upload_random<char>((size_t)blocks * LCS_LEN, 4, 2);
    int *len = mk<int>(blocks);
    lcs_kernel<<<blocks, LCS_LEN>>>(a, b, len);
    show("lcs_kernel", len, blocks * 4);
    edit_distance_rows<64><<<blocks, 64>>>((unsigned char *)a, (unsigned char *)b, len);
    show("edit_distance_rows", len, blocks * 4);
    smith_waterman_score<<<4096, 512>>>(a, b, len);
    show("smith_waterman_score", len, 4096 * 4);
  }
  {
    int blocks = 4096, items = 100;
    int *w = upload_random<int>(blocks * items, 90, 3), *v = upload_random<int>(blocks * items, 500, 4), *o = mk<int>(blocks * 512);
    knapsack_row<<<blocks, 512>>>(w, v, items, o);
    show("knapsack_row", o, (size_t)blocks * 512 * 4);
  }
  {
    int blocks = 16384;
    int *s = upload_random<int>(blocks, 20000, 5), *k = upload_random<int>(blocks, 20000, 6), *p = mk<int>(blocks);
    binomial_american_int<<<blocks, 256>>>(s, k, p);
    show("binomial_american_int", p, blocks * 4);
  }
  {
    int nq = 20000, nr = 3001;
    float *q = upload_random<float>(nq, 4096, 7), *r = upload_random<float>(nr, 4096, 8), *d = mk<float>(nq);
    int *w = mk<int>(nq);
    nearest_reference<<<nq, 192>>>(q, r, nr, w, d);
    show("nearest_reference", w, nq * 4);
  }
  {
    int blocks = 8192, len = 1000;
    unsigned char *r = upload_random<unsigned char>((size_t)blocks * len, 4, 9);
    int *sp = mk<int>((size_t)blocks * 1024);
    kmer_spectrum<<<blocks, 160>>>(r, len, sp);
    show("kmer_spectrum", sp, (size_t)blocks * 1024 * 4);
  }
  {
    int n = (1 << 23) - 100;
    long long *s = upload_random<long long>(n, 4000000000u, 10), *b = mk<long long>(n / 1024 + 1);
    int *w = mk<int>(n / 1024 + 1);
    best_hit<<<(n + 1023) / 1024, 1024>>>(s, b, w, n);
    show("best_hit", b, (size_t)((n + 1023) / 1024) * 8);
  }
  {
    int blocks = 16384, T = 64;
    float *tr = mk<float>(32 * 32), *em = mk<float>(16 * 32 + 1) + 1, *al = mk<float>(blocks * 32);
    unsigned char *ob = upload_random<unsigned char>((size_t)blocks * T, 16, 11);
    hmm_forward<<<blocks, 32>>>(tr, em, ob, T, al);
    show("hmm_forward", al, (size_t)blocks * 32 * 4);
  }
  {
    int blocks = 1 << 17;
    unsigned *x = upload_random<unsigned>(blocks * 4, 4294967291u, 12), *y = upload_random<unsigned>(blocks * 4, 4294967291u, 13), *z = mk<unsigned>(blocks * 8);
    clmul_bits<<<blocks, 256>>>(x, y, z);
    show("clmul_bits", z, (size_t)blocks * 8 * 4);
  }
  return 0;
}
