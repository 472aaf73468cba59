// 2-D image filters, different halo styles
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CHECK(call) { const cudaError_t error = call; if (error != cudaSuccess) { printf("Error: %s:%d, ", __FILE__, __LINE__); printf("code: %d, reason: %s\n", error, cudaGetErrorString(error)); exit(1); } }
typedef unsigned char uchar;
#define IDX(x, y, w) ((y) * (w) + (x))

// 1. sobel on bytes, 16x16 block with 18x18 tile, linear index loop, clamp
#define TX 16
#define TY 16
__device__ __forceinline__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }
__global__ void sobel_shared(const uchar *src, uchar *dst, int width, int height) {
  __shared__ uchar tile[TY + 2][TX + 2];
  int tid = threadIdx.y * TX + threadIdx.x;
  int x0 = blockIdx.x * TX - 1, y0 = blockIdx.y * TY - 1;
  for (int i = tid; i < (TX + 2) * (TY + 2); i += TX * TY) {
    int ty = i / (TX + 2), tx = i % (TX + 2);
    int gx = clampi(x0 + tx, 0, width - 1), gy = clampi(y0 + ty, 0, height - 1);
    tile[ty][tx] = src[IDX(gx, gy, width)];
  }
  __syncthreads();
  int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
  if (x >= width || y >= height) return;
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  int gx = -tile[ly - 1][lx - 1] + tile[ly - 1][lx + 1] - 2 * tile[ly][lx - 1] + 2 * tile[ly][lx + 1] - tile[ly + 1][lx - 1] + tile[ly + 1][lx + 1];
  int gy = -tile[ly - 1][lx - 1] - 2 * tile[ly - 1][lx] - tile[ly - 1][lx + 1] + tile[ly + 1][lx - 1] + 2 * tile[ly + 1][lx] + tile[ly + 1][lx + 1];
  int mag = abs(gx) + abs(gy);
  dst[IDX(x, y, width)] = mag > 255 ? 255 : mag;
}

// 2. bilateral with expf, nine-part halo, 5x5
#define BR 2
__global__ void bilateral(const float *in, float *out, int w, int h, float sigmaS, float sigmaR) {
  __shared__ float s[16 + 2 * BR][16 + 2 * BR];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
#define LOADPX(X, Y) (((X) >= 0 && (X) < w && (Y) >= 0 && (Y) < h) ? in[(Y) * w + (X)] : 0.0f)
  s[ty + BR][tx + BR] = LOADPX(x, y);
  if (tx < BR) s[ty + BR][tx] = LOADPX(x - BR, y);
  if (tx >= 16 - BR) s[ty + BR][tx + 2 * BR] = LOADPX(x + BR, y);
  if (ty < BR) s[ty][tx + BR] = LOADPX(x, y - BR);
  if (ty >= 16 - BR) s[ty + 2 * BR][tx + BR] = LOADPX(x, y + BR);
  if (tx < BR && ty < BR) s[ty][tx] = LOADPX(x - BR, y - BR);
  if (tx >= 16 - BR && ty < BR) s[ty][tx + 2 * BR] = LOADPX(x + BR, y - BR);
  if (tx < BR && ty >= 16 - BR) s[ty + 2 * BR][tx] = LOADPX(x - BR, y + BR);
  if (tx >= 16 - BR && ty >= 16 - BR) s[ty + 2 * BR][tx + 2 * BR] = LOADPX(x + BR, y + BR);
  __syncthreads();
  if (x < w && y < h) {
    float c = s[ty + BR][tx + BR], sum = 0.f, wsum = 0.f;
    for (int dy = -BR; dy <= BR; ++dy)
      for (int dx = -BR; dx <= BR; ++dx) {
        float v = s[ty + BR + dy][tx + BR + dx];
        float wgt = __expf(-(dx * dx + dy * dy) / (2 * sigmaS * sigmaS) - (v - c) * (v - c) / (2 * sigmaR * sigmaR));
        sum += wgt * v;
        wsum += wgt;
      }
    out[y * w + x] = sum / wsum;
  }
}

// 3. PMPP 2-D conv: block = output tile + halo (inner threads output)
#define O_TILE_WIDTH 14
#define MW 3
#define BLOCK_WIDTH (O_TILE_WIDTH + MW - 1)
__global__ void convolution_2D_kernel(float *P, float *N, int height, int width, int pitch, const float *__restrict__ M) {
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int row_o = blockIdx.y * O_TILE_WIDTH + ty;
  int col_o = blockIdx.x * O_TILE_WIDTH + tx;
  int row_i = row_o - MW / 2;
  int col_i = col_o - MW / 2;
  __shared__ float N_ds[BLOCK_WIDTH][BLOCK_WIDTH];
  if ((row_i >= 0) && (row_i < height) && (col_i >= 0) && (col_i < width)) N_ds[ty][tx] = N[row_i * pitch + col_i];
  else N_ds[ty][tx] = 0.0f;
  __syncthreads();
  float output = 0.0f;
  if (ty < O_TILE_WIDTH && tx < O_TILE_WIDTH) {
    for (int i = 0; i < MW; i++)
      for (int j = 0; j < MW; j++) output += M[i * MW + j] * N_ds[i + ty][j + tx];
    if (row_o < height && col_o < width) P[row_o * width + col_o] = output;
  }
}

// 4. PMPP 2-D with constant memory and channels as in the popular course assignment (two-part linear loading)
#define Mask_width 5
#define Mask_radius 2
#define TILE_WIDTH 16
#define w_ (TILE_WIDTH + Mask_width - 1)
#define clampf(x) (min(max((x), 0.0), 1.0))
__constant__ float CM[Mask_width * Mask_width];
__global__ void convolution(float *I, float *P, int channels, int width, int height) {
  __shared__ float N_ds[w_][w_];
  int k;
  for (k = 0; k < channels; k++) {
    int dest = threadIdx.y * TILE_WIDTH + threadIdx.x, destY = dest / w_, destX = dest % w_,
        srcY = blockIdx.y * TILE_WIDTH + destY - Mask_radius, srcX = blockIdx.x * TILE_WIDTH + destX - Mask_radius,
        src = (srcY * width + srcX) * channels + k;
    if (srcY >= 0 && srcY < height && srcX >= 0 && srcX < width) N_ds[destY][destX] = I[src];
    else N_ds[destY][destX] = 0;
    dest = threadIdx.y * TILE_WIDTH + threadIdx.x + TILE_WIDTH * TILE_WIDTH;
    destY = dest / w_, destX = dest % w_;
    srcY = blockIdx.y * TILE_WIDTH + destY - Mask_radius;
    srcX = blockIdx.x * TILE_WIDTH + destX - Mask_radius;
    src = (srcY * width + srcX) * channels + k;
    if (destY < w_) {
      if (srcY >= 0 && srcY < height && srcX >= 0 && srcX < width) N_ds[destY][destX] = I[src];
      else N_ds[destY][destX] = 0;
    }
    __syncthreads();
    float accum = 0;
    int y, x;
    for (y = 0; y < Mask_width; y++)
      for (x = 0; x < Mask_width; x++) accum += N_ds[threadIdx.y + y][threadIdx.x + x] * CM[y * Mask_width + x];
    y = blockIdx.y * TILE_WIDTH + threadIdx.y;
    x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    if (y < height && x < width) P[(y * width + x) * channels + k] = clampf(accum);
    __syncthreads();
  }
}

// 5. 3x3 median with sort of local array from the shared tile
__global__ void median3(const uchar *in, uchar *out, int w, int h) {
  __shared__ uchar t[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  bool L = threadIdx.x == 0, R = threadIdx.x == 15, T = threadIdx.y == 0, B = threadIdx.y == 15;
  t[ly][lx] = (x < w && y < h) ? in[y * w + x] : 0;
  if (L) t[ly][0] = (x > 0 && y < h) ? in[y * w + x - 1] : 0;
  if (R) t[ly][17] = (x + 1 < w && y < h) ? in[y * w + x + 1] : 0;
  if (T) t[0][lx] = (y > 0 && x < w) ? in[(y - 1) * w + x] : 0;
  if (B) t[17][lx] = (y + 1 < h && x < w) ? in[(y + 1) * w + x] : 0;
  if (L && T) t[0][0] = (x > 0 && y > 0) ? in[(y - 1) * w + x - 1] : 0;
  if (R && T) t[0][17] = (x + 1 < w && y > 0) ? in[(y - 1) * w + x + 1] : 0;
  if (L && B) t[17][0] = (x > 0 && y + 1 < h) ? in[(y + 1) * w + x - 1] : 0;
  if (R && B) t[17][17] = (x + 1 < w && y + 1 < h) ? in[(y + 1) * w + x + 1] : 0;
  __syncthreads();
  uchar v[9];
  int n = 0;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j) v[n++] = t[ly + i][lx + j];
  for (int i = 0; i < 5; ++i) {
    int m = i;
    for (int j = i + 1; j < 9; ++j) if (v[j] < v[m]) m = j;
    uchar tmp = v[i]; v[i] = v[m]; v[m] = tmp;
  }
  if (x < w && y < h) out[y * w + x] = v[4];
}

// 6. box filter on uchar4, blocks 32x8, mirrored borders
#define RAD 3
__device__ int mirror(int i, int n) { if (i < 0) i = -i; if (i >= n) i = 2 * n - 2 - i; return i; }
__global__ void boxRGBA(const uchar4 *in, uchar4 *out, int w, int h) {
  __shared__ uchar4 sm[8 + 2 * RAD][32 + 2 * RAD];
  const int bx = blockIdx.x * 32, by = blockIdx.y * 8;
  for (int yy = threadIdx.y; yy < 8 + 2 * RAD; yy += 8)
    for (int xx = threadIdx.x; xx < 32 + 2 * RAD; xx += 32)
      sm[yy][xx] = in[mirror(by + yy - RAD, h) * w + mirror(bx + xx - RAD, w)];
  __syncthreads();
  int x = bx + threadIdx.x, y = by + threadIdx.y;
  if (x >= w || y >= h) return;
  int r = 0, g = 0, b = 0;
  for (int j = 0; j <= 2 * RAD; ++j)
    for (int i = 0; i <= 2 * RAD; ++i) {
      uchar4 p = sm[threadIdx.y + j][threadIdx.x + i];
      r += p.x; g += p.y; b += p.z;
    }
  const int a = (2 * RAD + 1) * (2 * RAD + 1);
  out[y * w + x] = make_uchar4(r / a, g / a, b / a, 255);
}

// 7. erosion with structuring radius as template, OpenCV-like, dynamic shared memory 2-D pitch
template <int R>
__global__ void erode(const uchar *src, size_t sstep, uchar *dst, size_t dstep, int rows, int cols) {
  extern __shared__ uchar smem[];
  const int tw = blockDim.x + 2 * R;
  const int th = blockDim.y + 2 * R;
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  for (int ly = threadIdx.y; ly < th; ly += blockDim.y)
    for (int lx = threadIdx.x; lx < tw; lx += blockDim.x) {
      int gx = blockIdx.x * blockDim.x + lx - R, gy = blockIdx.y * blockDim.y + ly - R;
      gx = min(max(gx, 0), cols - 1);
      gy = min(max(gy, 0), rows - 1);
      smem[ly * tw + lx] = src[gy * sstep + gx];
    }
  __syncthreads();
  if (x < cols && y < rows) {
    uchar m = 255;
#pragma unroll
    for (int j = 0; j <= 2 * R; ++j)
#pragma unroll
      for (int i = 0; i <= 2 * R; ++i) m = min(m, smem[(threadIdx.y + j) * tw + threadIdx.x + i]);
    dst[y * dstep + x] = m;
  }
}

// 8. jacobi / heat 5 point with padded array and 32x32 block, guards by if
__global__ void heat2d(const double *__restrict__ u, double *__restrict__ un, int nx, int ny, double c) {
  __shared__ double s[34][34];
  int i = blockIdx.x * 32 + threadIdx.x + 1, j = blockIdx.y * 32 + threadIdx.y + 1;
  int p = nx + 2;
  if (i <= nx && j <= ny) {
    s[threadIdx.y + 1][threadIdx.x + 1] = u[j * p + i];
    if (threadIdx.x == 0) s[threadIdx.y + 1][0] = u[j * p + i - 1];
    if (threadIdx.x == 31 || i == nx) s[threadIdx.y + 1][threadIdx.x + 2] = u[j * p + i + 1];
    if (threadIdx.y == 0) s[0][threadIdx.x + 1] = u[(j - 1) * p + i];
    if (threadIdx.y == 31 || j == ny) s[threadIdx.y + 2][threadIdx.x + 1] = u[(j + 1) * p + i];
  }
  __syncthreads();
  if (i <= nx && j <= ny) {
    double m = s[threadIdx.y + 1][threadIdx.x + 1];
    un[j * p + i] = m + c * (s[threadIdx.y + 1][threadIdx.x] + s[threadIdx.y + 1][threadIdx.x + 2] + s[threadIdx.y][threadIdx.x + 1] + s[threadIdx.y + 2][threadIdx.x + 1] - 4.0 * m);
  }
}

template <class T> T *mk(size_t bytesOf) {
  size_t n = bytesOf;
  uchar *h = (uchar *)malloc(n * sizeof(T));
  T *d;
  for (size_t i = 0; i < n * sizeof(T); ++i) h[i] = (i * 7919u) % 61;
  CHECK(cudaMalloc(&d, n * sizeof(T)));
  CHECK(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  int w = argc > 1 ? atoi(argv[1]) : 1920, h = argc > 2 ? atoi(argv[2]) : 1080;
  size_t n = (size_t)w * h;
  uchar *b1 = mk<uchar>(n), *b2 = mk<uchar>(n);
  uchar4 *q1 = mk<uchar4>(n), *q2 = mk<uchar4>(n);
  float *f1 = mk<float>(n * 3), *f2 = mk<float>(n * 3), *mask = mk<float>(9);
  double *u = mk<double>((w + 2) * (h + 2)), *un = mk<double>((w + 2) * (h + 2));
  dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
  sobel_shared<<<grid, block>>>(b1, b2, w, h);
  bilateral<<<grid, block>>>(f1, f2, w, h, 3.f, 30.f);
  dim3 cb(BLOCK_WIDTH, BLOCK_WIDTH), cg((w - 1) / O_TILE_WIDTH + 1, (h - 1) / O_TILE_WIDTH + 1);
  convolution_2D_kernel<<<cg, cb>>>(f2, f1, h, w, w, mask);
  float hm[25];
  for (int i = 0; i < 25; ++i) hm[i] = 1.f / (i + 20);
  CHECK(cudaMemcpyToSymbol(CM, hm, sizeof hm));
  convolution<<<grid, block>>>(f1, f2, 3, w, h);
  median3<<<grid, block>>>(b1, b2, w, h);
  dim3 bb(32, 8), bg((w + 31) / 32, (h + 7) / 8);
  boxRGBA<<<bg, bb>>>(q1, q2, w, h);
  erode<2><<<bg, bb, (32 + 4) * (8 + 4)>>>(b1, w, b2, w, h, w);
  dim3 hb(32, 32), hg((w + 31) / 32, (h + 31) / 32);
  for (int t = 0; t < 2; ++t) { heat2d<<<hg, hb>>>(u, un, w, h, 0.1); double *x = u; u = un; un = x; }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return 0;
}
