#include "h.h"
#include <cstring>
static void show(const char *name, const void *dev, size_t bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  unsigned char *h = (unsigned char *)malloc(bytes);
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    unsigned long long w;
    memcpy(&w, h + i, 8);
    f = (f ^ w) * 1099511628211ull;
  }
  for (; i < bytes; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016llx%s%s\n", name, f, e ? " " : "", e ? cudaGetErrorString(e) : "");
  free(h);
}
#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
__constant__ float c_Kernel[KERNEL_LENGTH];

#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS 1
__global__ void convolutionRows(float *d_Dst, const float *d_Src, int imageW, int imageH, int pitch) {
  __shared__ float s_Data[ROWS_BLOCKDIM_Y][(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];
  const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X + threadIdx.x;
  const int baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;
  d_Src += baseY * pitch + baseX;
  d_Dst += baseY * pitch + baseX;
#pragma unroll
  for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++)
    s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = d_Src[i * ROWS_BLOCKDIM_X];
#pragma unroll
  for (int i = 0; i < ROWS_HALO_STEPS; i++)
    s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
#pragma unroll
  for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++)
    s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
  __syncthreads();
#pragma unroll
  for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
      sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
    d_Dst[i * ROWS_BLOCKDIM_X] = sum;
  }
}

// column pass, simple author
__global__ void convCols(const float *in, float *out, int w, int h) {
  __shared__ float col[32 + 2 * KERNEL_RADIUS][17];
  int x = blockIdx.x * 16 + threadIdx.x;
  int y0 = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32 + 2 * KERNEL_RADIUS; r += 16) {
    int y = y0 + r - KERNEL_RADIUS;
    col[r][threadIdx.x] = (x < w && y >= 0 && y < h) ? in[y * w + x] : 0.0f;
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 16) {
    if (x < w && y0 + r < h) {
      float s = 0.0f;
      for (int k = 0; k < KERNEL_LENGTH; ++k) s += col[r + k][threadIdx.x] * c_Kernel[k];
      out[(y0 + r) * w + x] = s;
    }
  }
}

// course-style 2-D convolution: block is as large as the input tile
#define MASK_WIDTH 5
#define O_TILE 12
#define I_TILE (O_TILE + MASK_WIDTH - 1)
__global__ void convolution2D(float *I, const float *__restrict__ M, float *P, int channels, int width, int height) {
  __shared__ float N_ds[I_TILE][I_TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row_o = blockIdx.y * O_TILE + ty;
  int col_o = blockIdx.x * O_TILE + tx;
  int row_i = row_o - MASK_WIDTH / 2;
  int col_i = col_o - MASK_WIDTH / 2;
  for (int k = 0; k < channels; k++) {
    if ((row_i >= 0) && (row_i < height) && (col_i >= 0) && (col_i < width))
      N_ds[ty][tx] = I[(row_i * width + col_i) * channels + k];
    else
      N_ds[ty][tx] = 0.0f;
    __syncthreads();
    float output = 0.0f;
    if (ty < O_TILE && tx < O_TILE) {
      for (int i = 0; i < MASK_WIDTH; i++)
        for (int j = 0; j < MASK_WIDTH; j++) output += M[i * MASK_WIDTH + j] * N_ds[i + ty][j + tx];
      if (row_o < height && col_o < width) P[(row_o * width + col_o) * channels + k] = output * 0.01f;
    }
    __syncthreads();
  }
}

// overlapping 3x3 / stride 2 max pooling, one channel per z
template <typename T>
__global__ void maxpool3s2(const T *x, T *y, int H, int W, int OH, int OW) {
  __shared__ T t[2 * 8 + 1][2 * 32 + 1];
  x += (size_t)blockIdx.z * H * W;
  y += (size_t)blockIdx.z * OH * OW;
  int iy0 = blockIdx.y * 16, ix0 = blockIdx.x * 64;
  for (int r = threadIdx.y; r < 17; r += blockDim.y)
    for (int c = threadIdx.x; c < 65; c += blockDim.x) {
      int yy = iy0 + r, xx = ix0 + c;
      t[r][c] = (yy < H && xx < W) ? x[yy * W + xx] : T(-1e30);
    }
  __syncthreads();
  int oy = blockIdx.y * 8 + threadIdx.y, ox = blockIdx.x * 32 + threadIdx.x;
  if (oy >= OH || ox >= OW) return;
  T m = T(-1e30);
#pragma unroll
  for (int i = 0; i < 3; ++i)
#pragma unroll
    for (int j = 0; j < 3; ++j) m = max(m, t[2 * threadIdx.y + i][2 * threadIdx.x + j]);
  y[oy * OW + ox] = m;
}

int main() {
  float hk[KERNEL_LENGTH];
  for (int i = 0; i < KERNEL_LENGTH; ++i) hk[i] = (float)((i * 5) % 16) / 64.f;
  cudaMemcpyToSymbol(c_Kernel, hk, sizeof(hk));
  int w = 4096, h = 3000;
  float *a = mk<float>(w * h), *b = mk<float>(w * h);
  convolutionRows<<<dim3(w / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), h / ROWS_BLOCKDIM_Y), dim3(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y)>>>(b, a, w, h, w);
  show("convolutionRows", b, (size_t)w * h * 4);
  convCols<<<dim3((w + 15) / 16, (h + 31) / 32), dim3(16, 16)>>>(b, a, w, h);
  show("convCols", a, (size_t)w * h * 4);
  cudaFree(a); cudaFree(b);
  int iw = 2501, ih = 1400, ch = 3;
  a = mk<float>(iw * ih * ch); b = mk<float>(iw * ih * ch);
  float *m = mk<float>(25);
  dim3 dimGrid((iw - 1) / O_TILE + 1, (ih - 1) / O_TILE + 1), dimBlock(I_TILE, I_TILE);
  convolution2D<<<dimGrid, dimBlock>>>(a, m, b, ch, iw, ih);
  show("convolution2D", b, (size_t)iw * ih * ch * 4);
  int H = 225, W = 337, OH = (H - 3) / 2 + 1, OW = (W - 3) / 2 + 1, N = 512;
  float *x = mk<float>((size_t)N * H * W), *y = mk<float>((size_t)N * OH * OW);
  maxpool3s2<float><<<dim3((OW + 31) / 32, (OH + 7) / 8, N), dim3(32, 8)>>>(x, y, H, W, OH, OW);
  show("maxpool3s2", y, (size_t)N * OH * OW * 4);
  return 0;
}
