// dynamic programming and sequence alignment
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime.h>
#define CUERR { cudaError_t err; if ((err = cudaGetLastError()) != cudaSuccess) { printf("CUDA error: %s, line %d\n", cudaGetErrorString(err), __LINE__); exit(1); } }
#define BLOCK_SIZE 16

__device__ __host__ int maximum(int a, int b, int c) {
  int k = a <= b ? b : a;
  return k <= c ? c : k;
}

#define QLEN 128
#define PBS 256
#define HALO 1
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
/* LCS length by antidiagonals for short strings: 32 threads, warp per pair, 2 pairs a block */
__global__ void lcs_pairs(const unsigned char *a, const unsigned char *b, unsigned short *len, int n, int pairs) {
  __shared__ unsigned short dp[2][3][34];
  __shared__ unsigned char sa[2][32];
  int g = threadIdx.y, t = threadIdx.x;
  int p = min((int)(blockIdx.x * 2 + g), pairs - 1);
  sa[g][t] = a[p * 32 + t];
  for (int k = 0; k < 3; k++) {
    dp[g][k][t] = 0;
    if (t < 2) dp[g][k][t + 32] = 0;
  }
  __syncthreads();
  for (int d = 0; d < n + 31; d++) {
    int j = d - t;
    unsigned short v = dp[g][(d + 2) % 3][t + 1];
    if (j >= 0 && j < n) {
      if (sa[g][t] == b[p * n + j])
        v = dp[g][(d + 1) % 3][t] + 1;
      else
        v = max(dp[g][(d + 2) % 3][t + 1], dp[g][(d + 2) % 3][t]);
    }
    dp[g][d % 3][t + 1] = v;
    __syncthreads();
  }
  if (t == 31 && blockIdx.x * 2 + g < pairs) len[p] = dp[g][(n + 30) % 3][32];
}

template <class T> T *fill(size_t n, int mod) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  unsigned r = 99;
  for (size_t i = 0; i < n; i++) { r = r * 1103515245u + 12345u; h[i] = (T)((r >> 16) % mod); }
  cudaMalloc((void **)&d, n * sizeof(T)); CUERR
  cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice); CUERR
  free(h);
  return d;
}
int main(int argc, char *argv[]) {
  int dim = 2048, cols = dim + 1;
  int *ref = fill<int>((size_t)cols * cols, 20), *mat = fill<int>((size_t)cols * cols, 5);
  int nb = dim / BLOCK_SIZE;
  int ds[3] = {16, 128, 200};
  for (int k = 0; k < 3; k++) {
    int i = ds[k], first = i > nb ? i - nb : 0, cnt = i > nb ? 2 * nb - i : i;
  }
  int slen = 350, nsub = 20000;
  char *q = fill<char>(QLEN, 20), *sub = fill<char>((size_t)slen * nsub, 20);
  int *sc = fill<int>(nsub, 1);
  int pc = 1000000, pr = 41, it = 20;
  int *wall = fill<int>((size_t)pc * pr, 10), *src = fill<int>(pc, 10), *dst = fill<int>(pc, 1);
  int small = PBS - it * 2;
  int np = 200001, ln = 40;
  unsigned char *la = fill<unsigned char>((size_t)np * 32, 4), *lb = fill<unsigned char>((size_t)np * ln, 4);
  unsigned short *ll = fill<unsigned short>(np, 1);
  lcs_pairs<<<(np + 1) / 2, dim3(32, 2)>>>(la, lb, ll, ln, np); CUERR
  cudaDeviceSynchronize(); CUERR
  return 0;
}
