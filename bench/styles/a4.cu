// more reductions: student code, Rodinia / SHOC like, y direction, segments
#include <iostream>
#include <vector>
#include <cuda_runtime.h>
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true) {
  if (code != cudaSuccess) { fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line); if (abort) exit(code); }
}

// 1. SHOC-like: dynamic shared, volatile warp part with template
template <class T, int blockSize>
__global__ void reduceShoc(const T *__restrict__ g_idata, T *__restrict__ g_odata, const unsigned int n) {
  const unsigned int tid = threadIdx.x;
  unsigned int i = (blockIdx.x * (blockDim.x * 2)) + tid;
  const unsigned int gridSize = blockDim.x * 2 * gridDim.x;
  __shared__ volatile T sdata[blockSize];
  sdata[tid] = 0.0f;
  while (i < n) {
    sdata[tid] += g_idata[i] + g_idata[i + blockSize];
    i += gridSize;
  }
  __syncthreads();
  if (blockSize >= 256) { if (tid < 128) { sdata[tid] += sdata[tid + 128]; } __syncthreads(); }
  if (blockSize >= 128) { if (tid < 64) { sdata[tid] += sdata[tid + 64]; } __syncthreads(); }
  if (tid < 32) {
    if (blockSize >= 64) sdata[tid] += sdata[tid + 32];
    if (blockSize >= 32) sdata[tid] += sdata[tid + 16];
    if (blockSize >= 16) sdata[tid] += sdata[tid + 8];
    if (blockSize >= 8) sdata[tid] += sdata[tid + 4];
    if (blockSize >= 4) sdata[tid] += sdata[tid + 2];
    if (blockSize >= 2) sdata[tid] += sdata[tid + 1];
  }
  if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// 2. Harris' reduce1 "interleaved" with blockDim loop and constant launch, one element a thread
__global__ void reduce1(int *g_idata, int *g_odata) {
  extern __shared__ int sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = g_idata[i];
  __syncthreads();
  for (unsigned int s = 1; s < blockDim.x; s *= 2) {
    int index = 2 * s * tid;
    if (index < blockDim.x) sdata[index] += sdata[index + s];
    __syncthreads();
  }
  if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// 3. column sums: block 32x8, tree along y
__global__ void colSums(const float *m, float *out, int rows, int cols) {
  __shared__ float s[8][32];
  int c = blockIdx.x * 32 + threadIdx.x;
  float acc = 0.f;
  if (c < cols)
    for (int r = blockIdx.y * 64 + threadIdx.y; r < min(rows, (int)(blockIdx.y + 1) * 64); r += 8) acc += m[r * cols + c];
  s[threadIdx.y][threadIdx.x] = acc;
  __syncthreads();
  for (int k = 4; k > 0; k >>= 1) {
    if (threadIdx.y < k) s[threadIdx.y][threadIdx.x] += s[threadIdx.y + k][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y == 0 && c < cols) out[blockIdx.y * cols + c] = s[0][threadIdx.x];
}

// 4. row per threadIdx.y: several trees in one block (32x8), each of one warp wide
__global__ void rowNorm(const float *m, float *norms, int rows, int cols) {
  __shared__ float tile[8][32];
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  float s = 0.f;
  if (row < rows)
    for (int c = threadIdx.x; c < cols; c += 32) { float v = m[row * cols + c]; s += v * v; }
  tile[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  for (int k = 16; k > 0; k /= 2) {
    if (threadIdx.x < k) tile[threadIdx.y][threadIdx.x] += tile[threadIdx.y][threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0 && row < rows) norms[row] = sqrtf(tile[threadIdx.y][0]);
}

// 5. Rodinia-backprop-like layer forward: tree along y with power of two arithmetic
#define HEIGHT 16
#define WIDTH 16
__global__ void layerforward(float *input_cuda, float *input_hidden_cuda, float *hidden_partial_sum, int in, int hid) {
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;
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

// 6. SRAD-like reduce with sums of two arrays, block 512, variable named dimension, only full blocks
#define NUMBER_THREADS 512
__global__ void sradReduce(long d_Ne, float *d_I, float *d_sums, float *d_sums2) {
  int bx = blockIdx.x, tx = threadIdx.x;
  int ei = bx * NUMBER_THREADS + tx;
  __shared__ float d_psum[NUMBER_THREADS];
  __shared__ float d_psum2[NUMBER_THREADS];
  int i;
  if (ei < d_Ne) {
    d_psum[tx] = d_I[ei];
    d_psum2[tx] = d_I[ei] * d_I[ei];
  } else {
    d_psum[tx] = 0;
    d_psum2[tx] = 0;
  }
  __syncthreads();
  for (i = 2; i <= NUMBER_THREADS; i = 2 * i) {
    if ((tx + 1) % i == 0) {
      d_psum[tx] = d_psum[tx] + d_psum[tx - i / 2];
      d_psum2[tx] = d_psum2[tx] + d_psum2[tx - i / 2];
    }
    __syncthreads();
  }
  if (tx == (NUMBER_THREADS - 1)) {
    d_sums[bx] = d_psum[tx];
    d_sums2[bx] = d_psum2[tx];
  }
}

template <typename T> T *alloc(size_t n) {
  std::vector<T> h(n);
  for (size_t i = 0; i < n; ++i) h[i] = T((i * 37) % 211);
  T *d;
  gpuErrchk(cudaMalloc((void **)&d, n * sizeof(T)));
  gpuErrchk(cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 24;
  float *f = alloc<float>(n + 4096 + 1000 * 17), *o = alloc<float>(n), *o2 = alloc<float>(n);
  int *ii = alloc<int>(n), *oi = alloc<int>(n);
  reduceShoc<float, 256><<<16, 256>>>(f, o, n);
  reduce1<<<n / 128, 128, 128 * sizeof(int)>>>(ii, oi);
  int cols = 256, rows = n / cols;
  dim3 blk(32, 8);
  colSums<<<dim3((cols + 31) / 32, (rows + 63) / 64), blk>>>(f, o, rows, cols);
  rowNorm<<<(rows + 7) / 8, blk>>>(f, o, rows, cols);
  int in = (n - 64) / 17 / 16 * 16;
  dim3 grid(1, in / 16), threads(16, 16);
  layerforward<<<grid, threads>>>(f, f + 64, o, in, 16);
  sradReduce<<<(n + NUMBER_THREADS - 1) / NUMBER_THREADS, NUMBER_THREADS>>>(n, f, o, o2);
  gpuErrchk(cudaPeekAtLastError());
  gpuErrchk(cudaDeviceSynchronize());
  return 0;
}
