// Rodinia-like: several time steps of a stencil in a block
#include "h.h"
#include <cstdint>

#define BLOCK_SIZE 16
#define HALO 1
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

__global__ void calculate_temp_pyr(int iteration, const float *power, const float *temp_src, float *temp_dst, int grid_cols,
                                   int grid_rows, float step_div_Cap, float Rx_1, float Ry_1, float Rz_1) {
  __shared__ float temp_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float power_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE];
  const float amb_temp = 80.0f;
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int small = BLOCK_SIZE - iteration * 2;
  int blkY = small * by - iteration, blkX = small * bx - iteration;
  int yidx = blkY + ty, xidx = blkX + tx;
  int index = grid_cols * yidx + xidx;
  bool inside = IN_RANGE(yidx, 0, grid_rows - 1) && IN_RANGE(xidx, 0, grid_cols - 1);
  temp_on_cuda[ty][tx] = inside ? temp_src[index] : 0.f;
  power_on_cuda[ty][tx] = inside ? power[index] : 0.f;
  temp_t[ty][tx] = 0.f;
  __syncthreads();
  int validYmin = blkY < 0 ? -blkY : 0, validXmin = blkX < 0 ? -blkX : 0;
  int validYmax = blkY + BLOCK_SIZE - 1 > grid_rows - 1 ? grid_rows - 1 - blkY : BLOCK_SIZE - 1;
  int validXmax = blkX + BLOCK_SIZE - 1 > grid_cols - 1 ? grid_cols - 1 - blkX : BLOCK_SIZE - 1;
  int N = ty - 1 < validYmin ? validYmin : ty - 1;
  int S = ty + 1 > validYmax ? validYmax : ty + 1;
  int W = tx - 1 < validXmin ? validXmin : tx - 1;
  int E = tx + 1 > validXmax ? validXmax : tx + 1;
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

__global__ void dynproc_rows(int iteration, const int *gpuWall, const int *gpuSrc, int *gpuResults, int cols, int startStep) {
  __shared__ int prev[256];
  __shared__ int result[256];
  int bx = blockIdx.x, tx = threadIdx.x;
  int small_block_cols = 256 - iteration * HALO * 2;
  int blkX = small_block_cols * bx - iteration * HALO;
  int blkXmax = blkX + 256 - 1;
  int xidx = blkX + tx;
  int validXmin = (blkX < 0) ? -blkX : 0;
  int validXmax = (blkXmax > cols - 1) ? 256 - 1 - (blkXmax - cols + 1) : 256 - 1;
  int W = tx - 1, E = tx + 1;
  W = (W < validXmin) ? validXmin : W;
  E = (E > validXmax) ? validXmax : E;
  bool isValid = IN_RANGE(tx, validXmin, validXmax);
  prev[tx] = IN_RANGE(xidx, 0, cols - 1) ? gpuSrc[xidx] : 0;
  __syncthreads();
  bool computed;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, 256 - i - 2) && isValid) {
      computed = true;
      int left = prev[W], up = prev[tx], right = prev[E];
      int shortest = MIN(left, up);
      shortest = MIN(shortest, right);
      result[tx] = shortest + gpuWall[cols * (startStep + i) + xidx];
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) gpuResults[xidx] = result[tx];
}

// game of life on a torus, STEPS generations a launch, tile with a frame of STEPS cells
template <int STEPS>
__global__ void life_steps(const uint8_t *in, uint8_t *out, int w, int h) {
  constexpr int T = 32;
  __shared__ uint8_t a[T][T];
  const int x = ((int)(blockIdx.x * (T - 2 * STEPS) + threadIdx.x) - STEPS + w) % w;
  const int y = ((int)(blockIdx.y * (T - 2 * STEPS) + threadIdx.y) - STEPS + h) % h;
  const int tx = threadIdx.x, ty = threadIdx.y;
  a[ty][tx] = in[y * w + x] & 1;
  __syncthreads();
#pragma unroll
  for (int s = 1; s <= STEPS; ++s) {
    uint8_t v = 0;
    const bool act = tx >= s && tx < T - s && ty >= s && ty < T - s;
    if (act) {
      int n = a[ty - 1][tx - 1] + a[ty - 1][tx] + a[ty - 1][tx + 1] + a[ty][tx - 1] + a[ty][tx + 1] + a[ty + 1][tx - 1] +
              a[ty + 1][tx] + a[ty + 1][tx + 1];
      v = n == 3 || (n == 2 && a[ty][tx]);
    }
    __syncthreads();
    if (act) a[ty][tx] = v;
    __syncthreads();
  }
  if (tx >= STEPS && tx < T - STEPS && ty >= STEPS && ty < T - STEPS) out[y * w + x] = a[ty][tx];
}

static void res(const char *n, const void *d, size_t b) {
  uint8_t *h = (uint8_t *)malloc(b);
  cudaMemcpy(h, d, b, cudaMemcpyDeviceToHost);
  uint64_t f = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < b; i++) f = (f ^ h[i]) * 0x100000001b3ull;
  printf("%s %016lx\n", n, f);
  free(h);
}

int main() {
  const int R = 1024, C = 1024, it = 2, sm = BLOCK_SIZE - it * 2;
  float *pw = mk<float>(R * C), *ts = mk<float>(R * C + 9), *td;
  cudaMalloc(&td, R * C * 4);
  calculate_temp_pyr<<<dim3((C + sm - 1) / sm, (R + sm - 1) / sm), dim3(BLOCK_SIZE, BLOCK_SIZE)>>>(it, pw, ts + 9, td, C, R,
                                                                                                0.3f, 0.1f, 0.1f, 0.0125f);
  const int cols = 100000, pyr = 20, sb = 256 - pyr * 2;
  int *wall = mk<int>(cols * (pyr + 1)), *src = mk<int>(cols), *dst;
  cudaMalloc(&dst, cols * 4);
  dynproc_rows<<<(cols + sb - 1) / sb, 256>>>(pyr, wall, src, dst, cols, 1);
  const int w = 24 * 90, h = 24 * 80;
  uint8_t *g = mk<uint8_t>(w * h), *o;
  cudaMalloc(&o, w * h);
  life_steps<4><<<dim3(90, 80), dim3(32, 32)>>>(g, o, w, h);
  cudaDeviceSynchronize();
  res("temp", td, R * C * 4);
  res("path", dst, cols * 4);
  res("life", o, w * h);
}
