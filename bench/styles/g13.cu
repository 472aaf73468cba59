// course assignments
#include "shown.h"

#define RADIUS 3
#define BLOCK_SIZE 256
__global__ void stencil_1d(int *in, int *out) {
  __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
  int gindex = threadIdx.x + blockIdx.x * blockDim.x + RADIUS;
  int lindex = threadIdx.x + RADIUS;
  temp[lindex] = in[gindex];
  if (threadIdx.x < RADIUS) {
    temp[lindex - RADIUS] = in[gindex - RADIUS];
    temp[lindex + BLOCK_SIZE] = in[gindex + BLOCK_SIZE];
  }
  __syncthreads();
  int result = 0;
  for (int offset = -RADIUS; offset <= RADIUS; offset++) result += temp[lindex + offset];
  out[gindex - RADIUS] = result;
}

const int threadsPerBlock = 256;
__global__ void dot(float *a, float *b, float *c, int N) {
  __shared__ float cache[threadsPerBlock];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < N) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0) c[blockIdx.x] = cache[0];
}

__global__ void dynamicReverse(int *d, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  int tr = n - t - 1;
  d += (size_t)blockIdx.x * n;
  s[t] = d[t];
  __syncthreads();
  d[t] = s[tr];
}

#define TILE_WIDTH 32
__global__ void MatrixMulKernel(float *M, float *N, float *P, int Width) {
  __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
  __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int Row = by * TILE_WIDTH + ty;
  int Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;
  for (int ph = 0; ph < Width / TILE_WIDTH; ++ph) {
    Mds[ty][tx] = M[Row * Width + ph * TILE_WIDTH + tx];
    Nds[ty][tx] = N[(ph * TILE_WIDTH + ty) * Width + Col];
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k) Pvalue += Mds[ty][k] * Nds[k][tx];
    __syncthreads();
  }
  P[Row * Width + Col] = Pvalue;
}

// overlapping tiles: each block computes the inner (BX-2) x (BY-2) cells
#define GOL_X 32
#define GOL_Y 16
__global__ void GOL(const int *grid, int *newGrid, int dim) {
  int iy = (blockDim.y - 2) * blockIdx.y + threadIdx.y;
  int ix = (blockDim.x - 2) * blockIdx.x + threadIdx.x;
  int id = iy * (dim + 2) + ix;
  int i = threadIdx.y;
  int j = threadIdx.x;
  int numNeighbors;
  __shared__ int s_grid[GOL_Y][GOL_X];
  if (ix <= dim + 1 && iy <= dim + 1) s_grid[i][j] = grid[id] & 1;
  __syncthreads();
  if (iy <= dim && ix <= dim) {
    if (i != 0 && i != blockDim.y - 1 && j != 0 && j != blockDim.x - 1) {
      numNeighbors = s_grid[i + 1][j] + s_grid[i - 1][j] + s_grid[i][j + 1] + s_grid[i][j - 1] + s_grid[i + 1][j + 1] +
                     s_grid[i - 1][j - 1] + s_grid[i - 1][j + 1] + s_grid[i + 1][j - 1];
      int cell = s_grid[i][j];
      if (cell == 1 && numNeighbors < 2) newGrid[id] = 0;
      else if (cell == 1 && (numNeighbors == 2 || numNeighbors == 3)) newGrid[id] = 1;
      else if (cell == 1 && numNeighbors > 3) newGrid[id] = 0;
      else if (cell == 0 && numNeighbors == 3) newGrid[id] = 1;
      else newGrid[id] = cell;
    }
  }
}

__global__ void Kogge_Stone_scan_kernel(float *X, float *Y, unsigned int N) {
  __shared__ float XY[512];
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) XY[threadIdx.x] = X[i];
  else XY[threadIdx.x] = 0.0f;
  for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    float temp;
    if (threadIdx.x >= stride) temp = XY[threadIdx.x] + XY[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride) XY[threadIdx.x] = temp;
  }
  if (i < N) Y[i] = XY[threadIdx.x];
}

__constant__ float Mask[5][5];
#define IN_TILE 32
#define OUT_TILE (IN_TILE - 4)
__global__ void convolution_tiled_2D_const_mem(float *N, float *P, int width, int height) {
  int col = blockIdx.x * OUT_TILE + threadIdx.x - 2;
  int row = blockIdx.y * OUT_TILE + threadIdx.y - 2;
  __shared__ float N_s[IN_TILE][IN_TILE];
  if (row >= 0 && row < height && col >= 0 && col < width) {
    N_s[threadIdx.y][threadIdx.x] = N[row * width + col];
  } else {
    N_s[threadIdx.y][threadIdx.x] = 0.0;
  }
  __syncthreads();
  int tileCol = threadIdx.x - 2;
  int tileRow = threadIdx.y - 2;
  if (col >= 0 && col < width && row >= 0 && row < height) {
    if (tileCol >= 0 && tileCol < OUT_TILE && tileRow >= 0 && tileRow < OUT_TILE) {
      float Pvalue = 0.0f;
      for (int fRow = 0; fRow < 5; fRow++)
        for (int fCol = 0; fCol < 5; fCol++) Pvalue += Mask[fRow][fCol] * N_s[tileRow + fRow][tileCol + fCol];
      P[row * width + col] = Pvalue;
    }
  }
}

int main() {
  {
    const int N = 1 << 23;
    int *in = mk<int>(N + 2 * RADIUS), *out = mk<int>(N);
    stencil_1d<<<N / BLOCK_SIZE, BLOCK_SIZE>>>(in, out);
    show("stencil_1d", out, (size_t)N * sizeof(int));
    dynamicReverse<<<N / 64, 64, 64 * sizeof(int)>>>(in, 64);
    show("dynamicReverse", in, (size_t)N * sizeof(int));
  }
  {
    const int N = 33 * 1024 * 128, blocksPerGrid = 512;
    float *a = mk<float>(N), *b = mk<float>(N), *c = mk<float>(blocksPerGrid);
    dot<<<blocksPerGrid, threadsPerBlock>>>(a, b, c, N);
    show("dot", c, blocksPerGrid * sizeof(float));
    Kogge_Stone_scan_kernel<<<(N + 511) / 512, 512>>>(a, b, N);
    show("Kogge_Stone_scan_kernel", b, (size_t)N * sizeof(float));
  }
  {
    const int Width = 1024;
    float *M = mk<float>(Width * Width), *N = mk<float>(Width * Width), *P = mk<float>(Width * Width);
    dim3 dimGrid(Width / TILE_WIDTH, Width / TILE_WIDTH, 1), dimBlock(TILE_WIDTH, TILE_WIDTH, 1);
    MatrixMulKernel<<<dimGrid, dimBlock>>>(M, N, P, Width);
    show("MatrixMulKernel", P, Width * Width * sizeof(float));
  }
  {
    const int dim = 2048;
    size_t bytes = sizeof(int) * (dim + 2) * (dim + 2);
    int *g = mk<int>((dim + 2) * (dim + 2)), *h = mk<int>((dim + 2) * (dim + 2));
    dim3 blockSize(GOL_X, GOL_Y);
    dim3 gridSize((dim + GOL_X - 3) / (GOL_X - 2), (dim + GOL_Y - 3) / (GOL_Y - 2));
    for (int it = 0; it < 5; ++it) {
      GOL<<<gridSize, blockSize>>>(g, h, dim);
      int *t = g;
      g = h;
      h = t;
    }
    show("GOL", g, bytes);
  }
  {
    const int width = 2048, height = 2000;
    float m[25];
    for (int i = 0; i < 25; ++i) m[i] = (float)(i % 7) / 16.f;
    cudaMemcpyToSymbol(Mask, m, sizeof(m));
    float *N = mk<float>(width * height), *P = mk<float>(width * height);
    dim3 block(IN_TILE, IN_TILE), grid((width + OUT_TILE - 1) / OUT_TILE, (height + OUT_TILE - 1) / OUT_TILE);
    convolution_tiled_2D_const_mem<<<grid, block>>>(N, P, width, height);
    show("convolution_tiled_2D_const_mem", P, (size_t)width * height * sizeof(float));
  }
  return 0;
}
