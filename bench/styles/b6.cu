#include "shown.h"

#define BLOCK_SIZE 256
#define HALO 1
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

__global__ void dynproc_kernel(int iteration, int *gpuWall, int *gpuSrc, int *gpuResults, int cols, int rows, int startStep, int border) {
  __shared__ int prev[BLOCK_SIZE];
  __shared__ int result[BLOCK_SIZE];
  int bx = blockIdx.x;
  int tx = threadIdx.x;
  int small_block_cols = BLOCK_SIZE - iteration * HALO * 2;
  int blkX = small_block_cols * bx - border;
  int blkXmax = blkX + BLOCK_SIZE - 1;
  int xidx = blkX + tx;
  int validXmin = (blkX < 0) ? -blkX : 0;
  int validXmax = (blkXmax > cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - cols + 1) : BLOCK_SIZE - 1;
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
    if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && isValid) {
      computed = true;
      int left = prev[W];
      int up = prev[tx];
      int right = prev[E];
      int shortest = MIN(left, up);
      shortest = MIN(shortest, right);
      int index = cols * (startStep + i) + xidx;
      result[tx] = shortest + gpuWall[index];
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) gpuResults[xidx] = result[tx];
}

#define NW 16
#define SCORE(i, j) input_itemsets_l[(j) + (i) * (NW + 1)]
#define REF(i, j) reference_l[(j) + (i) * NW]
__device__ __host__ int maximum(int a, int b, int c) {
  int k = a <= b ? b : a;
  return k <= c ? c : k;
}
__global__ void needle_cuda_shared_1(int *referrence, int *matrix_cuda, int cols, int penalty, int i, int block_width) {
  int bx = blockIdx.x;
  int tx = threadIdx.x;
  int b_index_x = bx;
  int b_index_y = i - 1 - bx;
  int index = cols * NW * b_index_y + NW * b_index_x + tx + (cols + 1);
  int index_n = cols * NW * b_index_y + NW * b_index_x + tx + (1);
  int index_w = cols * NW * b_index_y + NW * b_index_x + (cols);
  int index_nw = cols * NW * b_index_y + NW * b_index_x;
  __shared__ int temp[NW + 1][NW + 1];
  __shared__ int ref[NW][NW];
  if (tx == 0) temp[tx][0] = matrix_cuda[index_nw];
  for (int ty = 0; ty < NW; ty++) ref[ty][tx] = referrence[index + cols * ty];
  __syncthreads();
  temp[tx + 1][0] = matrix_cuda[index_w + cols * tx];
  __syncthreads();
  temp[0][tx + 1] = matrix_cuda[index_n];
  __syncthreads();
  for (int m = 0; m < NW; m++) {
    if (tx <= m) {
      int t_index_x = tx + 1;
      int t_index_y = m - tx + 1;
      temp[t_index_y][t_index_x] = maximum(temp[t_index_y - 1][t_index_x - 1] + ref[t_index_y - 1][t_index_x - 1],
                                           temp[t_index_y][t_index_x - 1] - penalty, temp[t_index_y - 1][t_index_x] - penalty);
    }
    __syncthreads();
  }
  for (int m = NW - 2; m >= 0; m--) {
    if (tx <= m) {
      int t_index_x = tx + NW - m;
      int t_index_y = NW - tx;
      temp[t_index_y][t_index_x] = maximum(temp[t_index_y - 1][t_index_x - 1] + ref[t_index_y - 1][t_index_x - 1],
                                           temp[t_index_y][t_index_x - 1] - penalty, temp[t_index_y - 1][t_index_x] - penalty);
    }
    __syncthreads();
  }
  for (int ty = 0; ty < NW; ty++) matrix_cuda[index + ty * cols] = temp[ty + 1][tx + 1];
}

// hotspot
#define HB 16
__global__ void calculate_temp(int iteration, float *power, float *temp_src, float *temp_dst, int grid_cols, int grid_rows, int border_cols, int border_rows,
                               float Cap, float Rx, float Ry, float Rz, float step) {
  __shared__ float temp_on_cuda[HB][HB];
  __shared__ float power_on_cuda[HB][HB];
  __shared__ float temp_t[HB][HB];
  float amb_temp = 80.0;
  float step_div_Cap = step / Cap, Rx_1 = 1 / Rx, Ry_1 = 1 / Ry, Rz_1 = 1 / Rz;
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int small_block_rows = HB - iteration * 2;
  int small_block_cols = HB - iteration * 2;
  int blkY = small_block_rows * by - border_rows;
  int blkX = small_block_cols * bx - border_cols;
  int blkYmax = blkY + HB - 1;
  int blkXmax = blkX + HB - 1;
  int yidx = blkY + ty;
  int xidx = blkX + tx;
  int loadYidx = yidx, loadXidx = xidx;
  int index = grid_cols * loadYidx + loadXidx;
  if (IN_RANGE(loadYidx, 0, grid_rows - 1) && IN_RANGE(loadXidx, 0, grid_cols - 1)) {
    temp_on_cuda[ty][tx] = temp_src[index];
    power_on_cuda[ty][tx] = power[index];
  }
  __syncthreads();
  int validYmin = (blkY < 0) ? -blkY : 0;
  int validYmax = (blkYmax > grid_rows - 1) ? HB - 1 - (blkYmax - grid_rows + 1) : HB - 1;
  int validXmin = (blkX < 0) ? -blkX : 0;
  int validXmax = (blkXmax > grid_cols - 1) ? HB - 1 - (blkXmax - grid_cols + 1) : HB - 1;
  int N = ty - 1, S = ty + 1, W = tx - 1, E = tx + 1;
  N = (N < validYmin) ? validYmin : N;
  S = (S > validYmax) ? validYmax : S;
  W = (W < validXmin) ? validXmin : W;
  E = (E > validXmax) ? validXmax : E;
  bool computed;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, HB - i - 2) && IN_RANGE(ty, i + 1, HB - i - 2) && IN_RANGE(tx, validXmin, validXmax) && IN_RANGE(ty, validYmin, validYmax)) {
      computed = true;
      temp_t[ty][tx] = temp_on_cuda[ty][tx] +
                       step_div_Cap * (power_on_cuda[ty][tx] + (temp_on_cuda[S][tx] + temp_on_cuda[N][tx] - 2.0f * temp_on_cuda[ty][tx]) * Ry_1 +
                                       (temp_on_cuda[ty][E] + temp_on_cuda[ty][W] - 2.0f * temp_on_cuda[ty][tx]) * Rx_1 + (amb_temp - temp_on_cuda[ty][tx]) * Rz_1);
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) temp_on_cuda[ty][tx] = temp_t[ty][tx];
    __syncthreads();
  }
  if (computed) temp_dst[index] = temp_t[ty][tx];
}

// game of life, several generations per launch, toroidal
#define GW 32
#define GH 16
#define GENS 3
__global__ void lifeMultiStep(const unsigned char *in, unsigned char *out, int W, int H) {
  __shared__ unsigned char cell[2][GH][GW];
  const int x = blockIdx.x * (GW - 2 * GENS) + threadIdx.x - GENS;
  const int y = blockIdx.y * (GH - 2 * GENS) + threadIdx.y - GENS;
  const int wx = (x + W) % W, wy = (y + H) % H;
  cell[0][threadIdx.y][threadIdx.x] = in[wy * W + wx] & 1;
  cell[1][threadIdx.y][threadIdx.x] = 0;
  __syncthreads();
  int cur = 0;
  for (int g = 1; g <= GENS; ++g) {
    if (threadIdx.x >= g && threadIdx.x < GW - g && threadIdx.y >= g && threadIdx.y < GH - g) {
      int n = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (dx || dy) n += cell[cur][threadIdx.y + dy][threadIdx.x + dx];
      cell[cur ^ 1][threadIdx.y][threadIdx.x] = (n == 3 || (n == 2 && cell[cur][threadIdx.y][threadIdx.x]));
    }
    __syncthreads();
    cur ^= 1;
  }
  if (threadIdx.x >= GENS && threadIdx.x < GW - GENS && threadIdx.y >= GENS && threadIdx.y < GH - GENS && x < W && y < H)
    out[y * W + x] = cell[cur][threadIdx.y][threadIdx.x];
}

// LCS per pair: one block, anti-diagonals in three rolling shared rows
#define MAXLEN 128
__global__ void lcs_antidiag(const char *a, const char *b, const int *lenA, const int *lenB, int *score, int pairs) {
  __shared__ char sa[MAXLEN], sb[MAXLEN];
  __shared__ int diag[3][MAXLEN + 1];
  int p = blockIdx.x;
  int la = lenA[p], lb = lenB[p];
  int i = threadIdx.x;
  sa[i] = i < la ? a[p * MAXLEN + i] : 0;
  sb[i] = i < lb ? b[p * MAXLEN + i] : 0;
  for (int r = 0; r < 3; r++) {
    diag[r][i] = 0;
    if (i == 0) diag[r][MAXLEN] = 0;
  }
  __syncthreads();
  for (int d = 0; d < la + lb - 1; d++) {
    int *cur = diag[d % 3], *p1 = diag[(d + 2) % 3], *p2 = diag[(d + 1) % 3];
    int j = d - i;
    if (i < la && j >= 0 && j < lb) {
      int best;
      if (sa[i] == sb[j]) best = (j > 0 ? p2[i] : 0) + 1;
      else best = max(p1[i], j > 0 ? p1[i + 1] : 0);
      cur[i + 1] = best;
    }
    __syncthreads();
  }
  if (i == 0) score[p] = diag[(la + lb - 2) % 3][la];
}

int main() {
  {
    int cols = 100000, rows = 60, pyr = 8;
    int *wall = mk<int>((size_t)cols * rows), *r[2] = {mk<int>(cols), mk<int>(cols)};
    int sb = BLOCK_SIZE - pyr * HALO * 2;
    int blocks = cols / sb + ((cols % sb == 0) ? 0 : 1);
    int src = 1, dst = 0;
    for (int t = 0; t < rows - 1; t += pyr) {
      int tmp = src; src = dst; dst = tmp;
      dynproc_kernel<<<blocks, BLOCK_SIZE>>>(MIN(pyr, rows - t - 1), wall + cols, r[src], r[dst], cols, rows, t, pyr * HALO);
    }
    show("dynproc_kernel", r[dst], cols * 4);
  }
  {
    int n = 1024, cols = n + 1;
    int *ref = mk<int>(cols * cols), *mat = mk<int>(cols * cols);
    int bw = n / NW;
    for (int i = 1; i <= bw; i++) needle_cuda_shared_1<<<i, NW>>>(ref, mat, cols, 10, i, bw);
    show("needle_cuda_shared_1", mat, (size_t)cols * cols * 4);
  }
  {
    int rows = 1000, cols = 1000, pyr = 2;
    float *pw = mk<float>(rows * cols), *t[2] = {mk<float>(rows * cols), mk<float>(rows * cols)};
    int sb = HB - pyr * 2;
    dim3 g((cols + sb - 1) / sb, (rows + sb - 1) / sb);
    for (int k = 0; k < 4; k++) calculate_temp<<<g, dim3(HB, HB)>>>(pyr, pw, t[k & 1], t[1 - (k & 1)], cols, rows, pyr, pyr, 0.5f, 10.f, 12.f, 80.f, 0.01f);
    show("calculate_temp", t[0], rows * cols * 4);
  }
  {
    int W = 2000, H = 1500;
    unsigned char *a = mk<unsigned char>(W * H), *b = mk<unsigned char>(W * H);
    int sx = GW - 2 * GENS, sy = GH - 2 * GENS;
    lifeMultiStep<<<dim3((W + sx - 1) / sx, (H + sy - 1) / sy), dim3(GW, GH)>>>(a, b, W, H);
    show("lifeMultiStep", b, W * H);
  }
  {
    int pairs = 3000;
    char *a = mk<char>(pairs * MAXLEN), *b = mk<char>(pairs * MAXLEN + 50);
    int *hl = (int *)malloc(pairs * 4), *la, *lb, *sc = mk<int>(pairs);
    cudaMalloc(&la, pairs * 4); cudaMalloc(&lb, pairs * 4);
    for (int i = 0; i < pairs; i++) hl[i] = 60 + i % 69;
    cudaMemcpy(la, hl, pairs * 4, cudaMemcpyHostToDevice);
    for (int i = 0; i < pairs; i++) hl[i] = 128 - i % 37;
    cudaMemcpy(lb, hl, pairs * 4, cudaMemcpyHostToDevice);
    lcs_antidiag<<<pairs, MAXLEN>>>(a, b + 50, la, lb, sc, pairs);
    show("lcs_antidiag", sc, pairs * 4);
  }
}
