// per-thread scratch arrays
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cuda_runtime.h>
#define GPU(call) if ((call) != cudaSuccess) { fprintf(stderr, "gpu call failed at %d: %s\n", __LINE__, cudaGetErrorString(cudaGetLastError())); exit(1); }

// counting sort of 32 small digits, counts indexed by data
__global__ void digit_rank(const uint8_t *d, uint8_t *rank, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  uint8_t cnt[10];
  for (int i = 0; i < 10; i++) cnt[i] = 0;
  for (int i = 0; i < 32; i++) cnt[d[(size_t)i * n + t] % 10]++;
  uint8_t run = 0;
  for (int i = 0; i < 10; i++) { uint8_t c = cnt[i]; cnt[i] = run; run += c; }
  for (int i = 0; i < 32; i++) rank[(size_t)i * n + t] = cnt[d[(size_t)i * n + t] % 10]++;
}

// N queens with an explicit stack of columns per row
__global__ void nqueens(int n, int depth0, unsigned *sols) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  int total = 1;
  for (int i = 0; i < depth0; i++) total *= n;
  if (id >= total) return;
  int pos[16];
  int v = id;
  for (int i = 0; i < depth0; i++) { pos[i] = v % n; v /= n; }
  for (int i = 0; i < depth0; i++)
    for (int j = 0; j < i; j++)
      if (pos[i] == pos[j] || abs(pos[i] - pos[j]) == i - j) { sols[id] = 0; return; }
  int row = depth0;
  unsigned c = 0;
  pos[row] = -1;
  while (row >= depth0) {
    int q = ++pos[row];
    if (q >= n) { row--; continue; }
    bool ok = true;
    for (int j = 0; j < row && ok; j++) ok = pos[j] != q && abs(pos[j] - q) != row - j;
    if (!ok) continue;
    if (row == n - 1) { c++; continue; }
    pos[++row] = -1;
  }
  sols[id] = c;
}

// small dense solve with partial pivoting and a row permutation
#define NN 6
__global__ void lu_solve6(const float *A, const float *b, float *x, int cnt) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= cnt) return;
  float m[NN][NN], y[NN];
  int p[NN];
  for (int i = 0; i < NN; i++) {
    p[i] = i;
    for (int j = 0; j < NN; j++) m[i][j] = A[(i * NN + j) * cnt + t];
  }
  for (int k = 0; k < NN; k++) {
    int piv = k;
    for (int i = k + 1; i < NN; i++)
      if (fabsf(m[p[i]][k]) > fabsf(m[p[piv]][k])) piv = i;
    int tmp = p[k]; p[k] = p[piv]; p[piv] = tmp;
    float inv = 1.f / m[p[k]][k];
    for (int i = k + 1; i < NN; i++) {
      float f = m[p[i]][k] * inv;
      m[p[i]][k] = f;
      for (int j = k + 1; j < NN; j++) m[p[i]][j] -= f * m[p[k]][j];
    }
  }
  for (int i = 0; i < NN; i++) {
    float s = b[p[i] * cnt + t];
    for (int j = 0; j < i; j++) s -= m[p[i]][j] * y[j];
    y[i] = s;
  }
  for (int i = NN - 1; i >= 0; i--) {
    float s = y[i];
    for (int j = i + 1; j < NN; j++) s -= m[p[i]][j] * y[j];
    y[i] = s / m[p[i]][i];
    x[i * cnt + t] = y[i];
  }
}

// k-d tree style radius query, stack of node ids, implicit tree (node i: 2i+1, 2i+2)
__global__ void radius_count(const float *key, int nodes, const float *q, int *out, int nq, float r) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= nq) return;
  float x = q[t];
  int st[40], sp = 0, c = 0;
  st[sp++] = 0;
  while (sp) {
    int v = st[--sp];
    float k = key[v];
    if (fabsf(k - x) <= r) c++;
    int l = 2 * v + 1;
    if (l < nodes && x - r <= k) st[sp++] = l;
    if (l + 1 < nodes && x + r >= k) st[sp++] = l + 1;
  }
  out[t] = c;
}

// IIR / FIR delay line in a ring buffer per channel
#define TAPS 24
__constant__ float h[TAPS];
__global__ void fir_ring(const float *in, float *out, int channels, int len) {
  int ch = blockIdx.x * blockDim.x + threadIdx.x;
  if (ch >= channels) return;
  float ring[TAPS];
  for (int i = 0; i < TAPS; i++) ring[i] = 0.f;
  int head = 0;
  for (int n = 0; n < len; n++) {
    ring[head] = in[(size_t)n * channels + ch];
    float acc = 0.f;
    for (int k = 0; k < TAPS; k++) {
      int j = head - k;
      if (j < 0) j += TAPS;
      acc += h[k] * ring[j];
    }
    out[(size_t)n * channels + ch] = acc;
    if (++head == TAPS) head = 0;
  }
}

// top-8 values of a column kept in a small heap
__device__ void sift(float *hp, int i, int n) {
  for (;;) {
    int l = 2 * i + 1, s = i;
    if (l < n && hp[l] < hp[s]) s = l;
    if (l + 1 < n && hp[l + 1] < hp[s]) s = l + 1;
    if (s == i) return;
    float t = hp[i]; hp[i] = hp[s]; hp[s] = t;
    i = s;
  }
}
__global__ void topk_heap(const float *x, float *y, int n, int m) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  float heap[8];
  for (int i = 0; i < 8; i++) heap[i] = x[(size_t)i * n + t];
  for (int i = 3; i >= 0; i--) sift(heap, i, 8);
  for (int i = 8; i < m; i++) {
    float v = x[(size_t)i * n + t];
    if (v > heap[0]) { heap[0] = v; sift(heap, 0, 8); }
  }
  for (int i = 0; i < 8; i++) y[(size_t)i * n + t] = heap[i];
}

// move-to-front coding, alphabet of 64 in a byte list
__global__ void mtf_encode(const uint8_t *in, uint8_t *out, int n, int len) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  uint8_t lst[64];
  for (int i = 0; i < 64; i++) lst[i] = i;
  for (int k = 0; k < len; k++) {
    uint8_t c = in[(size_t)k * n + t] & 63;
    int j = 0;
    while (lst[j] != c) j++;
    out[(size_t)k * n + t] = j;
    for (; j > 0; j--) lst[j] = lst[j - 1];
    lst[0] = c;
  }
}

// Longest increasing subsequence by patience piles with binary search
__global__ void lis_len(const int *a, int *len, int n, int m) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  int pile[48];
  int c = 0;
  for (int i = 0; i < m; i++) {
    int v = a[(size_t)i * n + t];
    int lo = 0, hi = c;
    while (lo < hi) {
      int mid = (lo + hi) >> 1;
      if (pile[mid] < v) lo = mid + 1;
      else hi = mid;
    }
    pile[lo] = v;
    if (lo == c) c++;
  }
  len[t] = c;
}

template <class T> T *dev(size_t n, uint32_t mod, float mul) {
  T *hb = (T *)malloc(n * sizeof(T)), *d;
  uint32_t s = 2463534242u;
  for (size_t i = 0; i < n; i++) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; hb[i] = (T)((s >> 5) % mod * mul); }
  GPU(cudaMalloc(&d, n * sizeof(T)));
  GPU(cudaMemcpy(d, hb, n * sizeof(T), cudaMemcpyHostToDevice));
  free(hb);
  return d;
}
int main() {
  int n = 300000;
  uint8_t *b = dev<uint8_t>((size_t)n * 48, 256, 1), *ob = dev<uint8_t>((size_t)n * 48, 1, 1);
  digit_rank<<<(n + 127) / 128, 128>>>(b, ob, n);
  mtf_encode<<<(n + 63) / 64, 64>>>(b, ob, n, 40);
  unsigned *sol = dev<unsigned>(1331, 1, 1);
  nqueens<<<(1331 + 63) / 64, 64>>>(11, 3, sol);
  float *A = dev<float>((size_t)n * 48, 9973, 0.01f), *B = dev<float>((size_t)n * NN, 100, 0.1f), *X = dev<float>((size_t)n * 48, 1, 0);
  lu_solve6<<<(n + 255) / 256, 256>>>(A, B, X, n);
  topk_heap<<<(n + 255) / 256, 256>>>(A, X, n, 48);
  const int nodes = (1 << 16) - 1;
  float *hk = (float *)malloc(nodes * 4), *dk;
  for (int lev = 0; lev < 16; lev++)
    for (int i = 0; i < (1 << lev); i++) hk[(1 << lev) - 1 + i] = (2 * i + 1) * 100.f / (1 << (lev + 1));
  GPU(cudaMalloc(&dk, nodes * 4));
  GPU(cudaMemcpy(dk, hk, nodes * 4, cudaMemcpyHostToDevice));
  int *cnt = dev<int>(n, 1, 1);
  radius_count<<<(n + 127) / 128, 128>>>(dk, nodes, A, cnt, n, 0.05f);
  float hh[TAPS];
  for (int i = 0; i < TAPS; i++) hh[i] = 1.f / (i + 2);
  GPU(cudaMemcpyToSymbol(h, hh, sizeof hh));
  fir_ring<<<(100000 + 255) / 256, 256>>>(A, X, 100000, 140);
  int *ia = dev<int>((size_t)n * 48, 1000, 1);
  lis_len<<<(n + 127) / 128, 128>>>(ia, cnt, n, 48);
  GPU(cudaGetLastError());
  GPU(cudaDeviceSynchronize());
  return 0;
}
