// neural network layers
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <random>
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CUDA_CHECK(condition)                                             \
  do {                                                                    \
    cudaError_t error = condition;                                        \
    if (error != cudaSuccess) {                                           \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

// embedding bag, sum mode: indices of the bag go to shared memory first
__global__ void embedding_bag_sum(const float *__restrict__ table, const int *__restrict__ idx, const int *__restrict__ offs, float *out, int dim) {
  __shared__ int ids[64];
  int bag = blockIdx.x;
  int beg = offs[bag], end = offs[bag + 1];
  float acc = 0.f;
  for (int s = beg; s < end; s += 64) {
    int m = min(64, end - s);
    if (threadIdx.x < m) ids[threadIdx.x] = idx[s + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < m; k++) acc += table[(size_t)ids[k] * dim + threadIdx.x];
    __syncthreads();
  }
  out[(size_t)bag * dim + threadIdx.x] = acc;
}

// attention, one pass with running max (flash style), 32 queries per block, head dim 32
#define Br 32
#define HD 32
__global__ void attn_tile_forward(const float *Q, const float *K, const float *V, float *O, int N, float scale) {
  __shared__ float Kj[Br][HD], Vj[Br][HD], S[Br][Br + 1];
  __shared__ float Qi[Br][HD + 1];
  int tx = threadIdx.x;
  size_t base = ((size_t)blockIdx.y) * N * HD;
  int q = blockIdx.x * Br + tx;
  for (int x = 0; x < HD; x++) Qi[tx][x] = Q[base + (size_t)q * HD + x];
  float m = -INFINITY, l = 0.f;
  float o[HD];
  for (int x = 0; x < HD; x++) o[x] = 0.f;
  for (int j = 0; j < N; j += Br) {
    for (int r = 0; r < Br; r++) {
      Kj[r][tx] = K[base + (size_t)(j + r) * HD + tx];
      Vj[r][tx] = V[base + (size_t)(j + r) * HD + tx];
    }
    __syncthreads();
    float mn = m;
    for (int y = 0; y < Br; y++) {
      float sum = 0;
      for (int x = 0; x < HD; x++) sum += Qi[tx][x] * Kj[y][x];
      sum *= scale;
      S[tx][y] = sum;
      mn = fmaxf(mn, sum);
    }
    float corr = __expf(m - mn);
    l *= corr;
    for (int x = 0; x < HD; x++) o[x] *= corr;
    for (int y = 0; y < Br; y++) {
      float p = __expf(S[tx][y] - mn);
      l += p;
      for (int x = 0; x < HD; x++) o[x] += p * Vj[y][x];
    }
    m = mn;
    __syncthreads();
  }
  for (int x = 0; x < HD; x++) O[base + (size_t)q * HD + x] = o[x] / l;
}

// depthwise 5x5, weights and image staged
#define DW_K 5
__global__ void depthwise5x5(const float *in, const float *w, float *out, int C, int H, int W) {
  __shared__ float tile[8 + DW_K - 1][32 + DW_K - 1];
  __shared__ float ws[DW_K * DW_K];
  int c = blockIdx.z % C;
  int tid = threadIdx.y * 32 + threadIdx.x;
  if (tid < DW_K * DW_K) ws[tid] = w[c * DW_K * DW_K + tid];
  const float *src = in + (size_t)blockIdx.z * H * W;
  for (int i = tid; i < (8 + DW_K - 1) * (32 + DW_K - 1); i += 256) {
    int ly = i / (32 + DW_K - 1), lx = i % (32 + DW_K - 1);
    int gy = blockIdx.y * 8 + ly - DW_K / 2, gx = blockIdx.x * 32 + lx - DW_K / 2;
    float v = 0;
    if (gy >= 0 && gy < H && gx >= 0 && gx < W) v = src[gy * W + gx];
    tile[ly][lx] = v;
  }
  __syncthreads();
  int y = blockIdx.y * 8 + threadIdx.y, x = blockIdx.x * 32 + threadIdx.x;
  if (y < H && x < W) {
    float s = 0;
#pragma unroll
    for (int i = 0; i < DW_K; i++)
#pragma unroll
      for (int j = 0; j < DW_K; j++) s += tile[threadIdx.y + i][threadIdx.x + j] * ws[i * DW_K + j];
    out[((size_t)blockIdx.z * H + y) * W + x] = s;
  }
}

// convolution as a product with implicit im2col: rows = output channels, cols = pixels, depth = Cin*3*3
#define T 16
__global__ void conv_im2col_gemm(const float *x, const float *w, float *y, int Cin, int Cout, int H, int W) {
  __shared__ float sw[T][T], sx[T][T];
  int Ho = H - 2, Wo = W - 2, depth = Cin * 9;
  int oc = blockIdx.y * T + threadIdx.y, pix = blockIdx.x * T + threadIdx.x;
  int oh = pix / Wo, ow = pix % Wo;
  const float *xb = x + (size_t)blockIdx.z * Cin * H * W;
  float acc = 0.f;
  for (int d0 = 0; d0 < depth; d0 += T) {
    int dw = d0 + threadIdx.x, dx = d0 + threadIdx.y;
    sw[threadIdx.y][threadIdx.x] = (oc < Cout && dw < depth) ? w[oc * depth + dw] : 0.f;
    float v = 0.f;
    if (pix < Ho * Wo && dx < depth) {
      int c = dx / 9, k = dx % 9;
      v = xb[(c * H + oh + k / 3) * W + ow + k % 3];
    }
    sx[threadIdx.y][threadIdx.x] = v;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T; k++) acc += sw[threadIdx.y][k] * sx[k][threadIdx.x];
    __syncthreads();
  }
  if (oc < Cout && pix < Ho * Wo) y[((size_t)blockIdx.z * Cout + oc) * Ho * Wo + pix] = acc;
}

float *tensor(size_t n, int seed) {
  float *h = new float[n], *d;
  std::minstd_rand g(seed);
  for (size_t i = 0; i < n; i++) h[i] = (float)(g() % 2001) * 0.001f - 1.f;
  CUDA_CHECK(cudaMalloc(&d, n * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice));
  delete[] h;
  return d;
}
int main() {
  int N = 8, C = 64, H = 113, W = 113;
  size_t sz = (size_t)N * C * H * W;
  float *x = tensor(sz, 1), *y = tensor(sz, 2), *st = tensor(2 * C, 3), *w = tensor(128 * 64 * 9, 4);
  depthwise5x5<<<dim3((W + 31) / 32, (H + 7) / 8, N * C), dim3(32, 8)>>>(x, w, y, C, H, W);
  int h2 = 58, cin = 64, cout = 100;
  conv_im2col_gemm<<<dim3((56 * 56 + T - 1) / T, (cout + T - 1) / T, 4), dim3(T, T)>>>(x, w, y, cin, cout, h2, h2);
  CUDA_CHECK(cudaGetLastError());
  int bags = 10000, vocab = 50000, dim = 64;
  int *hi = new int[bags * 90], *ho = new int[bags + 1], tot = 0;
  std::minstd_rand g(5);
  for (int b = 0; b < bags; b++) {
    ho[b] = tot;
    int len = g() % 90;
    for (int k = 0; k < len; k++) hi[tot++] = g() % vocab;
  }
  ho[bags] = tot;
  int *di, *dofs;
  CUDA_CHECK(cudaMalloc(&di, tot * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&dofs, (bags + 1) * sizeof(int)));
  CUDA_CHECK(cudaMemcpy(di, hi, tot * sizeof(int), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(dofs, ho, (bags + 1) * sizeof(int), cudaMemcpyHostToDevice));
  embedding_bag_sum<<<bags, dim>>>(x, di, dofs, y, dim);
  CUDA_CHECK(cudaGetLastError());
  int L = 1024, heads = 48;
  attn_tile_forward<<<dim3(L / Br, heads), Br>>>(x, x + heads * L * HD, x + 2 * heads * L * HD, y, L, 1.f / sqrtf(HD));
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
