// 3-D stencils and some more 2-D
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define cudaSafe(e) do { cudaError_t err = (e); if (err) { fprintf(stderr, "cuda: %s line %d\n", cudaGetErrorString(err), __LINE__); abort(); } } while (0)

// 1. Parboil-like 7 point: plane in shared, z walk with registers
#define Index3D(_nx, _ny, _i, _j, _k) ((_i) + (_nx) * ((_j) + (_ny) * (_k)))
__global__ void block2D_hybrid(float c0, float c1, float *A0, float *Anext, int nx, int ny, int nz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  const int sh_id = threadIdx.x + threadIdx.y * blockDim.x;
  extern __shared__ float sh_A0[];
  sh_A0[sh_id] = 0.0f;
  __syncthreads();
  const bool w_region = i > 0 && j > 0 && (i < (nx - 1)) && (j < (ny - 1));
  const bool x_l_bound = (threadIdx.x == 0);
  const bool x_h_bound = (threadIdx.x == (blockDim.x - 1));
  const bool y_l_bound = (threadIdx.y == 0);
  const bool y_h_bound = (threadIdx.y == (blockDim.y - 1));
  float bottom = 0.0f, top = 0.0f;
  if ((i < nx) && (j < ny)) {
    bottom = A0[Index3D(nx, ny, i, j, 0)];
    sh_A0[sh_id] = A0[Index3D(nx, ny, i, j, 1)];
  }
  __syncthreads();
  for (int k = 1; k < nz - 1; k++) {
    float a_left_right, a_up_down;
    if ((i < nx) && (j < ny)) top = A0[Index3D(nx, ny, i, j, k + 1)];
    if (w_region) {
      a_up_down = y_h_bound ? A0[Index3D(nx, ny, i, j + 1, k)] : sh_A0[sh_id + blockDim.x];
      a_up_down += y_l_bound ? A0[Index3D(nx, ny, i, j - 1, k)] : sh_A0[sh_id - blockDim.x];
      a_left_right = x_h_bound ? A0[Index3D(nx, ny, i + 1, j, k)] : sh_A0[sh_id + 1];
      a_left_right += x_l_bound ? A0[Index3D(nx, ny, i - 1, j, k)] : sh_A0[sh_id - 1];
      Anext[Index3D(nx, ny, i, j, k)] = (top + bottom + a_up_down + a_left_right) * c1 - sh_A0[sh_id] * c0;
    }
    __syncthreads();
    bottom = sh_A0[sh_id];
    sh_A0[sh_id] = top;
    __syncthreads();
  }
}

// 2. FDTD3d-like radius 4 with z queue
#define R4 4
#define BX 32
#define BY 16
__constant__ float stencil[R4 + 1];
__global__ void FiniteDifferences(float *output, const float *input, const int dimx, const int dimy, const int dimz, int padding) {
  __shared__ float tile[BY + 2 * R4][BX + 2 * R4];
  const int gtidx = blockIdx.x * blockDim.x + threadIdx.x;
  const int gtidy = blockIdx.y * blockDim.y + threadIdx.y;
  const int ltidx = threadIdx.x, ltidy = threadIdx.y;
  const int workx = blockDim.x, worky = blockDim.y;
  const int stride_y = dimx + 2 * R4;
  const int stride_z = stride_y * (dimy + 2 * R4);
  int inputIndex = 0, outputIndex = 0;
  inputIndex += R4 * stride_y + R4 + padding;
  inputIndex += gtidy * stride_y + gtidx;
  float infront[R4], behind[R4], current;
  const int tx = ltidx + R4, ty = ltidy + R4;
  bool validr = true, validw = true;
  if ((gtidx >= dimx + R4) || (gtidy >= dimy + R4)) validr = false;
  if ((gtidx >= dimx) || (gtidy >= dimy)) validw = false;
  for (int i = R4 - 2; i >= 0; i--) {
    if (validr) behind[i] = input[inputIndex];
    inputIndex += stride_z;
  }
  if (validr) current = input[inputIndex];
  outputIndex = inputIndex;
  inputIndex += stride_z;
  for (int i = 0; i < R4; i++) {
    if (validr) infront[i] = input[inputIndex];
    inputIndex += stride_z;
  }
#pragma unroll 9
  for (int iz = 0; iz < dimz; iz++) {
    for (int i = R4 - 1; i > 0; i--) behind[i] = behind[i - 1];
    behind[0] = current;
    current = infront[0];
#pragma unroll 4
    for (int i = 0; i < R4 - 1; i++) infront[i] = infront[i + 1];
    if (validr) infront[R4 - 1] = input[inputIndex];
    inputIndex += stride_z;
    outputIndex += stride_z;
    __syncthreads();
    if (ltidy < R4) {
      tile[ltidy][tx] = input[outputIndex - R4 * stride_y];
      tile[ltidy + worky + R4][tx] = input[outputIndex + worky * stride_y];
    }
    if (ltidx < R4) {
      tile[ty][ltidx] = input[outputIndex - R4];
      tile[ty][ltidx + workx + R4] = input[outputIndex + workx];
    }
    tile[ty][tx] = current;
    __syncthreads();
    float value = stencil[0] * current;
#pragma unroll 4
    for (int i = 1; i <= R4; i++)
      value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
    if (validw) output[outputIndex] = value;
  }
}

// 3. 27-point full 3D tile 8x8x8
__global__ void stencil27(const float *in, float *out, int N) {
  __shared__ float t[10][10][10];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z * 8 + threadIdx.z;
  int lin = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
  for (int l = lin; l < 1000; l += 512) {
    int lz = l / 100, ly = (l / 10) % 10, lx = l % 10;
    int gx = blockIdx.x * 8 + lx - 1, gy = blockIdx.y * 8 + ly - 1, gz = blockIdx.z * 8 + lz - 1;
    t[lz][ly][lx] = (gx >= 0 && gx < N && gy >= 0 && gy < N && gz >= 0 && gz < N) ? in[(gz * N + gy) * N + gx] : 0.f;
  }
  __syncthreads();
  float s = 0.f;
  for (int dz = 0; dz < 3; dz++)
    for (int dy = 0; dy < 3; dy++)
      for (int dx = 0; dx < 3; dx++) s += t[threadIdx.z + dz][threadIdx.y + dy][threadIdx.x + dx];
  if (x < N && y < N && z < N) out[(z * N + y) * N + x] = s * (1.f / 27.f);
}

// 4. PMPP 3D seven point with in-tile block (8x8x8, 6x6x6 outputs)
#define IN_TILE_DIM 8
#define OUT_TILE_DIM 6
__global__ void stencil_kernel(float *in, float *out, unsigned int N) {
  int i = blockIdx.z * OUT_TILE_DIM + threadIdx.z - 1;
  int j = blockIdx.y * OUT_TILE_DIM + threadIdx.y - 1;
  int k = blockIdx.x * OUT_TILE_DIM + threadIdx.x - 1;
  __shared__ float in_s[IN_TILE_DIM][IN_TILE_DIM][IN_TILE_DIM];
  if (i >= 0 && i < N && j >= 0 && j < N && k >= 0 && k < N) in_s[threadIdx.z][threadIdx.y][threadIdx.x] = in[i * N * N + j * N + k];
  __syncthreads();
  if (i >= 1 && i < N - 1 && j >= 1 && j < N - 1 && k >= 1 && k < N - 1) {
    if (threadIdx.z >= 1 && threadIdx.z < IN_TILE_DIM - 1 && threadIdx.y >= 1 && threadIdx.y < IN_TILE_DIM - 1 && threadIdx.x >= 1 && threadIdx.x < IN_TILE_DIM - 1) {
      out[i * N * N + j * N + k] = 0.5f * in_s[threadIdx.z][threadIdx.y][threadIdx.x] + 0.1f * in_s[threadIdx.z][threadIdx.y][threadIdx.x - 1] +
                                   0.1f * in_s[threadIdx.z][threadIdx.y][threadIdx.x + 1] + 0.1f * in_s[threadIdx.z][threadIdx.y - 1][threadIdx.x] +
                                   0.1f * in_s[threadIdx.z][threadIdx.y + 1][threadIdx.x] + 0.1f * in_s[threadIdx.z - 1][threadIdx.y][threadIdx.x] +
                                   0.1f * in_s[threadIdx.z + 1][threadIdx.y][threadIdx.x];
    }
  }
}

// 5. PMPP thread coarsening in z with inPrev, inCurr_s, inNext
#define IT 32
#define OT 30
__global__ void stencil_coarsened(float *in, float *out, unsigned int N) {
  int iStart = blockIdx.z * OT;
  int j = blockIdx.y * OT + threadIdx.y - 1;
  int k = blockIdx.x * OT + threadIdx.x - 1;
  float inPrev;
  __shared__ float inCurr_s[IT][IT];
  float inNext;
  if (iStart - 1 >= 0 && iStart - 1 < N && j >= 0 && j < N && k >= 0 && k < N) inPrev = in[(iStart - 1) * N * N + j * N + k];
  if (iStart >= 0 && iStart < N && j >= 0 && j < N && k >= 0 && k < N) inCurr_s[threadIdx.y][threadIdx.x] = in[iStart * N * N + j * N + k];
  for (int i = iStart; i < iStart + OT; ++i) {
    if (i + 1 >= 0 && i + 1 < N && j >= 0 && j < N && k >= 0 && k < N) inNext = in[(i + 1) * N * N + j * N + k];
    __syncthreads();
    if (i >= 1 && i < N - 1 && j >= 1 && j < N - 1 && k >= 1 && k < N - 1) {
      if (threadIdx.y >= 1 && threadIdx.y < IT - 1 && threadIdx.x >= 1 && threadIdx.x < IT - 1) {
        out[i * N * N + j * N + k] = 0.4f * inCurr_s[threadIdx.y][threadIdx.x] + 0.1f * inCurr_s[threadIdx.y][threadIdx.x - 1] + 0.1f * inCurr_s[threadIdx.y][threadIdx.x + 1] +
                                     0.1f * inCurr_s[threadIdx.y + 1][threadIdx.x] + 0.1f * inCurr_s[threadIdx.y - 1][threadIdx.x] + 0.1f * inPrev + 0.1f * inNext;
      }
    }
    __syncthreads();
    inPrev = inCurr_s[threadIdx.y][threadIdx.x];
    inCurr_s[threadIdx.y][threadIdx.x] = inNext;
  }
}

// 6. seismic leap frog 2D, two time levels, 8th order
__constant__ float fd[5];
__global__ void wave2d(const float *p0, float *p1, const float *vel, int nx, int ny, float dt2) {
  __shared__ float s[16 + 8][32 + 8];
  int ix = blockIdx.x * 32 + threadIdx.x + 4, iy = blockIdx.y * 16 + threadIdx.y + 4;
  int tx = threadIdx.x + 4, ty = threadIdx.y + 4;
  int id = iy * nx + ix;
  s[ty][tx] = p0[id];
  if (threadIdx.x < 4) { s[ty][tx - 4] = p0[id - 4]; s[ty][tx + 32] = p0[id + 32]; }
  if (threadIdx.y < 4) { s[ty - 4][tx] = p0[id - 4 * nx]; s[ty + 16][tx] = p0[id + 16 * nx]; }
  __syncthreads();
  float lap = 2.f * fd[0] * s[ty][tx];
#pragma unroll
  for (int k = 1; k <= 4; ++k) lap += fd[k] * (s[ty][tx - k] + s[ty][tx + k] + s[ty - k][tx] + s[ty + k][tx]);
  p1[id] = 2.f * s[ty][tx] - p1[id] + vel[id] * dt2 * lap;
}

// 7. 1-D convolution of rows with blockDim.x and float4 output staging
__global__ void blurRow(const float4 *src, float4 *dst, int w, int h) {
  __shared__ float4 row[128 + 4];
  int y = blockIdx.y, x = blockIdx.x * 128 + threadIdx.x;
  const float4 *line = src + y * w;
  row[threadIdx.x + 2] = x < w ? line[x] : make_float4(0, 0, 0, 0);
  if (threadIdx.x < 2) {
    row[threadIdx.x] = x >= 2 ? line[x - 2] : make_float4(0, 0, 0, 0);
    row[threadIdx.x + 130] = x + 128 < w ? line[x + 128] : make_float4(0, 0, 0, 0);
  }
  __syncthreads();
  if (x >= w) return;
  float4 a = make_float4(0, 0, 0, 0);
  const float k[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
#pragma unroll
  for (int i = 0; i < 5; ++i) {
    float4 v = row[threadIdx.x + i];
    a.x += k[i] * v.x; a.y += k[i] * v.y; a.z += k[i] * v.z; a.w += k[i] * v.w;
  }
  dst[y * w + x] = a;
}

// 8. Canny non-max suppression using shared magnitudes computed from global
__global__ void nonMax(const short *gx, const short *gy, unsigned char *out, int w, int h) {
  __shared__ int mag[18][18];
  int bx = blockIdx.x * 16 - 1, by = blockIdx.y * 16 - 1;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 324; i += 256) {
    int x = bx + i % 18, y = by + i / 18;
    int m = 0;
    if (x >= 0 && x < w && y >= 0 && y < h) m = abs(gx[y * w + x]) + abs(gy[y * w + x]);
    mag[i / 18][i % 18] = m;
  }
  __syncthreads();
  int x = bx + 1 + threadIdx.x, y = by + 1 + threadIdx.y;
  if (x >= w || y >= h) return;
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  int dx = gx[y * w + x], dy = gy[y * w + x], m = mag[ly][lx];
  int a, b;
  if (abs(dx) > 2 * abs(dy)) { a = mag[ly][lx - 1]; b = mag[ly][lx + 1]; }
  else if (abs(dy) > 2 * abs(dx)) { a = mag[ly - 1][lx]; b = mag[ly + 1][lx]; }
  else if ((dx ^ dy) >= 0) { a = mag[ly - 1][lx - 1]; b = mag[ly + 1][lx + 1]; }
  else { a = mag[ly - 1][lx + 1]; b = mag[ly + 1][lx - 1]; }
  out[y * w + x] = (m > a && m >= b) ? 255 : 0;
}

template <class T> T *mk(size_t n) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  float *q = (float *)h;
  if (sizeof(T) >= 4) for (size_t i = 0; i < n * (sizeof(T) / 4); ++i) q[i] = (float)((i * 7919u) % 251);
  else for (size_t i = 0; i < n * sizeof(T); ++i) ((unsigned char *)h)[i] = (i * 7919u) % 251;
  cudaSafe(cudaMalloc(&d, n * sizeof(T)));
  cudaSafe(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  int N = argc > 1 ? atoi(argv[1]) : 256;
  int w = argc > 2 ? atoi(argv[2]) : 1920, h = argc > 3 ? atoi(argv[3]) : 1080;
  size_t vol = (size_t)(N + 16) * (N + 32) * (N + 16);
  float *a = mk<float>(vol), *b = mk<float>(vol);
  dim3 blk(32, 4), grd((N + 31) / 32, (N + 3) / 4);
  block2D_hybrid<<<grd, blk, 32 * 4 * sizeof(float)>>>(1.f / 6, 1.f / 36, a, b, N, N, N);
  float hs[5] = {0.2f, 0.1f, 0.05f, 0.02f, 0.01f};
  cudaSafe(cudaMemcpyToSymbol(stencil, hs, sizeof hs));
  cudaSafe(cudaMemcpyToSymbol(fd, hs, sizeof hs));
  FiniteDifferences<<<dim3((N + BX - 1) / BX, (N + BY - 1) / BY), dim3(BX, BY)>>>(b, a, N, N, N, 0);
  int g8 = (N + 7) / 8;
  stencil27<<<dim3(g8, g8, g8), dim3(8, 8, 8)>>>(a, b, N);
  int g6 = (N + OUT_TILE_DIM - 1) / OUT_TILE_DIM;
  stencil_kernel<<<dim3(g6, g6, g6), dim3(8, 8, 8)>>>(a, b, N);
  int g30 = (N + OT - 1) / OT;
  stencil_coarsened<<<dim3(g30, g30, g30), dim3(32, 32, 1)>>>(a, b, N);
  int W = (w + 31) / 32 * 32 + 8, H = (h + 15) / 16 * 16 + 8;
  float *p0 = mk<float>(W * H), *p1 = mk<float>(W * H), *vel = mk<float>(W * H);
  for (int t = 0; t < 2; ++t) {
    wave2d<<<dim3((W - 8) / 32, (H - 8) / 16), dim3(32, 16)>>>(p0, p1, vel, W, H, 1e-6f);
    float *x = p0; p0 = p1; p1 = x;
  }
  float4 *q = mk<float4>(w * h), *r = mk<float4>(w * h);
  blurRow<<<dim3((w + 127) / 128, h), 128>>>(q, r, w, h);
  short *gx = mk<short>(w * h), *gy = mk<short>(w * h);
  unsigned char *o = mk<unsigned char>(w * h);
  nonMax<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(gx, gy, o, w, h);
  cudaSafe(cudaGetLastError());
  cudaSafe(cudaDeviceSynchronize());
  return 0;
}
