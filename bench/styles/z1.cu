// grids of a fixed number of blocks, sizes with a default on the command line
#include "h.h"

// 1. three taps, a fixed grid walks over the row
__global__ void smooth3_walk(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[258];
  for (int base = blockIdx.x * 256; base < n; base += gridDim.x * 256) {
    int g = base + threadIdx.x;
    s[threadIdx.x + 1] = g < n ? in[g] : 0.0f;
    if (threadIdx.x == 0) {
      s[0] = base > 0 ? in[base - 1] : 0.0f;
      s[257] = base + 256 < n ? in[base + 256] : 0.0f;
    }
    __syncthreads();
    if (g < n) out[g] = 0.25f * s[threadIdx.x] + 0.5f * s[threadIdx.x + 1] + 0.25f * s[threadIdx.x + 2];
    __syncthreads();
  }
}

// 2. nine taps of doubles, 128 threads
#define R9 4
__global__ void taps9(const double *x, double *y, const double *w, int n) {
  __shared__ double buf[128 + 2 * R9];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int l = threadIdx.x + R9;
  buf[l] = i < n ? x[i] : 0.0;
  if (threadIdx.x < R9) {
    buf[l - R9] = i >= R9 ? x[i - R9] : 0.0;
    buf[l + 128] = i + 128 < n ? x[i + 128] : 0.0;
  }
  __syncthreads();
  if (i >= n) return;
  double a = 0.0;
  for (int k = -R9; k <= R9; k++) a += w[k + R9] * buf[l + k];
  y[i] = a;
}

// 3. prewitt edges of bytes, 32 x 8
__global__ void prewitt(const unsigned char *src, unsigned char *dst, int w, int h) {
  __shared__ unsigned char t[10][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int j = threadIdx.y; j < 10; j += 8)
    for (int i = threadIdx.x; i < 34; i += 32) {
      int gx = min(max((int)blockIdx.x * 32 + i - 1, 0), w - 1);
      int gy = min(max((int)blockIdx.y * 8 + j - 1, 0), h - 1);
      t[j][i] = src[gy * w + gx];
    }
  __syncthreads();
  if (x >= w || y >= h) return;
  int c = threadIdx.x + 1, r = threadIdx.y + 1;
  int gx = t[r - 1][c + 1] + t[r][c + 1] + t[r + 1][c + 1] - t[r - 1][c - 1] - t[r][c - 1] - t[r + 1][c - 1];
  int gy = t[r + 1][c - 1] + t[r + 1][c] + t[r + 1][c + 1] - t[r - 1][c - 1] - t[r - 1][c] - t[r - 1][c + 1];
  dst[y * w + x] = min(255, abs(gx) + abs(gy));
}

// 4. explicit heat step with coefficients of the cell, 16 x 16
__global__ void heat_var(const float *u, const float *k, float *un, int nx, int ny, float dt) {
  __shared__ float s[18][18];
  int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
  int li = threadIdx.x + 1, lj = threadIdx.y + 1;
  bool in = i < nx && j < ny;
  if (in) s[lj][li] = u[j * nx + i];
  if (threadIdx.x == 0 && i > 0 && j < ny) s[lj][0] = u[j * nx + i - 1];
  if (threadIdx.x == 15 && i + 1 < nx && j < ny) s[lj][17] = u[j * nx + i + 1];
  if (threadIdx.y == 0 && j > 0 && i < nx) s[0][li] = u[(j - 1) * nx + i];
  if (threadIdx.y == 15 && j + 1 < ny && i < nx) s[17][li] = u[(j + 1) * nx + i];
  __syncthreads();
  if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1) {
    float c = s[lj][li];
    un[j * nx + i] = c + dt * k[j * nx + i] * (s[lj][li - 1] + s[lj][li + 1] + s[lj - 1][li] + s[lj + 1][li] - 4.0f * c);
  }
}

// 5. product of matrices, 32 x 32, whole tiles
__global__ void mm32(const float *a, const float *b, float *c, int n) {
  __shared__ float ta[32][32], tb[32][32];
  int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  float acc = 0.f;
  for (int t = 0; t < n / 32; ++t) {
    ta[threadIdx.y][threadIdx.x] = a[row * n + t * 32 + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(t * 32 + threadIdx.y) * n + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k) acc += ta[threadIdx.y][k] * tb[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = acc;
}

// 6. block sums, two elements a thread at the load
__global__ void sum2(const float *in, float *out, unsigned n) {
  extern __shared__ float sd[];
  unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  float v = i < n ? in[i] : 0.f;
  if (i + blockDim.x < n) v += in[i + blockDim.x];
  sd[tid] = v;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sd[tid] += sd[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sd[0];
}

// 7. vertical blur of floats, columns of 16 x 16
#define VR 3
__global__ void vblur(const float *in, float *out, int w, int h) {
  __shared__ float col[16 + 2 * VR][16];
  int x = blockIdx.x * 16 + threadIdx.x;
  int y0 = blockIdx.y * 16 - VR;
  for (int j = threadIdx.y; j < 16 + 2 * VR; j += 16) {
    int y = y0 + j;
    col[j][threadIdx.x] = (x < w && y >= 0 && y < h) ? in[y * w + x] : 0.f;
  }
  __syncthreads();
  int y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < h) {
    float s = 0.f;
    for (int k = 0; k <= 2 * VR; ++k) s += col[threadIdx.y + k][threadIdx.x];
    out[y * w + x] = s * (1.f / (2 * VR + 1));
  }
}

// 8. integral of a row by a scan in the block
__global__ void row_scan(const int *in, int *out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (g < n) out[g] = s[t];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 24;
  int w = argc > 2 ? atoi(argv[2]) : 2560, h = argc > 3 ? atoi(argv[3]) : 1440;
  int m = argc > 4 ? atoi(argv[4]) : 1024;
  float *a = mk<float>(n), *b = mk<float>(n), *k = mk<float>(n);
  double *x = mk<double>(n / 2), *y = mk<double>(n / 2), *wt = mk<double>(9);
  unsigned char *p = mk<unsigned char>(n), *q = mk<unsigned char>(n);
  int *ia = mk<int>(n), *ib = mk<int>(n);
  smooth3_walk<<<1024, 256>>>(a, b, n);
  taps9<<<(n / 2 + 127) / 128, 128>>>(x, y, wt, n / 2);
  dim3 g8((w + 31) / 32, (h + 7) / 8), b8(32, 8);
  prewitt<<<g8, b8>>>(p, q, w, h);
  dim3 g16((w + 15) / 16, (h + 15) / 16), b16(16, 16);
  heat_var<<<g16, b16>>>(a, k, b, w, h, 0.1f);
  mm32<<<dim3(m / 32, m / 32), dim3(32, 32)>>>(a, k, b, m);
  sum2<<<(n + 511) / 512, 256, 256 * sizeof(float)>>>(a, b, n);
  vblur<<<g16, b16>>>(a, b, w, h);
  row_scan<<<(n + 255) / 256, 256>>>(ia, ib, n);
  cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  return 0;
}
