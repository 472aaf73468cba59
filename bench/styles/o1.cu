// others
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CUDA_SAFE_CALL(call) { cudaError_t err = call; if (cudaSuccess != err) { fprintf(stderr, "Cuda error in file '%s' in line %i : %s.\n", __FILE__, __LINE__, cudaGetErrorString(err)); exit(EXIT_FAILURE); } }
// 1. pathfinder (Rodinia)
#define BLOCK_SIZE 256
#define HALO 1
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
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
// 2. hotspot-like with several steps a launch
#define HB 16
__global__ void hotspot_lite(int iteration, const float *power, const float *src, float *dst, int cols, int rows, float cc, float cx, float cy) {
  __shared__ float t0[HB][HB], pw[HB][HB], t1[HB][HB];
  int small = HB - iteration * 2;
  int x = small * blockIdx.x - iteration + threadIdx.x;
  int y = small * blockIdx.y - iteration + threadIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  bool in = x >= 0 && x < cols && y >= 0 && y < rows;
  if (in) { t0[ty][tx] = src[y * cols + x]; pw[ty][tx] = power[y * cols + x]; }
  __syncthreads();
  int N = y > 0 ? ty - 1 : ty, S = y < rows - 1 ? ty + 1 : ty, W = x > 0 ? tx - 1 : tx, E = x < cols - 1 ? tx + 1 : tx;
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (tx >= i + 1 && tx <= HB - i - 2 && ty >= i + 1 && ty <= HB - i - 2 && in) {
      computed = true;
      t1[ty][tx] = t0[ty][tx] + cc * (pw[ty][tx] + (t0[S][tx] + t0[N][tx] - 2.f * t0[ty][tx]) * cy + (t0[ty][E] + t0[ty][W] - 2.f * t0[ty][tx]) * cx);
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) t0[ty][tx] = t1[ty][tx];
    __syncthreads();
  }
  if (computed) dst[y * cols + x] = t1[ty][tx];
}
// 3. LBM D2Q9 streaming in x with shared (per row)
__global__ void lbmStreamX(const float *f1, const float *f3, float *g1, float *g3, int nx) {
  __shared__ float e[128], w[128];
  int x = blockIdx.x * 128 + threadIdx.x, k = blockIdx.y * nx + x;
  float a = f1[k], b = f3[k];
  if (threadIdx.x < 127) e[threadIdx.x + 1] = a; else e[0] = a;
  if (threadIdx.x > 0) w[threadIdx.x - 1] = b; else w[127] = b;
  __syncthreads();
  if (threadIdx.x > 0) g1[k] = e[threadIdx.x];
  else if (blockIdx.x * 128 + 128 < nx) g1[k + 128] = e[0];
  if (threadIdx.x < 127) g3[k] = w[threadIdx.x];
  else if (blockIdx.x > 0) g3[k - 128] = w[127];
}
// 4. game of life with toroidal wrap, bytes, dynamic block-size by variable
__global__ void life(const unsigned char *cur, unsigned char *nxt, int w, int h) {
  __shared__ unsigned char s[18][18];
  int x0 = blockIdx.x * blockDim.x, y0 = blockIdx.y * blockDim.y;
  for (int j = threadIdx.y; j < 18; j += blockDim.y)
    for (int i = threadIdx.x; i < 18; i += blockDim.x)
      s[j][i] = cur[((y0 + j - 1 + h) % h) * w + (x0 + i - 1 + w) % w];
  __syncthreads();
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  int n = s[ly - 1][lx - 1] + s[ly - 1][lx] + s[ly - 1][lx + 1] + s[ly][lx - 1] + s[ly][lx + 1] + s[ly + 1][lx - 1] + s[ly + 1][lx] + s[ly + 1][lx + 1];
  int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x < w && y < h) nxt[y * w + x] = (n == 3 || (n == 2 && s[ly][lx])) ? 1 : 0;
}
// 5. jacobi in place in shared, several sweeps on a block's own line
__global__ void jacobiBlock(float *u, const float *f, int sweeps) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = u[g];
  float rhs = f[g];
  __syncthreads();
  for (int k = 0; k < sweeps; ++k) {
    float l = t > 0 ? s[t - 1] : 0.f, r = t < 255 ? s[t + 1] : 0.f;
    __syncthreads();
    s[t] = 0.5f * (l + r + rhs);
    __syncthreads();
  }
  u[g] = s[t];
}
// 6. Needleman-Wunsch tile (Rodinia needle 1)
#define NWB 16
__global__ void nw_tile(const int *reference, int *matrix, int cols, int penalty, int diag) {
  int bx = blockIdx.x, by = diag - bx;
  int tx = threadIdx.x;
  int index = cols * NWB * by + NWB * bx + tx + cols + 1;
  int index_n = cols * NWB * by + NWB * bx + tx + 1;
  int index_w = cols * NWB * by + NWB * bx + cols;
  int index_nw = cols * NWB * by + NWB * bx;
  __shared__ int temp[NWB + 1][NWB + 1];
  __shared__ int ref[NWB][NWB];
  if (tx == 0) temp[tx][0] = matrix[index_nw];
  for (int ty = 0; ty < NWB; ty++) ref[ty][tx] = reference[index + cols * ty];
  __syncthreads();
  temp[tx + 1][0] = matrix[index_w + cols * tx];
  __syncthreads();
  temp[0][tx + 1] = matrix[index_n];
  __syncthreads();
  for (int m = 0; m < NWB; m++) {
    if (tx <= m) {
      int x = tx + 1, y = m - tx + 1;
      temp[y][x] = max(max(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty), temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int m = NWB - 2; m >= 0; m--) {
    if (tx <= m) {
      int x = tx + NWB - m, y = NWB - tx;
      temp[y][x] = max(max(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty), temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int ty = 0; ty < NWB; ty++) matrix[index + ty * cols] = temp[ty + 1][tx + 1];
}
// 7. 8x8 DCT, sample style, rows then columns through shared
__global__ void dct8x8(const float *in, float *out, int stride) {
  __shared__ float blk[8][8], tmp[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  int g = (blockIdx.y * 8 + y) * stride + blockIdx.x * 8 + x;
  blk[y][x] = in[g];
  __syncthreads();
  float s = 0.f;
  for (int i = 0; i < 8; i++) s += blk[y][i] * cosf((2 * i + 1) * x * 3.14159265f / 16.f);
  tmp[y][x] = s * (x == 0 ? 0.35355339f : 0.5f);
  __syncthreads();
  s = 0.f;
  for (int i = 0; i < 8; i++) s += tmp[i][x] * cosf((2 * i + 1) * y * 3.14159265f / 16.f);
  out[g] = s * (y == 0 ? 0.35355339f : 0.5f);
}
// 8. RoPE + rmsnorm: row of 4096 in blocks of 1024 threads, LLM style, inverse rms broadcast by a shared scalar
__global__ void rmsnorm(float *o, const float *x, const float *weight, int size) {
  __shared__ float part[256];
  __shared__ float inv;
  const float *row = x + (size_t)blockIdx.x * size;
  float ss = 0.f;
  for (int j = threadIdx.x; j < size; j += 256) ss += row[j] * row[j];
  part[threadIdx.x] = ss;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) inv = 1.f / sqrtf(part[0] / size + 1e-5f);
  __syncthreads();
  for (int j = threadIdx.x; j < size; j += 256) o[(size_t)blockIdx.x * size + j] = weight[j] * (inv * row[j]);
}
template <class T> T *mk(size_t n) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; ++i) h[i] = (T)((i * 7919u) % 10);
  CUDA_SAFE_CALL(cudaMalloc(&d, n * sizeof(T)));
  CUDA_SAFE_CALL(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  int cols = argc > 1 ? atoi(argv[1]) : 100000, rows = 100, pyramid = 20;
  int *wall = mk<int>((size_t)cols * rows), *src = mk<int>(cols), *res = mk<int>(cols);
  int border = pyramid * HALO, small = BLOCK_SIZE - pyramid * HALO * 2, bc = cols / small + (cols % small == 0 ? 0 : 1);
  for (int t = 0; t < rows - 1; t += pyramid) {
    dynproc_kernel<<<bc, BLOCK_SIZE>>>(MIN(pyramid, rows - t - 1), wall, src, res, cols, rows, t, border);
    int *x = src; src = res; res = x;
  }
  int n = argc > 2 ? atoi(argv[2]) : 4096;
  float *a = mk<float>(n * n), *b = mk<float>(n * n), *c = mk<float>(n * n), *d = mk<float>(n * n);
  int sm = HB - 4;
  hotspot_lite<<<dim3((n + sm - 1) / sm, (n + sm - 1) / sm), dim3(HB, HB)>>>(2, a, b, c, n, n, 0.1f, 0.2f, 0.3f);
  lbmStreamX<<<dim3(n / 128, n), 128>>>(a, b, c, d, n);
  unsigned char *u = mk<unsigned char>(n * n), *v = mk<unsigned char>(n * n);
  dim3 lb(16, 16), lg((n + lb.x - 1) / lb.x, (n + lb.y - 1) / lb.y);
  for (int it = 0; it < 3; ++it) { life<<<lg, lb>>>(u, v, n, n); unsigned char *x = u; u = v; v = x; }
  jacobiBlock<<<n * n / 256, 256>>>(a, b, 10);
  int *ref = mk<int>((n + 1) * (n + 1)), *mat = mk<int>((n + 1) * (n + 1));
  for (int i = 0; i < 3; ++i) nw_tile<<<i + 1, NWB>>>(ref, mat, n + 1, 10, i);
  dct8x8<<<dim3(n / 8, n / 8), dim3(8, 8)>>>(a, c, n);
  rmsnorm<<<n, 256>>>(c, a, b, n);
  CUDA_SAFE_CALL(cudaGetLastError());
  CUDA_SAFE_CALL(cudaDeviceSynchronize());
}
