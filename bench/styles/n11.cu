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

/* Needleman-Wunsch: one diagonal of 16x16 blocks per launch */
__global__ void nw_block_diagonal(const int *reference, int *matrix, int cols, int penalty, int i, int first) {
  int tx = threadIdx.x;
  int b_x = first + blockIdx.x;
  int b_y = i - 1 - b_x;
  int index = cols * BLOCK_SIZE * b_y + BLOCK_SIZE * b_x + tx + cols + 1;
  int index_n = cols * BLOCK_SIZE * b_y + BLOCK_SIZE * b_x + tx + 1;
  int index_w = cols * BLOCK_SIZE * b_y + BLOCK_SIZE * b_x + cols;
  int index_nw = cols * BLOCK_SIZE * b_y + BLOCK_SIZE * b_x;
  __shared__ int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
  __shared__ int ref[BLOCK_SIZE][BLOCK_SIZE];
  if (tx == 0) temp[tx][0] = matrix[index_nw];
  for (int ty = 0; ty < BLOCK_SIZE; ty++) ref[ty][tx] = reference[index + cols * ty];
  __syncthreads();
  temp[tx + 1][0] = matrix[index_w + cols * tx];
  __syncthreads();
  temp[0][tx + 1] = matrix[index_n];
  __syncthreads();
  for (int m = 0; m < BLOCK_SIZE; m++) {
    if (tx <= m) {
      int x = tx + 1, y = m - tx + 1;
      temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int m = BLOCK_SIZE - 2; m >= 0; m--) {
    if (tx <= m) {
      int x = tx + BLOCK_SIZE - m, y = BLOCK_SIZE - tx;
      temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int ty = 0; ty < BLOCK_SIZE; ty++) matrix[index + ty * cols] = temp[ty + 1][tx + 1];
}

/* Smith-Waterman score, one pair per block, three rotating antidiagonals in shared */
#define QLEN 128
__global__ void sw_wavefront(const char *query, const char *subjects, int *score, int slen, int match, int mismatch, int gap) {
  __shared__ int diag[3][QLEN + 1];
  __shared__ char q[QLEN];
  __shared__ int best[QLEN];
  int t = threadIdx.x;
  q[t] = query[t];
  for (int k = 0; k < 3; k++) {
    diag[k][t + 1] = 0;
    if (t == 0) diag[k][0] = 0;
  }
  const char *s = subjects + (size_t)blockIdx.x * slen;
  int mx = 0;
  __syncthreads();
  for (int d = 0; d < slen + QLEN - 1; d++) {
    int cur = d % 3, p1 = (d + 2) % 3, p2 = (d + 1) % 3;
    int j = d - t;
    int h = 0;
    if (j >= 0 && j < slen) {
      int sub = q[t] == s[j] ? match : -mismatch;
      h = max(0, diag[p2][t] + sub);
      h = max(h, diag[p1][t] - gap);
      h = max(h, diag[p1][t + 1] - gap);
      mx = max(mx, h);
    }
    diag[cur][t + 1] = h;
    __syncthreads();
  }
  best[t] = mx;
  __syncthreads();
  for (int w = QLEN / 2; w > 0; w /= 2) {
    if (t < w) best[t] = max(best[t], best[t + w]);
    __syncthreads();
  }
  if (t == 0) score[blockIdx.x] = best[0];
}

/* pathfinder, ghost zone in x */
#define PBS 256
#define HALO 1
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
__global__ void dynproc_path(int iteration, const int *gpuWall, const int *gpuSrc, int *gpuResults, int cols, int rows, int startStep, int border) {
  __shared__ int prev[PBS];
  __shared__ int result[PBS];
  int bx = blockIdx.x;
  int tx = threadIdx.x;
  int small_block_cols = PBS - iteration * HALO * 2;
  int blkX = small_block_cols * bx - border;
  int blkXmax = blkX + PBS - 1;
  int xidx = blkX + tx;
  int validXmin = (blkX < 0) ? -blkX : 0;
  int validXmax = (blkXmax > cols - 1) ? PBS - 1 - (blkXmax - cols + 1) : PBS - 1;
  int W = tx - 1;
  int E = tx + 1;
  W = (W < validXmin) ? validXmin : W;
  E = (E > validXmax) ? validXmax : E;
  bool isValid = IN_RANGE(tx, validXmin, validXmax);
  if (IN_RANGE(xidx, 0, cols - 1)) prev[tx] = gpuSrc[xidx];
  __syncthreads();
  bool computed;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, PBS - i - 2) && isValid) {
      computed = true;
      int left = prev[W];
      int up = prev[tx];
      int right = prev[E];
      int shortest = MIN(left, up);
      shortest = MIN(shortest, right);
      result[tx] = shortest + gpuWall[(size_t)cols * (startStep + i) + xidx];
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) gpuResults[xidx] = result[tx];
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
    nw_block_diagonal<<<cnt, BLOCK_SIZE>>>(ref, mat, cols, 10, i, first); CUERR
  }
  int slen = 350, nsub = 20000;
  char *q = fill<char>(QLEN, 20), *sub = fill<char>((size_t)slen * nsub, 20);
  int *sc = fill<int>(nsub, 1);
  sw_wavefront<<<nsub, QLEN>>>(q, sub, sc, slen, 5, 3, 4); CUERR
  int pc = 1000000, pr = 41, it = 20;
  int *wall = fill<int>((size_t)pc * pr, 10), *src = fill<int>(pc, 10), *dst = fill<int>(pc, 1);
  int small = PBS - it * 2;
  dynproc_path<<<(pc + small - 1) / small, PBS>>>(it, wall, src, dst, pc, pr, 0, it); CUERR
  dynproc_path<<<(pc + small - 1) / small, PBS>>>(it, wall, dst, src, pc, pr, it, it); CUERR
  int np = 200001, ln = 40;
  unsigned char *la = fill<unsigned char>((size_t)np * 32, 4), *lb = fill<unsigned char>((size_t)np * ln, 4);
  unsigned short *ll = fill<unsigned short>(np, 1);
  cudaDeviceSynchronize(); CUERR
  return 0;
}
