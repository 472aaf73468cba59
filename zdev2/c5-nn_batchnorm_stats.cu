// tiny NN runtime: forward kernels
#include "shown.h"
#include <cfloat>

namespace nn {

// one block per row, the row is staged in dynamic shared memory
__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float smem[];
  float* row = smem;
  float* red = smem + cols;
  const float* xr = x + (size_t)blockIdx.x * cols;
  const int tid = threadIdx.x;
  float m = -FLT_MAX;
  for (int c = tid; c < cols; c += blockDim.x) {
    float v = xr[c];
    row[c] = v;
    m = fmaxf(m, v);
  }
  red[tid] = m;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
    __syncthreads();
  }
  m = red[0];
  __syncthreads();
  float sum = 0.f;
  for (int c = tid; c < cols; c += blockDim.x) {
    float e = expf(row[c] - m);
    row[c] = e;
    sum += e;
  }
  red[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) red[tid] += red[tid + s];
    __syncthreads();
  }
  const float inv = 1.f / red[0];
  for (int c = tid; c < cols; c += blockDim.x) y[(size_t)blockIdx.x * cols + c] = row[c] * inv;
}

__inline__ __device__ float warpReduceSum(float val) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) val += __shfl_xor_sync(0xffffffff, val, mask, 32);
  return val;
}

__inline__ __device__ float blockReduceSum(float val) {
  static __shared__ float shared[32];
  int lane = threadIdx.x & 0x1f;
  int wid = threadIdx.x >> 5;
  val = warpReduceSum(val);
  __syncthreads();
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < (blockDim.x >> 5)) ? shared[lane] : 0.0f;
  val = warpReduceSum(val);
  return val;
}

template <typename T>
__global__ void layer_norm(const T* in, const T* gamma, const T* beta, T* out, int hidden) {
  __shared__ float s_mean, s_var;
  const T* p = in + (size_t)blockIdx.x * hidden;
  float s = 0.f;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) s += (float)p[i];
  s = blockReduceSum(s);
  if (threadIdx.x == 0) s_mean = s / hidden;
  __syncthreads();
  float v = 0.f;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    float d = (float)p[i] - s_mean;
    v += d * d;
  }
  v = blockReduceSum(v);
  if (threadIdx.x == 0) s_var = rsqrtf(v / hidden + 1e-5f);
  __syncthreads();
  for (int i = threadIdx.x; i < hidden; i += blockDim.x)
    out[(size_t)blockIdx.x * hidden + i] = (T)(((float)p[i] - s_mean) * s_var * (float)gamma[i] + (float)beta[i]);
}

// S[b] = scale * Q[b] K[b]^T with causal mask; head dim 64
#define HD 64
#define TQ 16
__global__ void attn_scores(const float* Q, const float* K, float* S, int L, float scale) {
  __shared__ float q[TQ][HD + 1];
  __shared__ float k[TQ][HD + 1];
  const size_t head = blockIdx.z;
  const int qi0 = blockIdx.y * TQ, kj0 = blockIdx.x * TQ;
  const int tid = threadIdx.y * TQ + threadIdx.x;
  for (int e = tid; e < TQ * HD; e += TQ * TQ) {
    int r = e / HD, c = e % HD;
    q[r][c] = qi0 + r < L ? Q[(head * L + qi0 + r) * HD + c] : 0.f;
    k[r][c] = kj0 + r < L ? K[(head * L + kj0 + r) * HD + c] : 0.f;
  }
  __syncthreads();
  int i = qi0 + threadIdx.y, j = kj0 + threadIdx.x;
  if (i >= L || j >= L) return;
  float acc = 0.f;
#pragma unroll 16
  for (int d = 0; d < HD; ++d) acc += q[threadIdx.y][d] * k[threadIdx.x][d];
  S[(head * L + i) * L + j] = j <= i ? acc * scale : -10000.0f;
}

// direct 3x3 convolution NCHW, pad 1, stride 1; block computes a 16x16 patch of 4 output maps
template <int C>
__global__ void conv3x3_direct(const float* __restrict__ in, const float* __restrict__ w, float* __restrict__ out, int H, int W, int OC) {
  __shared__ float patch[18][18];
  __shared__ float wt[4][9];
  const int groups = OC / 4;
  const int n = blockIdx.z / groups, oc0 = (blockIdx.z % groups) * 4;
  const int ox = blockIdx.x * 16 + threadIdx.x, oy = blockIdx.y * 16 + threadIdx.y;
  const int tid = threadIdx.y * 16 + threadIdx.x;
  float a0 = 0.f, a1 = 0.f, a2 = 0.f, a3 = 0.f;
  for (int c = 0; c < C; ++c) {
    for (int e = tid; e < 18 * 18; e += 256) {
      int py = (int)blockIdx.y * 16 + e / 18 - 1, px = (int)blockIdx.x * 16 + e % 18 - 1;
      patch[e / 18][e % 18] = ((unsigned)py < (unsigned)H && (unsigned)px < (unsigned)W) ? in[((size_t)(n * C + c) * H + py) * W + px] : 0.f;
    }
    if (tid < 36) wt[tid / 9][tid % 9] = w[((oc0 + tid / 9) * C + c) * 9 + tid % 9];
    __syncthreads();
#pragma unroll
    for (int ky = 0; ky < 3; ++ky)
#pragma unroll
      for (int kx = 0; kx < 3; ++kx) {
        float v = patch[threadIdx.y + ky][threadIdx.x + kx];
        a0 += v * wt[0][ky * 3 + kx];
        a1 += v * wt[1][ky * 3 + kx];
        a2 += v * wt[2][ky * 3 + kx];
        a3 += v * wt[3][ky * 3 + kx];
      }
    __syncthreads();
  }
  if (ox < W && oy < H) {
    size_t o = ((size_t)(n * OC + oc0) * H + oy) * W + ox, pl = (size_t)H * W;
    out[o] = fmaxf(a0 - 400.f, 0.f);
    out[o + pl] = fmaxf(a1 - 400.f, 0.f);
    out[o + 2 * pl] = fmaxf(a2 - 400.f, 0.f);
    out[o + 3 * pl] = fmaxf(a3 - 400.f, 0.f);
  }
}

struct MeanVar { float s, q; };
// statistics over N,H,W; block per channel
__global__ void batchnorm_stats(const float* x, float* mean, float* var, int N, int C, int HW) {
  __shared__ MeanVar sh[1024];
  int c = blockIdx.x;
  MeanVar a = {0.f, 0.f};
  for (int n = 0; n < N; ++n)
    for (int i = threadIdx.x; i < HW; i += 1024) {
      float v = x[((size_t)n * C + c) * HW + i];
      a.s += v;
      a.q += v * v;
    }
  sh[threadIdx.x] = a;
  __syncthreads();
  for (int h = 512; h >= 1; h /= 2) {
    if (threadIdx.x < h) {
      sh[threadIdx.x].s += sh[threadIdx.x + h].s;
      sh[threadIdx.x].q += sh[threadIdx.x + h].q;
    }
    __syncthreads();
  }
  if (!threadIdx.x) {
    float inv = 1.f / ((float)N * HW), mu = sh[0].s * inv;
    mean[c] = mu;
    var[c] = sh[0].q * inv - mu * mu;
  }
}
}  // namespace nn

int main() {
  const size_t big = 8192u * 2048u;
  float *x = mk<float>(big), *g = mk<float>(65536), *y;
  cudaMalloc(&y, big * sizeof(float));
  nn::softmax_rows<<<8192, 256, (2000 + 256) * sizeof(float)>>>(x, y, 2000);
  show("softmax_rows", y, 8192ull * 2000 * 4);
  nn::layer_norm<float><<<16384, 128>>>(x, g, g + 1024, y, 1024);
  show("layer_norm", y, big * 4);
  nn::attn_scores<<<dim3((500 + TQ - 1) / TQ, (500 + TQ - 1) / TQ, 48), dim3(TQ, TQ)>>>(x, x + 48 * 500 * HD, y, 500, 0.125f);
  show("attn_scores", y, 48ull * 500 * 500 * 4);
  nn::conv3x3_direct<16><<<dim3(7, 7, 8 * 32 / 4), dim3(16, 16)>>>(x, g, y, 110, 109, 32);
  show("conv3x3_direct", y, 8ull * 32 * 110 * 109 * 4);
  nn::batchnorm_stats<<<128, 1024>>>(x, y, y + 128, 32, 128, 56 * 56);
  show("batchnorm_stats", y, 256 * 4);
}
