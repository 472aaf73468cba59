// sequence analysis kernels
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define MAX_PAT 64
#define THREADS_PER_BLOCK 256
#define E(x) { auto rc = (x); if (rc != cudaSuccess) { fprintf(stderr, "[%d] %s\n", __LINE__, cudaGetErrorName(rc)); return 1; } }

// exact matching; text window and pattern are staged
__global__ void match_naive_staged(const char *text, int n, const char *pattern, int m, uint8_t *found) {
  __shared__ char win[THREADS_PER_BLOCK + MAX_PAT];
  __shared__ char pat[MAX_PAT];
  const int first = blockIdx.x * THREADS_PER_BLOCK;
  for (int i = threadIdx.x; i < THREADS_PER_BLOCK + m - 1; i += THREADS_PER_BLOCK)
    win[i] = first + i < n ? text[first + i] : 0;
  if (threadIdx.x < m) pat[threadIdx.x] = pattern[threadIdx.x];
  __syncthreads();
  int pos = first + threadIdx.x;
  if (pos > n - m) {
    if (pos < n) found[pos] = 0;
    return;
  }
  bool hit = true;
  for (int k = 0; k < m; k++)
    if (win[threadIdx.x + k] != pat[k]) { hit = false; break; }
  found[pos] = hit;
}

// Rabin fingerprint of every window of fixed length
template <int LEN>
__global__ void rabin_fingerprints(const uint8_t *text, uint32_t *hash, int n) {
  __shared__ uint8_t s[128 + LEN - 1];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = i < n ? text[i] : 0;
  if (threadIdx.x < LEN - 1) {
    int j = i + 128;
    s[threadIdx.x + 128] = j < n ? text[j] : 0;
  }
  __syncthreads();
  if (i + LEN <= n) {
    uint32_t h = 0;
#pragma unroll
    for (int k = 0; k < LEN; k++) h = h * 257u + s[threadIdx.x + k];
    hash[i] = h;
  }
}

// dinucleotide counts: a read a thread, private counters, summed over the block in shared
__global__ void dinuc_private(const uint8_t *bases, unsigned *total, int reads, int len) {
  __shared__ unsigned sum[16];
  if (threadIdx.x < 16) sum[threadIdx.x] = 0;
  __syncthreads();
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < reads) {
    unsigned cnt[16] = {0};
    int prev = bases[r];
    for (int k = 1; k < len; k++) {
      int b = bases[(size_t)k * reads + r];
      cnt[prev * 4 + b]++;
      prev = b;
    }
    for (int q = 0; q < 16; q++) atomicAdd(&sum[q], cnt[q]);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&total[threadIdx.x], sum[threadIdx.x]);
}

// heads of runs
__global__ void run_heads(const int *key, int *head, int n) {
  extern __shared__ int k[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) k[threadIdx.x + 1] = key[i];
  if (threadIdx.x == 0) k[0] = i > 0 ? key[i - 1] : ~key[0];
  __syncthreads();
  if (i < n) head[i] = k[threadIdx.x] != k[threadIdx.x + 1] ? 1 : 0;
}

// G+C in a centred window whose length is chosen at run time
__global__ void gc_window(const uint8_t *bases, float *gc, int n, int halfWin) {
  extern __shared__ uint8_t w[];
  int lo = (int)(blockIdx.x * blockDim.x) - halfWin;
  int span = blockDim.x + 2 * halfWin;
  for (int i = threadIdx.x; i < span; i += blockDim.x) {
    int g = lo + i;
    uint8_t v = 0;
    if (g >= 0 && g < n) v = bases[g] == 1 || bases[g] == 2;
    w[i] = v;
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int c = 0;
    for (int k = 0; k <= 2 * halfWin; k++) c += w[threadIdx.x + k];
    gc[i] = (float)c / (2 * halfWin + 1);
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 16 * 1024 * 1024 + 19;
  uint8_t *h = (uint8_t *)malloc(n);
  uint32_t s = 1;
  for (int i = 0; i < n; i++) { s = s * 1103515245u + 12345u; h[i] = (s >> 16) & 3; }
  uint8_t *d_text, *d_found;
  uint32_t *d_out;
  char *d_pat;
  unsigned *d_tot;
  E(cudaMalloc(&d_text, n));
  E(cudaMalloc(&d_found, n));
  E(cudaMalloc(&d_out, (size_t)n * 4));
  E(cudaMalloc(&d_pat, MAX_PAT));
  E(cudaMalloc(&d_tot, 16 * sizeof(unsigned)));
  E(cudaMemset(d_tot, 0, 16 * sizeof(unsigned)));
  E(cudaMemcpy(d_text, h, n, cudaMemcpyHostToDevice));
  int m = 21;
  E(cudaMemcpy(d_pat, h + 5000, m, cudaMemcpyHostToDevice));
  match_naive_staged<<<(n + THREADS_PER_BLOCK - 1) / THREADS_PER_BLOCK, THREADS_PER_BLOCK>>>((char *)d_text, n, d_pat, m, d_found);
  E(cudaGetLastError());
  rabin_fingerprints<24><<<(n + 127) / 128, 128>>>(d_text, d_out, n);
  E(cudaGetLastError());
  int len = 100, reads = n / len;
  dinuc_private<<<(reads + 127) / 128, 128>>>(d_text, d_tot, reads, len);
  E(cudaGetLastError());
  int nk = n / 4;
  run_heads<<<(nk + 319) / 320, 320, 321 * sizeof(int)>>>((int *)d_text, (int *)d_out, nk);
  E(cudaGetLastError());
  int hw = 25;
  gc_window<<<(n + 255) / 256, 256, 256 + 2 * hw>>>(d_text, (float *)d_out, n, hw);
  E(cudaGetLastError());
  E(cudaDeviceSynchronize());
  cudaFree(d_text); cudaFree(d_found); cudaFree(d_out); cudaFree(d_pat); cudaFree(d_tot);
  free(h);
  return 0;
}
