#include "shown.h"
#include <cuda_fp16.h>

// minimal flash attention
__global__ void flash_fwd_minimal(const float *Q, const float *K, const float *V, const int N, const int d, const int Tc, const int Tr, const int Bc, const int Br,
                                  const float softmax_scale, float *l, float *m, float *O) {
  int tx = threadIdx.x;
  int bx = blockIdx.x;
  int by = blockIdx.y;
  int qkv_offset = (bx * gridDim.y * N * d) + (by * N * d);
  int lm_offset = (bx * gridDim.y * N) + (by * N);
  extern __shared__ float sram[];
  int tile_size = Bc * d;
  float *Qi = sram;
  float *Kj = &sram[tile_size];
  float *Vj = &sram[tile_size * 2];
  float *S = &sram[tile_size * 3];
  for (int j = 0; j < Tc; j++) {
    for (int x = 0; x < d; x++) {
      Kj[(tx * d) + x] = K[qkv_offset + (tile_size * j) + (tx * d) + x];
      Vj[(tx * d) + x] = V[qkv_offset + (tile_size * j) + (tx * d) + x];
    }
    __syncthreads();
    for (int i = 0; i < Tr; i++) {
      for (int x = 0; x < d; x++) Qi[(tx * d) + x] = Q[qkv_offset + (tile_size * i) + (tx * d) + x];
      float row_m_prev = m[lm_offset + (Br * i) + tx];
      float row_l_prev = l[lm_offset + (Br * i) + tx];
      float row_m = -INFINITY;
      for (int y = 0; y < Bc; y++) {
        float sum = 0;
        for (int x = 0; x < d; x++) sum += Qi[(tx * d) + x] * Kj[(y * d) + x];
        sum *= softmax_scale;
        S[(Bc * tx) + y] = sum;
        if (sum > row_m) row_m = sum;
      }
      float row_l = 0;
      for (int y = 0; y < Bc; y++) {
        S[(Bc * tx) + y] = __expf(S[(Bc * tx) + y] - row_m);
        row_l += S[(Bc * tx) + y];
      }
      float row_m_new = max(row_m_prev, row_m);
      float row_l_new = (__expf(row_m_prev - row_m_new) * row_l_prev) + (__expf(row_m - row_m_new) * row_l);
      for (int x = 0; x < d; x++) {
        float pv = 0;
        for (int y = 0; y < Bc; y++) pv += S[(Bc * tx) + y] * Vj[(y * d) + x];
        O[qkv_offset + (tile_size * i) + (tx * d) + x] =
            (1 / row_l_new) * ((row_l_prev * __expf(row_m_prev - row_m_new) * O[qkv_offset + (tile_size * i) + (tx * d) + x]) + (__expf(row_m - row_m_new) * pv));
      }
      m[lm_offset + (Br * i) + tx] = row_m_new;
      l[lm_offset + (Br * i) + tx] = row_l_new;
    }
    __syncthreads();
  }
}

// maxpool 2x2 stride 2 with a shared input tile
__global__ void maxpool_tile(const float *in, float *out, int H, int W, int OH, int OW) {
  __shared__ float t[2 * 8][2 * 16];
  const float *src = in + (size_t)blockIdx.z * H * W;
  int y0 = blockIdx.y * 16, x0 = blockIdx.x * 32;
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < 2; c++) {
      int ly = threadIdx.y + r * 8, lx = threadIdx.x + c * 16;
      int gy = y0 + ly, gx = x0 + lx;
      t[ly][lx] = (gy < H && gx < W) ? src[gy * W + gx] : -1e30f;
    }
  __syncthreads();
  int oy = blockIdx.y * 8 + threadIdx.y, ox = blockIdx.x * 16 + threadIdx.x;
  if (oy >= OH || ox >= OW) return;
  float a = fmaxf(t[2 * threadIdx.y][2 * threadIdx.x], t[2 * threadIdx.y][2 * threadIdx.x + 1]);
  float b = fmaxf(t[2 * threadIdx.y + 1][2 * threadIdx.x], t[2 * threadIdx.y + 1][2 * threadIdx.x + 1]);
  out[((size_t)blockIdx.z * OH + oy) * OW + ox] = fmaxf(a, b);
}

// bag-of-embeddings: indices staged in shared
__global__ void embedding_bag_sum(const float *table, const int *indices, const int *offsets, float *out, int dim, int vocab) {
  __shared__ int ids[64];
  int bag = blockIdx.x;
  int beg = offsets[bag], end = offsets[bag + 1];
  float acc[2] = {0.f, 0.f};
  for (int s = beg; s < end; s += 64) {
    int cnt = min(64, end - s);
    __syncthreads();
    if (threadIdx.x < cnt) ids[threadIdx.x] = indices[s + threadIdx.x] % vocab;
    __syncthreads();
    for (int k = 0; k < cnt; k++) {
      const float *row = table + (size_t)ids[k] * dim;
      if (threadIdx.x < dim) acc[0] += row[threadIdx.x];
      if (threadIdx.x + blockDim.x < dim) acc[1] += row[threadIdx.x + blockDim.x];
    }
  }
  if (threadIdx.x < dim) out[(size_t)bag * dim + threadIdx.x] = acc[0];
  if (threadIdx.x + blockDim.x < dim) out[(size_t)bag * dim + threadIdx.x + blockDim.x] = acc[1];
}

// rmsnorm on half with row cached in shared
template <int BLOCK>
__global__ void rmsnorm_cached(__half *dst, const __half *src, const float *g, int cols, float eps) {
  extern __shared__ float row[];
  __shared__ float part[BLOCK / 32];
  const __half *x = src + (size_t)blockIdx.x * cols;
  float ss = 0;
  for (int i = threadIdx.x; i < cols; i += BLOCK) {
    float v = __half2float(x[i]);
    row[i] = v;
    ss += v * v;
  }
#pragma unroll
  for (int m = 16; m; m >>= 1) ss += __shfl_xor_sync(~0u, ss, m);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = ss;
  __syncthreads();
  float tot = 0;
#pragma unroll
  for (int k = 0; k < BLOCK / 32; k++) tot += part[k];
  float sc = rsqrtf(tot / cols + eps);
  for (int i = threadIdx.x; i < cols; i += BLOCK) dst[(size_t)blockIdx.x * cols + i] = __float2half(row[i] * sc * g[i]);
}

// bias gradient: column sums of (rows x OC) matrix, 32x32 block
__global__ void matmul_backward_bias_2d(float *dbias, const float *dout, int rows, int OC) {
  __shared__ float sm[32][33];
  int col = blockIdx.x * 32 + threadIdx.x;
  float s = 0.f;
  if (col < OC)
    for (int r = threadIdx.y; r < rows; r += 32) s += dout[(size_t)r * OC + col];
  sm[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  float v = sm[threadIdx.x][threadIdx.y];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
  int oc = blockIdx.x * 32 + threadIdx.y;
  if (threadIdx.x == 0 && oc < OC) dbias[oc] += v;
}

int main() {
  {
    int B = 8, H = 12, N = 128, d = 64, Bc = 32, Br = 32;
    size_t n = (size_t)B * H * N * d;
    float *Q = mk<float>(n), *K = mk<float>(n), *V = mk<float>(n), *O, *l, *m, *hm = (float *)malloc(B * H * N * 4);
    cudaMalloc(&O, n * 4); cudaMalloc(&l, B * H * N * 4); cudaMalloc(&m, B * H * N * 4);
    cudaMemset(O, 0, n * 4); cudaMemset(l, 0, B * H * N * 4);
    for (int i = 0; i < B * H * N; i++) hm[i] = -INFINITY;
    cudaMemcpy(m, hm, B * H * N * 4, cudaMemcpyHostToDevice);
    flash_fwd_minimal<<<dim3(B, H), Bc, (3 * Bc * d + Bc * Br) * 4>>>(Q, K, V, N, d, N / Bc, N / Br, Bc, Br, 0.01f, l, m, O);
    show("flash_fwd_minimal", O, n * 4);
  }
  {
    int NC = 256, H = 113, W = 111, OH = H / 2, OW = W / 2;
    float *x = mk<float>((size_t)NC * H * W), *y = mk<float>((size_t)NC * OH * OW);
    maxpool_tile<<<dim3((OW + 15) / 16, (OH + 7) / 8, NC), dim3(16, 8)>>>(x, y, H, W, OH, OW);
    show("maxpool_tile", y, (size_t)NC * OH * OW * 4);
  }
  {
    int bags = 4000, dim = 200, vocab = 10007;
    int *ho = (int *)malloc((bags + 1) * 4), *off, tot = 0;
    for (int i = 0; i <= bags; i++) { ho[i] = tot; tot += i % 150; }
    cudaMalloc(&off, (bags + 1) * 4);
    cudaMemcpy(off, ho, (bags + 1) * 4, cudaMemcpyHostToDevice);
    int *hi = (int *)malloc(tot * 4), *idx;
    for (int i = 0; i < tot; i++) hi[i] = (i * 7919u) % 1000003;
    cudaMalloc(&idx, tot * 4);
    cudaMemcpy(idx, hi, tot * 4, cudaMemcpyHostToDevice);
    float *t = mk<float>((size_t)vocab * dim), *o = mk<float>((size_t)bags * dim);
    embedding_bag_sum<<<bags, 128>>>(t, idx, off, o, dim, vocab);
    show("embedding_bag_sum", o, (size_t)bags * dim * 4);
  }
  {
    int rows = 4096, cols = 2048;
    size_t n = (size_t)rows * cols;
    __half *h = (__half *)malloc(n * 2), *x, *y;
    for (size_t i = 0; i < n; i++) h[i] = __float2half(((i * 37) % 101) / 50.f - 1.f);
    cudaMalloc(&x, n * 2); cudaMalloc(&y, n * 2);
    cudaMemcpy(x, h, n * 2, cudaMemcpyHostToDevice);
    float *g = mk<float>(cols);
    rmsnorm_cached<256><<<rows, 256, cols * 4>>>(y, x, g, cols, 1e-6f);
    show("rmsnorm_cached", y, n * 2);
  }
  {
    int rows = 4096, OC = 3070;
    float *d = mk<float>((size_t)rows * OC), *b = mk<float>(OC);
    matmul_backward_bias_2d<<<(OC + 31) / 32, dim3(32, 32)>>>(b, d, rows, OC);
    show("matmul_backward_bias_2d", b, OC * 4);
  }
}
