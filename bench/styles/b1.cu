#include "shown.h"

#define RADIUS 3
#define BLOCK_SIZE 256

__global__ void stencil_1d(const int *in, int *out, int n) {
  __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
  int gindex = threadIdx.x + blockIdx.x * blockDim.x;
  int lindex = threadIdx.x + RADIUS;

  temp[lindex] = gindex < n ? in[gindex] : 0;
  if (threadIdx.x < RADIUS) {
    temp[lindex - RADIUS] = gindex >= RADIUS ? in[gindex - RADIUS] : 0;
    temp[lindex + BLOCK_SIZE] = gindex + BLOCK_SIZE < n ? in[gindex + BLOCK_SIZE] : 0;
  }
  __syncthreads();

  int result = 0;
  for (int offset = -RADIUS; offset <= RADIUS; offset++)
    result += temp[lindex + offset];
  if (gindex < n) out[gindex] = result;
}

// separable convolution, row pass
#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS 1
__constant__ float c_Kernel[KERNEL_LENGTH];

__global__ void convRows(float *d_Dst, const float *d_Src, int imageW, int imageH, int pitch) {
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
    s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] =
        (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
#pragma unroll
  for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++)
    s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] =
        (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
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

// course style tiled 2-D convolution: block = output tile + halo
#define O_TILE_WIDTH 12
#define MASK_WIDTH 5
#define BLOCK_WIDTH (O_TILE_WIDTH + MASK_WIDTH - 1)
__global__ void convolution_2D_tiled(const float *N, float *P, int height, int width, int channels, const float *__restrict__ M) {
  __shared__ float N_ds[BLOCK_WIDTH][BLOCK_WIDTH];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row_o = blockIdx.y * O_TILE_WIDTH + ty;
  int col_o = blockIdx.x * O_TILE_WIDTH + tx;
  int row_i = row_o - MASK_WIDTH / 2;
  int col_i = col_o - MASK_WIDTH / 2;
  for (int k = 0; k < channels; k++) {
    if (row_i >= 0 && row_i < height && col_i >= 0 && col_i < width)
      N_ds[ty][tx] = N[(row_i * width + col_i) * channels + k];
    else
      N_ds[ty][tx] = 0.0f;
    __syncthreads();
    float output = 0.0f;
    if (ty < O_TILE_WIDTH && tx < O_TILE_WIDTH) {
      for (int i = 0; i < MASK_WIDTH; i++)
        for (int j = 0; j < MASK_WIDTH; j++)
          output += M[i * MASK_WIDTH + j] * N_ds[i + ty][j + tx];
      if (row_o < height && col_o < width)
        P[(row_o * width + col_o) * channels + k] = output;
    }
    __syncthreads();
  }
}

// 3-D 7 point, 2-D tile in shared, marching along z
#define TX 32
#define TY 8
__global__ void heat3d_zmarch(const double *__restrict__ u, double *__restrict__ unew, int nx, int ny, int nz, double c) {
  __shared__ double s[TY + 2][TX + 2];
  const int i = blockIdx.x * TX + threadIdx.x + 1;
  const int j = blockIdx.y * TY + threadIdx.y + 1;
  const int li = threadIdx.x + 1, lj = threadIdx.y + 1;
  const bool inside = i < nx - 1 && j < ny - 1;
  const bool loadok = i < nx && j < ny;
  size_t plane = (size_t)nx * ny;
  size_t p = (size_t)j * nx + i;
  double below = 0, cur = 0, above = 0;
  if (loadok) { below = u[p]; cur = u[p + plane]; }
  for (int k = 1; k < nz - 1; k++) {
    if (loadok) above = u[p + (k + 1) * plane];
    s[lj][li] = cur;
    if (threadIdx.x == 0) s[lj][0] = j < ny ? u[p + k * plane - 1] : 0.0;
    if (threadIdx.x == TX - 1) s[lj][TX + 1] = (j < ny && i + 1 < nx) ? u[p + k * plane + 1] : 0.0;
    if (threadIdx.y == 0) s[0][li] = i < nx ? u[p + k * plane - nx] : 0.0;
    if (threadIdx.y == TY - 1) s[TY + 1][li] = (i < nx && j + 1 < ny) ? u[p + k * plane + nx] : 0.0;
    __syncthreads();
    if (inside)
      unew[p + k * plane] = cur + c * (s[lj][li - 1] + s[lj][li + 1] + s[lj - 1][li] + s[lj + 1][li] + below + above - 6.0 * cur);
    __syncthreads();
    below = cur;
    cur = above;
  }
}

// clamped, loop-over-tile halo load, templated
template <typename T, int BX, int BY, int R>
__device__ void boxImpl(const T *src, T *dst, unsigned w, unsigned h, size_t stride) {
  __shared__ T tile[(BX + 2 * R) * (BY + 2 * R)];
  const int TW = BX + 2 * R;
  int x0 = blockIdx.x * BX - R, y0 = blockIdx.y * BY - R;
  for (int idx = threadIdx.y * BX + threadIdx.x; idx < TW * (BY + 2 * R); idx += BX * BY) {
    int yy = min(max(y0 + idx / TW, 0), (int)h - 1);
    int xx = min(max(x0 + idx % TW, 0), (int)w - 1);
    tile[idx] = src[yy * stride + xx];
  }
  __syncthreads();
  unsigned x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  if (x >= w || y >= h) return;
  T acc = 0;
  for (int dy = 0; dy <= 2 * R; ++dy)
    for (int dx = 0; dx <= 2 * R; ++dx)
      acc += tile[(threadIdx.y + dy) * TW + threadIdx.x + dx];
  dst[y * stride + x] = acc / T((2 * R + 1) * (2 * R + 1));
}
__global__ void boxBlurClamped(const float *src, float *dst, unsigned w, unsigned h, size_t stride) {
  boxImpl<float, 16, 16, 4>(src, dst, w, h, stride);
}

int main() {
  {
    int n = 4000037;
    int *in = mk<int>(n), *out = mk<int>(n);
    stencil_1d<<<(n + BLOCK_SIZE - 1) / BLOCK_SIZE, BLOCK_SIZE>>>(in, out, n);
    show("stencil_1d", out, n * sizeof(int));
  }
  {
    float hk[KERNEL_LENGTH];
    for (int i = 0; i < KERNEL_LENGTH; i++) hk[i] = (i % 5 + 1) / 50.f;
    cudaMemcpyToSymbol(c_Kernel, hk, sizeof hk);
    int w = 3072, h = 2048;
    float *s = mk<float>((size_t)w * h), *d = mk<float>((size_t)w * h);
    convRows<<<dim3(w / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), h / ROWS_BLOCKDIM_Y), dim3(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y)>>>(d, s, w, h, w);
    show("convRows", d, (size_t)w * h * 4);
  }
  {
    int w = 1023, h = 769, c = 3;
    float *N = mk<float>((size_t)w * h * c), *P = mk<float>((size_t)w * h * c), *M = mk<float>(25);
    convolution_2D_tiled<<<dim3((w - 1) / O_TILE_WIDTH + 1, (h - 1) / O_TILE_WIDTH + 1), dim3(BLOCK_WIDTH, BLOCK_WIDTH)>>>(N, P, h, w, c, M);
    show("convolution_2D_tiled", P, (size_t)w * h * c * 4);
  }
  {
    int nx = 230, ny = 190, nz = 150;
    size_t n = (size_t)nx * ny * nz;
    double *a = mk<double>(n), *b = mk<double>(n);
    dim3 g((nx - 2 + TX - 1) / TX, (ny - 2 + TY - 1) / TY);
    heat3d_zmarch<<<g, dim3(TX, TY)>>>(a, b, nx, ny, nz, 0.1);
    heat3d_zmarch<<<g, dim3(TX, TY)>>>(b, a, nx, ny, nz, 0.1);
    show("heat3d_zmarch", a, n * 8);
  }
  {
    unsigned w = 1910, h = 1077;
    size_t st = 1920;
    float *a = mk<float>(st * h), *b = mk<float>(st * h);
    boxBlurClamped<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h, st);
    show("boxBlurClamped", b, st * h * 4);
  }
  return 0;
}
