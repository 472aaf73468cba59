// grid codes in the manner of heterogeneous benchmark suites
#include "shown.h"

#define BLOCK_SIZE 16
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

__global__ void calculate_temp(int iteration, const float *power, const float *temp_src, float *temp_dst,
                               int grid_cols, int grid_rows, int border_cols, int border_rows,
                               float Cap, float Rx, float Ry, float Rz, float step) {
  __shared__ float temp_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float power_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE];

  const float amb_temp = 80.0f;
  int bx = blockIdx.x, by = blockIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  float step_div_Cap = step / Cap;
  float Rx_1 = 1 / Rx, Ry_1 = 1 / Ry, Rz_1 = 1 / Rz;

  int small_block_rows = BLOCK_SIZE - iteration * 2;
  int small_block_cols = BLOCK_SIZE - iteration * 2;
  int blkY = small_block_rows * by - border_rows;
  int blkX = small_block_cols * bx - border_cols;
  int blkYmax = blkY + BLOCK_SIZE - 1;
  int blkXmax = blkX + BLOCK_SIZE - 1;
  int yidx = blkY + ty;
  int xidx = blkX + tx;
  int index = grid_cols * yidx + xidx;

  if (IN_RANGE(yidx, 0, grid_rows - 1) && IN_RANGE(xidx, 0, grid_cols - 1)) {
    temp_on_cuda[ty][tx] = temp_src[index];
    power_on_cuda[ty][tx] = power[index];
  }
  __syncthreads();

  int validYmin = (blkY < 0) ? -blkY : 0;
  int validYmax = (blkYmax > grid_rows - 1) ? BLOCK_SIZE - 1 - (blkYmax - grid_rows + 1) : BLOCK_SIZE - 1;
  int validXmin = (blkX < 0) ? -blkX : 0;
  int validXmax = (blkXmax > grid_cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - grid_cols + 1) : BLOCK_SIZE - 1;

  int N = ty - 1, S = ty + 1, W = tx - 1, E = tx + 1;
  N = (N < validYmin) ? validYmin : N;
  S = (S > validYmax) ? validYmax : S;
  W = (W < validXmin) ? validXmin : W;
  E = (E > validXmax) ? validXmax : E;

  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2) &&
        IN_RANGE(tx, validXmin, validXmax) && IN_RANGE(ty, validYmin, validYmax)) {
      computed = true;
      temp_t[ty][tx] = temp_on_cuda[ty][tx] +
          step_div_Cap * (power_on_cuda[ty][tx] +
                          (temp_on_cuda[S][tx] + temp_on_cuda[N][tx] - 2.0f * temp_on_cuda[ty][tx]) * Ry_1 +
                          (temp_on_cuda[ty][E] + temp_on_cuda[ty][W] - 2.0f * temp_on_cuda[ty][tx]) * Rx_1 +
                          (amb_temp - temp_on_cuda[ty][tx]) * Rz_1);
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) temp_on_cuda[ty][tx] = temp_t[ty][tx];
    __syncthreads();
  }
  if (computed) temp_dst[index] = temp_t[ty][tx];
}

#define PF_BLOCK 256
#define HALO 1
__global__ void dynproc_kernel(int iteration, const int *gpuWall, const int *gpuSrc, int *gpuResults, int cols,
                               int rows, int startStep, int border) {
  __shared__ int prev[PF_BLOCK];
  __shared__ int result[PF_BLOCK];
  int bx = blockIdx.x, tx = threadIdx.x;
  int small_block_cols = PF_BLOCK - iteration * HALO * 2;
  int blkX = small_block_cols * bx - border;
  int blkXmax = blkX + PF_BLOCK - 1;
  int xidx = blkX + tx;
  int validXmin = (blkX < 0) ? -blkX : 0;
  int validXmax = (blkXmax > cols - 1) ? PF_BLOCK - 1 - (blkXmax - cols + 1) : PF_BLOCK - 1;
  int W = tx - 1, E = tx + 1;
  W = (W < validXmin) ? validXmin : W;
  E = (E > validXmax) ? validXmax : E;
  bool isValid = IN_RANGE(tx, validXmin, validXmax);
  if (IN_RANGE(xidx, 0, cols - 1)) prev[tx] = gpuSrc[xidx];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, PF_BLOCK - i - 2) && isValid) {
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

__device__ __host__ int maximum(int a, int b, int c) {
  int k;
  if (a <= b) k = b; else k = a;
  if (k <= c) return c; else return k;
}

__global__ void needle_shared(const int *referrence, int *matrix_cuda, int cols, int penalty, int i, int off) {
  int bx = blockIdx.x + off;
  int tx = threadIdx.x;
  int b_index_x = bx;
  int b_index_y = i - 1 - bx;
  int index = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + tx + (cols + 1);
  int index_n = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + tx + 1;
  int index_w = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + cols;
  int index_nw = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x;
  __shared__ int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
  __shared__ int ref[BLOCK_SIZE][BLOCK_SIZE];
  if (tx == 0) temp[tx][0] = matrix_cuda[index_nw];
  for (int ty = 0; ty < BLOCK_SIZE; ty++) ref[ty][tx] = referrence[index + cols * ty];
  __syncthreads();
  temp[tx + 1][0] = matrix_cuda[index_w + cols * tx];
  __syncthreads();
  temp[0][tx + 1] = matrix_cuda[index_n];
  __syncthreads();
  for (int m = 0; m < BLOCK_SIZE; m++) {
    if (tx <= m) {
      int t_index_x = tx + 1;
      int t_index_y = m - tx + 1;
      temp[t_index_y][t_index_x] = maximum(temp[t_index_y - 1][t_index_x - 1] + ref[t_index_y - 1][t_index_x - 1],
                                           temp[t_index_y][t_index_x - 1] - penalty,
                                           temp[t_index_y - 1][t_index_x] - penalty);
    }
    __syncthreads();
  }
  for (int m = BLOCK_SIZE - 2; m >= 0; m--) {
    if (tx <= m) {
      int t_index_x = tx + BLOCK_SIZE - m;
      int t_index_y = BLOCK_SIZE - tx;
      temp[t_index_y][t_index_x] = maximum(temp[t_index_y - 1][t_index_x - 1] + ref[t_index_y - 1][t_index_x - 1],
                                           temp[t_index_y][t_index_x - 1] - penalty,
                                           temp[t_index_y - 1][t_index_x] - penalty);
    }
    __syncthreads();
  }
  for (int ty = 0; ty < BLOCK_SIZE; ty++) matrix_cuda[index + ty * cols] = temp[ty + 1][tx + 1];
}

#define WIDTH 16
#define HEIGHT 16
__global__ void bpnn_layerforward(const float *input_cuda, float *input_hidden_cuda, float *hidden_partial_sum,
                                  int in, int hid) {
  int by = blockIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
  int index_in = HEIGHT * by + ty + 1;
  __shared__ float input_node[HEIGHT];
  __shared__ float weight_matrix[HEIGHT][WIDTH];
  if (tx == 0) input_node[ty] = input_cuda[index_in];
  __syncthreads();
  weight_matrix[ty][tx] = input_hidden_cuda[index];
  __syncthreads();
  weight_matrix[ty][tx] = weight_matrix[ty][tx] * input_node[ty];
  __syncthreads();
  for (int i = 1; i <= 4; i++) {
    int power_two = 1 << i;
    if (ty % power_two == 0) weight_matrix[ty][tx] = weight_matrix[ty][tx] + weight_matrix[ty + power_two / 2][tx];
    __syncthreads();
  }
  input_hidden_cuda[index] = weight_matrix[ty][tx];
  __syncthreads();
  if (tx == 0) hidden_partial_sum[by * hid + ty] = weight_matrix[tx][ty];
}

__global__ void srad_cuda_1(float *E_C, float *W_C, float *N_C, float *S_C, const float *J_cuda, float *C_cuda,
                            int cols, int rows, float q0sqr) {
  int bx = blockIdx.x, by = blockIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  int index = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty + tx;
  int index_n = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + tx - cols;
  int index_s = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * BLOCK_SIZE + tx;
  int index_w = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty - 1;
  int index_e = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty + BLOCK_SIZE;
  float n, w, e, s, jc, g2, l, num, den, qsqr, c;

  __shared__ float temp[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float temp_result[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float north[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float south[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float east[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float west[BLOCK_SIZE][BLOCK_SIZE];

  if (by == 0) north[ty][tx] = J_cuda[BLOCK_SIZE * bx + tx];
  else north[ty][tx] = J_cuda[index_n];
  if (by == gridDim.y - 1) south[ty][tx] = J_cuda[cols * BLOCK_SIZE * (gridDim.y - 1) + BLOCK_SIZE * bx + cols * (BLOCK_SIZE - 1) + tx];
  else south[ty][tx] = J_cuda[index_s];
  __syncthreads();
  if (bx == 0) west[ty][tx] = J_cuda[cols * BLOCK_SIZE * by + cols * ty];
  else west[ty][tx] = J_cuda[index_w];
  if (bx == gridDim.x - 1) east[ty][tx] = J_cuda[cols * BLOCK_SIZE * by + BLOCK_SIZE * (gridDim.x - 1) + cols * ty + BLOCK_SIZE - 1];
  else east[ty][tx] = J_cuda[index_e];
  __syncthreads();
  temp[ty][tx] = J_cuda[index];
  __syncthreads();

  jc = temp[ty][tx] + 1.0f;
  n = (ty == 0 ? north[ty][tx] : temp[ty - 1][tx]) - jc;
  s = (ty == BLOCK_SIZE - 1 ? south[ty][tx] : temp[ty + 1][tx]) - jc;
  w = (tx == 0 ? west[ty][tx] : temp[ty][tx - 1]) - jc;
  e = (tx == BLOCK_SIZE - 1 ? east[ty][tx] : temp[ty][tx + 1]) - jc;

  g2 = (n * n + s * s + w * w + e * e) / (jc * jc);
  l = (n + s + w + e) / jc;
  num = (0.5f * g2) - ((1.0f / 16.0f) * (l * l));
  den = 1 + (.25f * l);
  qsqr = num / (den * den + 1e-3f);
  den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
  c = 1.0f / (1.0f + fabsf(den));
  temp_result[ty][tx] = c > 1 ? 1.0f : c;
  __syncthreads();
  C_cuda[index] = temp_result[ty][tx];
  E_C[index] = e;
  W_C[index] = w;
  S_C[index] = s;
  N_C[index] = n;
}

__global__ void lud_internal(float *m, int matrix_dim, int offset) {
  __shared__ float peri_row[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float peri_col[BLOCK_SIZE][BLOCK_SIZE];
  int global_row_id = offset + (blockIdx.y + 1) * BLOCK_SIZE;
  int global_col_id = offset + (blockIdx.x + 1) * BLOCK_SIZE;
  peri_row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x];
  peri_col[threadIdx.y][threadIdx.x] = m[(global_row_id + threadIdx.y) * matrix_dim + offset + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < BLOCK_SIZE; i++) sum += peri_col[threadIdx.y][i] * peri_row[i][threadIdx.x];
  m[(global_row_id + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x] -= sum;
}

__global__ void lud_diagonal_batch(float *m, int matrix_dim) {
  __shared__ float shadow[BLOCK_SIZE][BLOCK_SIZE];
  int offset = blockIdx.x * BLOCK_SIZE;
  int array_offset = offset * matrix_dim + offset;
  for (int i = 0; i < BLOCK_SIZE; i++) {
    shadow[i][threadIdx.x] = m[array_offset + threadIdx.x] + (i == threadIdx.x ? 200.f : 0.f);
    array_offset += matrix_dim;
  }
  __syncthreads();
  for (int i = 0; i < BLOCK_SIZE - 1; i++) {
    if (threadIdx.x > i) {
      for (int j = 0; j < i; j++) shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
      shadow[threadIdx.x][i] /= shadow[i][i];
    }
    __syncthreads();
    if (threadIdx.x > i) {
      for (int j = 0; j < i + 1; j++) shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
    }
    __syncthreads();
  }
  array_offset = (offset + 1) * matrix_dim + offset;
  for (int i = 1; i < BLOCK_SIZE; i++) {
    m[array_offset + threadIdx.x] = shadow[i][threadIdx.x];
    array_offset += matrix_dim;
  }
}

int main() {
  {
    const int n = 2048, pyramid = 2;
    float *p = mk<float>((size_t)n * n), *t0 = mk<float>((size_t)n * n), *t1 = mk<float>((size_t)n * n);
    int small = BLOCK_SIZE - pyramid * 2;
    dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
    dim3 dimGrid((n + small - 1) / small, (n + small - 1) / small);
    for (int t = 0; t < 4; ++t) {
      calculate_temp<<<dimGrid, dimBlock>>>(pyramid, p, t & 1 ? t1 : t0, t & 1 ? t0 : t1, n, n, pyramid, pyramid, 0.5f, 10.f, 12.f, 5.f, 0.1f);
    }
    show("calculate_temp", t0, sizeof(float) * n * n);
  }
  {
    const int cols = 1 << 20, rows = 21, pyramid_height = 20;
    int *wall = mk<int>((size_t)cols * (rows - 1)), *src = mk<int>(cols), *res = mk<int>(cols);
    int smallBlockCol = PF_BLOCK - pyramid_height * HALO * 2;
    int blockCols = cols / smallBlockCol + ((cols % smallBlockCol == 0) ? 0 : 1);
    dim3 dimBlock(PF_BLOCK), dimGrid(blockCols);
    dynproc_kernel<<<dimGrid, dimBlock>>>(pyramid_height, wall, src, res, cols, rows, 0, pyramid_height * HALO);
    show("dynproc_kernel", res, sizeof(int) * cols);
  }
  {
    const int n = 2048, cols = n + 1, bw = n / BLOCK_SIZE;
    int *ref = mk<int>((size_t)cols * cols), *mat = mk<int>((size_t)cols * cols);
    for (int i = 1; i <= bw; i++) needle_shared<<<i, BLOCK_SIZE>>>(ref, mat, cols, 10, i, 0);
    for (int i = bw - 1; i >= 1; i--) needle_shared<<<i, BLOCK_SIZE>>>(ref, mat, cols, 10, 2 * bw - i, bw - i);
    show("needle_shared", mat, sizeof(int) * cols * cols);
  }
  {
    const int in = 1 << 19, hid = 16, blocks = in / HEIGHT;
    float *x = mk<float>(in + 1), *w = mk<float>((size_t)(in + 1) * (hid + 1)), *ps = mk<float>((size_t)blocks * hid);
    dim3 grid(1, blocks), threads(16, 16);
    bpnn_layerforward<<<grid, threads>>>(x, w, ps, in, hid);
    show("bpnn_layerforward.w", w, sizeof(float) * (in + 1) * (hid + 1));
    show("bpnn_layerforward.ps", ps, sizeof(float) * blocks * hid);
  }
  {
    const int rows = 2048, cols = 2048;
    size_t b = (size_t)rows * cols;
    float *J = mk<float>(b), *C = mk<float>(b), *e = mk<float>(b), *w = mk<float>(b), *nn = mk<float>(b), *s = mk<float>(b);
    dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE), dimGrid(cols / BLOCK_SIZE, rows / BLOCK_SIZE);
    srad_cuda_1<<<dimGrid, dimBlock>>>(e, w, nn, s, J, C, cols, rows, 0.53f);
    show("srad_cuda_1.C", C, b * 4);
    show("srad_cuda_1.E", e, b * 4);
    show("srad_cuda_1.W", w, b * 4);
    show("srad_cuda_1.N", nn, b * 4);
    show("srad_cuda_1.S", s, b * 4);
  }
  {
    const int n = 2048;
    float *m = mk<float>((size_t)n * n);
    dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE), dimGrid(n / BLOCK_SIZE - 1, n / BLOCK_SIZE - 1);
    lud_internal<<<dimGrid, dimBlock>>>(m, n, 0);
    show("lud_internal", m, sizeof(float) * n * n);
    float *m2 = mk<float>((size_t)n * n);
    lud_diagonal_batch<<<n / BLOCK_SIZE, BLOCK_SIZE>>>(m2, n);
    show("lud_diagonal_batch", m2, sizeof(float) * n * n);
  }
  return 0;
}
