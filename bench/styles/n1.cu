// 2D structured grid solvers with shared memory tiles
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CHECK(call)                                                        \
  {                                                                        \
    const cudaError_t error = call;                                        \
    if (error != cudaSuccess) {                                            \
      printf("Error: %s:%d, %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(1);                                                             \
    }                                                                      \
  }

#define TILE 16
// ---- Jacobi for Poisson, double, 32x8 blocks, cooperative halo loop ----
#define BDIMX 32
#define BDIMY 8
__global__ void jacobi_smem(double *xnew, const double *x, const double *rhs, int n, double h2) {
  __shared__ double tile[(BDIMX + 2) * (BDIMY + 2)];
  const int tid = threadIdx.y * BDIMX + threadIdx.x;
  const int x0 = blockIdx.x * BDIMX - 1;
  const int y0 = blockIdx.y * BDIMY - 1;
  for (int k = tid; k < (BDIMX + 2) * (BDIMY + 2); k += BDIMX * BDIMY) {
    int lx = k % (BDIMX + 2), ly = k / (BDIMX + 2);
    int gx = x0 + lx, gy = y0 + ly;
    double v = 0.0;
    if (gx >= 0 && gx < n && gy >= 0 && gy < n) v = x[gy * n + gx];
    tile[k] = v;
  }
  __syncthreads();
  int gx = blockIdx.x * BDIMX + threadIdx.x, gy = blockIdx.y * BDIMY + threadIdx.y;
  if (gx >= n || gy >= n) return;
  int c = (threadIdx.y + 1) * (BDIMX + 2) + threadIdx.x + 1;
  xnew[gy * n + gx] = 0.25 * (tile[c - 1] + tile[c + 1] + tile[c - BDIMX - 2] + tile[c + BDIMX + 2] + h2 * rhs[gy * n + gx]);
}

// ---- acoustic wave, 8th order in space, grid with ghost ring of 4 ------
constexpr int R = 4;
constexpr int WX = 32, WY = 16;
__constant__ float wcoef[R + 1];
__global__ void wave2d_order8(const float *cur, float *prev, const float *vel2dt2, int ld) {
  __shared__ float sh[WY + 2 * R][WX + 2 * R];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int ix = blockIdx.x * WX + tx + R;
  const int iy = blockIdx.y * WY + ty + R;
  const size_t idx = (size_t)iy * ld + ix;
  sh[ty + R][tx + R] = cur[idx];
  if (ty < R) {
    sh[ty][tx + R] = cur[idx - (size_t)R * ld];
    sh[ty + WY + R][tx + R] = cur[idx + (size_t)WY * ld];
  }
  if (tx < R) {
    sh[ty + R][tx] = cur[idx - R];
    sh[ty + R][tx + WX + R] = cur[idx + WX];
  }
  __syncthreads();
  float lap = 2.f * wcoef[0] * sh[ty + R][tx + R];
#pragma unroll
  for (int k = 1; k <= R; k++)
    lap += wcoef[k] * (sh[ty + R - k][tx + R] + sh[ty + R + k][tx + R] + sh[ty + R][tx + R - k] + sh[ty + R][tx + R + k]);
  prev[idx] = 2.f * sh[ty + R][tx + R] - prev[idx] + vel2dt2[idx] * lap;
}

// ---- thermal simulation with pyramid blocking --------------------------
#define BLOCK_SIZE 16
#define STEPS 2
#define IN_RANGE(x, lo, hi) ((x) >= (lo) && (x) <= (hi))
__global__ void hotspot_pyramid(const float *power, const float *temp_src, float *temp_dst, int cols, int rows, float Cap, float Rx, float Ry,
                                float Rz, float step) {
  __shared__ float temp_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float power_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE];
  const float amb = 80.0f;
  const float step_div_Cap = step / Cap, Rx_1 = 1 / Rx, Ry_1 = 1 / Ry, Rz_1 = 1 / Rz;
  int tx = threadIdx.x, ty = threadIdx.y;
  const int small = BLOCK_SIZE - 2 * STEPS;
  int blkY = small * blockIdx.y - STEPS, blkX = small * blockIdx.x - STEPS;
  int yidx = blkY + ty, xidx = blkX + tx;
  int index = cols * yidx + xidx;
  bool inside = IN_RANGE(yidx, 0, rows - 1) && IN_RANGE(xidx, 0, cols - 1);
  if (inside) {
    temp_on_cuda[ty][tx] = temp_src[index];
    power_on_cuda[ty][tx] = power[index];
  }
  __syncthreads();
  int validYmin = blkY < 0 ? -blkY : 0, validXmin = blkX < 0 ? -blkX : 0;
  int validYmax = blkY + BLOCK_SIZE - 1 > rows - 1 ? rows - 1 - blkY : BLOCK_SIZE - 1;
  int validXmax = blkX + BLOCK_SIZE - 1 > cols - 1 ? cols - 1 - blkX : BLOCK_SIZE - 1;
  int N = max(ty - 1, validYmin), S = min(ty + 1, validYmax), W = max(tx - 1, validXmin), E = min(tx + 1, validXmax);
  bool computed = false;
  for (int i = 0; i < STEPS; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(tx, validXmin, validXmax) &&
        IN_RANGE(ty, validYmin, validYmax)) {
      computed = true;
      temp_t[ty][tx] = temp_on_cuda[ty][tx] +
                       step_div_Cap * (power_on_cuda[ty][tx] + (temp_on_cuda[S][tx] + temp_on_cuda[N][tx] - 2.0f * temp_on_cuda[ty][tx]) * Ry_1 +
                                       (temp_on_cuda[ty][E] + temp_on_cuda[ty][W] - 2.0f * temp_on_cuda[ty][tx]) * Rx_1 +
                                       (amb - temp_on_cuda[ty][tx]) * Rz_1);
    }
    __syncthreads();
    if (i == STEPS - 1) break;
    if (computed) temp_on_cuda[ty][tx] = temp_t[ty][tx];
    __syncthreads();
  }
  if (computed) temp_dst[index] = temp_t[ty][tx];
}

template <typename T> T *newArray(size_t n, int mod, double scale) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; i++) h[i] = (T)((i * 2654435761u >> 7) % mod * scale);
  CHECK(cudaMalloc(&d, n * sizeof(T)));
  CHECK(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}

int main() {
  int nx = 3001, ny = 2999;
  float *u = newArray<float>((size_t)nx * ny, 97, 0.1), *v = newArray<float>((size_t)nx * ny, 1, 0);
  dim3 block(TILE, TILE), grid((nx + TILE - 1) / TILE, (ny + TILE - 1) / TILE);
  CHECK(cudaGetLastError());

  int n = 1000;
  double *x = newArray<double>(n * n, 31, 0.5), *xn = newArray<double>(n * n, 1, 0), *rhs = newArray<double>(n * n, 13, 1.0);
  jacobi_smem<<<dim3((n + BDIMX - 1) / BDIMX, (n + BDIMY - 1) / BDIMY), dim3(BDIMX, BDIMY)>>>(xn, x, rhs, n, 1e-3);
  CHECK(cudaGetLastError());

  const int wnx = 4096, wny = 2048, ld = wnx + 2 * R + 5;
  size_t wsz = (size_t)ld * (wny + 2 * R);
  float hc[R + 1] = {-205.f / 72.f, 8.f / 5.f, -1.f / 5.f, 8.f / 315.f, -1.f / 560.f};
  CHECK(cudaMemcpyToSymbol(wcoef, hc, sizeof(hc)));
  float *cur = newArray<float>(wsz, 50, 0.01), *prv = newArray<float>(wsz, 50, 0.01), *vel = newArray<float>(wsz, 5, 0.03);
  wave2d_order8<<<dim3(wnx / WX, wny / WY), dim3(WX, WY)>>>(cur, prv, vel, ld);
  CHECK(cudaGetLastError());

  int hs = 1024;
  float *pw = newArray<float>(hs * hs, 11, 0.01), *t0 = newArray<float>(hs * hs, 40, 1.0), *t1 = newArray<float>(hs * hs, 1, 0);
  int small = BLOCK_SIZE - 2 * STEPS, gb = (hs + small - 1) / small;
  hotspot_pyramid<<<dim3(gb, gb), dim3(BLOCK_SIZE, BLOCK_SIZE)>>>(pw, t0, t1, hs, hs, 0.5f, 1.1f, 1.3f, 4.7f, 0.0625f);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaDeviceReset());
  return 0;
}
