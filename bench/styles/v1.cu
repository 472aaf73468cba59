// private arrays I
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cuda_runtime.h>
#define CUDA_OK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } } while (0)
// 1. histogram per thread, 16 bins
__global__ void threadHist(const unsigned char *data, unsigned *hist, int perThread) {
  unsigned bins[16];
  for (int i = 0; i < 16; ++i) bins[i] = 0;
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < perThread; ++i) bins[data[(size_t)i * gridDim.x * blockDim.x + t] >> 4]++;
  for (int i = 0; i < 16; ++i) atomicAdd(&hist[i], bins[i]);
}
// 2. traversal stack of a binary tree (BVH-like)
struct Node { int left, right; float lo, hi; };
__global__ void traverse(const Node *nodes, const float *q, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = q[i];
  int stack[32];
  int sp = 0;
  stack[sp++] = 0;
  int c = 0;
  while (sp > 0) {
    const Node nd = nodes[stack[--sp]];
    if (x < nd.lo || x > nd.hi) continue;
    if (nd.left < 0) { c++; continue; }
    stack[sp++] = nd.left;
    stack[sp++] = nd.right;
  }
  count[i] = c;
}
// 3. median of 5x5 by insertion sort of a local array
__global__ void median5(const unsigned char *in, unsigned char *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
  unsigned char v[25];
  int k = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) v[k++] = in[(y + dy) * w + x + dx];
  for (int i = 1; i < 25; ++i) {
    unsigned char key = v[i];
    int j = i - 1;
    while (j >= 0 && v[j] > key) { v[j + 1] = v[j]; j--; }
    v[j + 1] = key;
  }
  out[y * w + x] = v[12];
}
// 4. k nearest neighbours kept in local sorted arrays
#define KNN 8
__global__ void knn(const float *ref, const float *query, float *dist, int *idx, int nref, int nq) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= nq) return;
  float bestD[KNN];
  int bestI[KNN];
  for (int i = 0; i < KNN; ++i) { bestD[i] = 1e30f; bestI[i] = -1; }
  float qx = query[q];
  for (int r = 0; r < nref; ++r) {
    float d = fabsf(ref[r] - qx);
    if (d < bestD[KNN - 1]) {
      int j = KNN - 1;
      while (j > 0 && bestD[j - 1] > d) { bestD[j] = bestD[j - 1]; bestI[j] = bestI[j - 1]; --j; }
      bestD[j] = d;
      bestI[j] = r;
    }
  }
  for (int i = 0; i < KNN; ++i) { dist[i * nq + q] = bestD[i]; idx[i * nq + q] = bestI[i]; }
}
// 5. edit distance with a DP row in local memory (sequence alignment)
#define LMAX 64
__global__ void editDistance(const char *a, const char *b, int *out, int la, int lb, int pairs) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pairs) return;
  int row[LMAX + 1];
  for (int j = 0; j <= lb; ++j) row[j] = j;
  for (int i = 1; i <= la; ++i) {
    int diag = row[0];
    row[0] = i;
    char ca = a[(i - 1) * pairs + p];
    for (int j = 1; j <= lb; ++j) {
      int t = row[j];
      int c = diag + (ca != b[(j - 1) * pairs + p]);
      row[j] = min(min(row[j] + 1, row[j - 1] + 1), c);
      diag = t;
    }
  }
  out[p] = row[lb];
}
// 6. RC4-like permutation table, uchar[256] per thread
__global__ void rc4(const uint8_t *key, uint8_t *out, int keylen, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  uint8_t S[256];
  for (int i = 0; i < 256; ++i) S[i] = i;
  int j = 0;
  for (int i = 0; i < 256; ++i) {
    j = (j + S[i] + key[t * keylen + i % keylen]) & 255;
    uint8_t x = S[i]; S[i] = S[j]; S[j] = x;
  }
  int i = 0; j = 0;
  for (int k = 0; k < n; ++k) {
    i = (i + 1) & 255;
    j = (j + S[i]) & 255;
    uint8_t x = S[i]; S[i] = S[j]; S[j] = x;
    out[k * gridDim.x * blockDim.x + t] = S[(S[i] + S[j]) & 255];
  }
}
template <class T> T *mk(size_t n) {
  unsigned char *h = (unsigned char *)malloc(n * sizeof(T));
  T *d;
  for (size_t i = 0; i < n * sizeof(T); ++i) h[i] = (i * 7919u) % 61;
  CUDA_OK(cudaMalloc(&d, n * sizeof(T)));
  CUDA_OK(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 18;
  unsigned char *d = mk<unsigned char>((size_t)n * 64), *o = mk<unsigned char>((size_t)n * 64);
  unsigned *hist = mk<unsigned>(16);
  threadHist<<<n / 256, 256>>>(d, hist, 64);
  Node hn[7] = {{1, 2, 0, 8}, {3, 4, 0, 5}, {5, 6, 3, 8}, {-1, 0, 0, 2}, {-1, 0, 1, 5}, {-1, 0, 3, 6}, {-1, 0, 5, 8}};
  Node *dn;
  CUDA_OK(cudaMalloc(&dn, sizeof hn));
  CUDA_OK(cudaMemcpy(dn, hn, sizeof hn, cudaMemcpyHostToDevice));
  float *q = mk<float>(n), *dist = mk<float>((size_t)n * KNN);
  int *cnt = mk<int>(n), *idx = mk<int>((size_t)n * KNN);
  traverse<<<(n + 127) / 128, 128>>>(dn, q, cnt, n);
  int w = 256, h = n / 256;
  median5<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(d, o, w, h);
  knn<<<(n + 255) / 256, 256>>>(q, q, dist, idx, 100, n);
  editDistance<<<(n + 127) / 128, 128>>>((char *)d, (char *)o, cnt, 20, 24, n);
  rc4<<<n / 64, 64>>>(d, o, 8, 32);
  CUDA_OK(cudaGetLastError());
  CUDA_OK(cudaDeviceSynchronize());
}
