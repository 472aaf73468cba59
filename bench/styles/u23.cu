#include "h.h"
#include <cstring>
#include <cstdint>
static void show(const char *name, const void *dev, size_t bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  unsigned char *h = (unsigned char *)malloc(bytes);
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    unsigned long long w;
    memcpy(&w, h + i, 8);
    f = (f ^ w) * 1099511628211ull;
  }
  for (; i < bytes; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016llx%s%s\n", name, f, e ? " " : "", e ? cudaGetErrorString(e) : "");
  free(h);
}
// BFS level with a block-private queue (order free, the result is the level array)
#define BLOCK_QUEUE_SIZE 1024
__global__ void bfs_level(const int *nodePtrs, const int *nbrs, const int *curr, int *next, int *level, int numCurr, int *numNext, int depth, int *overflow) {
  __shared__ int bq[BLOCK_QUEUE_SIZE];
  __shared__ int bqCount, start;
  if (threadIdx.x == 0) bqCount = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < numCurr; i += blockDim.x * gridDim.x) {
    int v = curr[i];
    for (int e = nodePtrs[v]; e < nodePtrs[v + 1]; ++e) {
      int w = nbrs[e];
      if (atomicCAS(&level[w], -1, depth) == -1) {
        int p = atomicAdd(&bqCount, 1);
        if (p < BLOCK_QUEUE_SIZE) bq[p] = w;
        else next[atomicAdd(numNext, 1)] = w;
      }
    }
  }
  __syncthreads();
  int cnt = bqCount < BLOCK_QUEUE_SIZE ? bqCount : BLOCK_QUEUE_SIZE;
  if (threadIdx.x == 0) start = atomicAdd(numNext, cnt);
  __syncthreads();
  for (int i = threadIdx.x; i < cnt; i += blockDim.x) next[start + i] = bq[i];
}

// connected components inside a 32x32 image tile by repeated minimum, early exit through a shared flag
__global__ void tile_labels(const uint8_t *img, int *lab, int w, int h) {
  __shared__ int l[34][34];
  __shared__ uint8_t p[34][34];
  __shared__ int changed;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  int lin = threadIdx.y * 32 + threadIdx.x;
  for (int i = lin; i < 34 * 34; i += 1024) { (&l[0][0])[i] = 0x7fffffff; (&p[0][0])[i] = 0xff; }
  __syncthreads();
  bool in = x < w && y < h;
  if (in) { p[ty][tx] = img[(size_t)y * w + x] > 4; l[ty][tx] = lin; }
  __syncthreads();
  for (int it = 0; it < 1024; ++it) {
    int m = l[ty][tx];
    if (in) {
      if (p[ty - 1][tx] == p[ty][tx]) m = min(m, l[ty - 1][tx]);
      if (p[ty + 1][tx] == p[ty][tx]) m = min(m, l[ty + 1][tx]);
      if (p[ty][tx - 1] == p[ty][tx]) m = min(m, l[ty][tx - 1]);
      if (p[ty][tx + 1] == p[ty][tx]) m = min(m, l[ty][tx + 1]);
    }
    if (lin == 0) changed = 0;
    __syncthreads();
    if (m != l[ty][tx]) { l[ty][tx] = m; changed = 1; }
    __syncthreads();
    int again = changed;
    __syncthreads();
    if (!again) break;
  }
  if (in) lab[(size_t)y * w + x] = l[ty][tx];
}

// multi-pattern exact matching: text chunk with overlap in shared memory
__constant__ unsigned char pats[8][16];
__constant__ int patLen[8];
__global__ void match8(const unsigned char *text, long n, unsigned char *mask) {
  __shared__ unsigned char chunk[256 * 4 + 16];
  const long base = (long)blockIdx.x * 1024;
  for (int i = threadIdx.x; i < 1024 + 16; i += 256) chunk[i] = base + i < n ? text[base + i] : 0xff;
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    int s = r * 256 + threadIdx.x;
    if (base + s >= n) continue;
    unsigned m = 0;
    for (int p = 0; p < 8; ++p) {
      int k = 0;
      while (k < patLen[p] && chunk[s + k] == pats[p][k]) ++k;
      if (k == patLen[p]) m |= 1u << p;
    }
    mask[base + s] = (unsigned char)m;
  }
}

// CRC-32 of 64-byte records: table and records staged
__global__ void crc_records(const uint32_t *rec, uint32_t *crc, int n) {
  __shared__ uint32_t tab[256];
  __shared__ uint32_t words[128 * 17];
  for (int i = threadIdx.x; i < 256; i += 128) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c & 1) ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    tab[i] = c;
  }
  int first = blockIdx.x * 128, have = n - first < 128 ? n - first : 128;
  for (int i = threadIdx.x; i < have * 16; i += 128) words[(i >> 4) * 17 + (i & 15)] = rec[(size_t)first * 16 + i];
  __syncthreads();
  if (threadIdx.x < have) {
    uint32_t c = ~0u;
    for (int w = 0; w < 16; ++w) {
      uint32_t v = words[threadIdx.x * 17 + w];
#pragma unroll
      for (int b = 0; b < 4; ++b) { c = tab[(c ^ v) & 0xff] ^ (c >> 8); v >>= 8; }
    }
    crc[first + threadIdx.x] = ~c;
  }
}

int main() {
  { int nv = 1000000, deg = 6; int *hp = (int *)malloc((nv + 1) * 4), *hn = (int *)malloc((size_t)nv * deg * 4);
    for (int v = 0; v <= nv; ++v) hp[v] = v * deg;
    for (int v = 0; v < nv; ++v) for (int k = 0; k < deg; ++k) hn[v * deg + k] = (int)((v * 3LL + k * 7919LL + 1 + (long long)k * v) % nv);
    int *p, *nb, *c, *nx, *lv, *cnt; cudaMalloc(&p, (nv + 1) * 4); cudaMalloc(&nb, (size_t)nv * deg * 4); cudaMalloc(&c, nv * 4); cudaMalloc(&nx, nv * 4); cudaMalloc(&lv, nv * 4); cudaMalloc(&cnt, 8);
    cudaMemcpy(p, hp, (nv + 1) * 4, cudaMemcpyHostToDevice); cudaMemcpy(nb, hn, (size_t)nv * deg * 4, cudaMemcpyHostToDevice);
    cudaMemset(lv, 0xff, nv * 4); cudaMemset(lv, 0, 4); cudaMemset(c, 0, nv * 4); cudaMemset(nx, 0, nv * 4);
    int cur = 1;
    for (int d = 1; cur > 0 && d < 60; ++d) {
      cudaMemset(cnt, 0, 8);
      bfs_level<<<(cur + 255) / 256, 256>>>(p, nb, c, nx, lv, cur, cnt, d, cnt + 1);
      cudaMemcpy(&cur, cnt, 4, cudaMemcpyDeviceToHost);
      int *t = c; c = nx; nx = t;
    }
    show("bfs level", lv, nv * 4); }
  { int w = 4000, h = 3001; uint8_t *i = mk<uint8_t>((size_t)w * h); int *l = mk<int>((size_t)w * h);
    tile_labels<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(32, 32)>>>(i, l, w, h);
    show("tile_labels", l, (size_t)w * h * 4); }
  { unsigned char hp[8][16] = {{0}}; int hl[8];
    for (int k = 0; k < 8; ++k) { hl[k] = 1 + k % 5; for (int i = 0; i < 16; ++i) hp[k][i] = ((k * 13 + i * 7919) % 101) / 8; }
    cudaMemcpyToSymbol(pats, hp, sizeof hp); cudaMemcpyToSymbol(patLen, hl, sizeof hl);
    long n = 60000013; unsigned char *t = mk<unsigned char>(n), *m = mk<unsigned char>(n);
    match8<<<(n + 1023) / 1024, 256>>>(t, n, m);
    show("match8", m, n); }
  { int n = 2000003; uint32_t *r = mk<uint32_t>((size_t)n * 16), *c = mk<uint32_t>(n);
    crc_records<<<(n + 127) / 128, 128>>>(r, c, n);
    show("crc_records", c, (size_t)n * 4); }
  return 0;
}
