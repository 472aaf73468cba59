// dynamic programming kernels
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <algorithm>

#define BSZ 256
#define IN_RANGE(x, a, b) ((x) >= (a) && (x) <= (b))
#define CHK(a) if ((a) != cudaSuccess) { printf("cuda failure: %s (line %d)\n", cudaGetErrorString(cudaGetLastError()), __LINE__); exit(2); }

// grid path, several rows in one launch; the valid part of the block shrinks each row
__global__ void dp_min3_rows(int iteration, const int *wall, const int *src, int *dst, int cols, int startRow, int border) {
  __shared__ int prev[BSZ];
  __shared__ int result[BSZ];
  int bx = blockIdx.x, tx = threadIdx.x;
  int small = BSZ - iteration * 2;
  int blkX = small * bx - border;
  int blkXmax = blkX + BSZ - 1;
  int xidx = blkX + tx;
  int validXmin = blkX < 0 ? -blkX : 0;
  int validXmax = blkXmax > cols - 1 ? BSZ - 1 - (blkXmax - cols + 1) : BSZ - 1;
  int W = tx - 1, E = tx + 1;
  W = W < validXmin ? validXmin : W;
  E = E > validXmax ? validXmax : E;
  bool isValid = IN_RANGE(tx, validXmin, validXmax);
  if (IN_RANGE(xidx, 0, cols - 1)) prev[tx] = src[xidx];
  __syncthreads();
  bool computed;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, BSZ - i - 2) && isValid) {
      computed = true;
      int left = prev[W], up = prev[tx], right = prev[E];
      int shortest = min(min(left, up), right);
      result[tx] = shortest + wall[cols * (startRow + i) + xidx];
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) dst[xidx] = result[tx];
}

// local alignment score, a thread per query letter, sweep over anti-diagonals
__global__ void sw_antidiag(const char *queries, const char *refs, int *scores, int refLen, int match, int mismatch, int gap) {
  __shared__ int H[3][BSZ + 1];
  __shared__ int best[BSZ];
  const int j = threadIdx.x;
  const char q = queries[(size_t)blockIdx.x * BSZ + j];
  const char *ref = refs + (size_t)blockIdx.x * refLen;
  for (int k = 0; k < 3; k++) {
    H[k][j + 1] = 0;
    if (j == 0) H[k][0] = 0;
  }
  __syncthreads();
  int mx = 0, own = 0;
  for (int d = 0; d < BSZ + refLen - 1; d++) {
    int now = d % 3, p1 = (d + 2) % 3, p2 = (d + 1) % 3;
    int i = d - j;
    int h = 0;
    if (i >= 0 && i < refLen) {
      int diag = H[p2][j] + (ref[i] == q ? match : mismatch);
      int left = H[p1][j] + gap;
      int up = own + gap;
      h = max(0, max(diag, max(left, up)));
    }
    H[now][j + 1] = h;
    own = h;
    mx = max(mx, h);
    __syncthreads();
  }
  best[j] = mx;
  __syncthreads();
  for (int s = BSZ / 2; s > 0; s >>= 1) {
    if (j < s) best[j] = max(best[j], best[j + s]);
    __syncthreads();
  }
  if (j == 0) scores[blockIdx.x] = best[0];
}

// edit distance of short words, one pair a thread, row in a private array
#define MAXW 24
__global__ void edit_distance_pairs(const char *a, const char *b, const int *lenB, int *dist, int pairs, int la) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pairs) return;
  int row[MAXW + 1];
  int lb = lenB[p];
  for (int j = 0; j <= lb; j++) row[j] = j;
  for (int i = 1; i <= la; i++) {
    char ca = a[(size_t)(i - 1) * pairs + p];
    int diag = row[0];
    row[0] = i;
    for (int j = 1; j <= lb; j++) {
      int t = row[j];
      int sub = diag + (ca != b[(size_t)(j - 1) * pairs + p]);
      row[j] = min(sub, min(t, row[j - 1]) + 1);
      diag = t;
    }
  }
  dist[p] = row[lb];
}

// blocked Floyd-Warshall
#define FB 32
#define INF 1000000000
__global__ void fw_phase_diag(int *D, int n, int kb) {
  __shared__ int t[FB][FB];
  int r = kb * FB + threadIdx.y, c = kb * FB + threadIdx.x;
  bool in = r < n && c < n;
  t[threadIdx.y][threadIdx.x] = in ? D[r * n + c] : INF;
  __syncthreads();
  for (int k = 0; k < FB; k++) {
    int v = t[threadIdx.y][k] + t[k][threadIdx.x];
    __syncthreads();
    if (v < t[threadIdx.y][threadIdx.x]) t[threadIdx.y][threadIdx.x] = v;
    __syncthreads();
  }
  if (in) D[r * n + c] = t[threadIdx.y][threadIdx.x];
}

__global__ void fw_phase_cross(int *D, int n, int kb) {
  if (blockIdx.x == kb) return;
  __shared__ int piv[FB][FB];
  __shared__ int own[FB][FB];
  int ty = threadIdx.y, tx = threadIdx.x;
  int pr = kb * FB + ty, pc = kb * FB + tx;
  piv[ty][tx] = (pr < n && pc < n) ? D[pr * n + pc] : INF;
  int r = blockIdx.y == 0 ? kb * FB + ty : blockIdx.x * FB + ty;
  int c = blockIdx.y == 0 ? blockIdx.x * FB + tx : kb * FB + tx;
  bool in = r < n && c < n;
  own[ty][tx] = in ? D[r * n + c] : INF;
  __syncthreads();
  for (int k = 0; k < FB; k++) {
    int v = blockIdx.y == 0 ? piv[ty][k] + own[k][tx] : own[ty][k] + piv[k][tx];
    __syncthreads();
    own[ty][tx] = min(own[ty][tx], v);
    __syncthreads();
  }
  if (in) D[r * n + c] = own[ty][tx];
}

__global__ void fw_phase_rest(int *D, int n, int kb) {
  if (blockIdx.x == kb || blockIdx.y == kb) return;
  __shared__ int colT[FB][FB], rowT[FB][FB];
  int ty = threadIdx.y, tx = threadIdx.x;
  int r = blockIdx.y * FB + ty, c = blockIdx.x * FB + tx;
  int kr = kb * FB + ty, kc = kb * FB + tx;
  colT[ty][tx] = (r < n && kc < n) ? D[r * n + kc] : INF;
  rowT[ty][tx] = (kr < n && c < n) ? D[kr * n + c] : INF;
  __syncthreads();
  if (r < n && c < n) {
    int d = D[r * n + c];
#pragma unroll
    for (int k = 0; k < FB; k++) d = min(d, colT[ty][k] + rowT[k][tx]);
    D[r * n + c] = d;
  }
}

int main(int argc, char **argv) {
  int cols = argc > 1 ? atoi(argv[1]) : 1000000;
  int rows = 20;
  int *hw = (int *)malloc(sizeof(int) * (size_t)cols * rows);
  for (size_t i = 0; i < (size_t)cols * rows; i++) hw[i] = (int)((i * 2654435761u) >> 20) % 10;
  int *wall, *s0, *s1;
  CHK(cudaMalloc(&wall, sizeof(int) * (size_t)cols * rows));
  CHK(cudaMalloc(&s0, sizeof(int) * cols));
  CHK(cudaMalloc(&s1, sizeof(int) * cols));
  CHK(cudaMemcpy(wall, hw, sizeof(int) * (size_t)cols * rows, cudaMemcpyHostToDevice));
  CHK(cudaMemcpy(s0, hw, sizeof(int) * cols, cudaMemcpyHostToDevice));
  int it = rows, small = BSZ - 2 * it;
  dp_min3_rows<<<(cols + small - 1) / small, BSZ>>>(it, wall, s0, s1, cols, 0, it);
  CHK(cudaGetLastError());

  int pairs = 2000, refLen = 400;
  char *q, *r, *text = (char *)malloc((size_t)pairs * refLen);
  for (int i = 0; i < pairs * refLen; i++) text[i] = "ACGT"[((unsigned)i * 2246822519u >> 13) & 3];
  int *sc;
  CHK(cudaMalloc(&q, (size_t)pairs * BSZ));
  CHK(cudaMalloc(&r, (size_t)pairs * refLen));
  CHK(cudaMalloc(&sc, sizeof(int) * pairs));
  CHK(cudaMemcpy(q, text + 1, (size_t)pairs * BSZ, cudaMemcpyHostToDevice));
  CHK(cudaMemcpy(r, text, (size_t)pairs * refLen, cudaMemcpyHostToDevice));
  sw_antidiag<<<pairs, BSZ>>>(q, r, sc, refLen, 3, -2, -4);
  CHK(cudaGetLastError());

  int words = 300000, la = 16;
  char *wa, *wb, *hwords = (char *)malloc((size_t)words * MAXW);
  int *lb, *dist, *hlb = (int *)malloc(sizeof(int) * words);
  for (size_t i = 0; i < (size_t)words * MAXW; i++) hwords[i] = 'a' + (i * 40503u >> 3) % 7;
  for (int i = 0; i < words; i++) hlb[i] = 8 + i % (MAXW - 7);
  CHK(cudaMalloc(&wa, (size_t)words * MAXW));
  CHK(cudaMalloc(&wb, (size_t)words * MAXW));
  CHK(cudaMalloc(&lb, sizeof(int) * words));
  CHK(cudaMalloc(&dist, sizeof(int) * words));
  CHK(cudaMemcpy(wa, hwords, (size_t)words * MAXW, cudaMemcpyHostToDevice));
  CHK(cudaMemcpy(wb, hwords, (size_t)words * MAXW, cudaMemcpyHostToDevice));
  CHK(cudaMemcpy(lb, hlb, sizeof(int) * words, cudaMemcpyHostToDevice));
  edit_distance_pairs<<<(words + 127) / 128, 128>>>(wa, wb, lb, dist, words, la);
  CHK(cudaGetLastError());

  int n = 2000, nb = (n + FB - 1) / FB;
  int *hd = (int *)malloc(sizeof(int) * n * n), *D;
  for (int i = 0; i < n * n; i++) hd[i] = i % (n + 1) == 0 ? 0 : 1 + (int)((i * 2654435761u) >> 16) % 1000;
  CHK(cudaMalloc(&D, sizeof(int) * n * n));
  CHK(cudaMemcpy(D, hd, sizeof(int) * n * n, cudaMemcpyHostToDevice));
  dim3 tb(FB, FB);
  for (int kb = 0; kb < 2; kb++) {
    fw_phase_diag<<<1, tb>>>(D, n, kb);
    fw_phase_cross<<<dim3(nb, 2), tb>>>(D, n, kb);
    fw_phase_rest<<<dim3(nb, nb), tb>>>(D, n, kb);
  }
  CHK(cudaGetLastError());
  CHK(cudaDeviceSynchronize());
  cudaFree(wall); cudaFree(s0); cudaFree(s1); cudaFree(q); cudaFree(r); cudaFree(sc);
  cudaFree(wa); cudaFree(wb); cudaFree(lb); cudaFree(dist); cudaFree(D);
  free(hw); free(text); free(hwords); free(hlb); free(hd);
  return 0;
}
