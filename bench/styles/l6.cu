// l6 -- operators of neural networks: softmax, normalisation, top-k, spectra, counts.
#include "shown.h"
#include <cfloat>
#include <cmath>
#include <cstdint>

template <typename T>
T* rand_tensor(size_t numel, int lo, int hi, T div, unsigned seed) {
  T* h = (T*)malloc(numel * sizeof(T));
  unsigned long long st = 0x9E3779B97F4A7C15ull * (seed + 1);
  for (size_t i = 0; i < numel; ++i) {
    st = st * 6364136223846793005ull + 1442695040888963407ull;
    h[i] = (T)((int)((st >> 33) % (unsigned)(hi - lo)) + lo) / div;
  }
  T* d;
  cudaMalloc(&d, numel * sizeof(T));
  cudaMemcpy(d, h, numel * sizeof(T), cudaMemcpyHostToDevice);
  free(h);
  return d;
}

// class 1: softmax of a row, max then sum in the same array, results used by all threads
__global__ void softmax_forward(const float* __restrict__ inp, float* __restrict__ out, int C) {
  extern __shared__ float shared[];
  int idx = blockIdx.x;
  int tid = threadIdx.x;
  int block_size = blockDim.x;
  const float* x = inp + (size_t)idx * C;
  float maxval = -INFINITY;
  for (int i = tid; i < C; i += block_size) {
    maxval = fmaxf(maxval, x[i]);
  }
  shared[tid] = maxval;
  __syncthreads();
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) {
      shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
    }
  }
  __syncthreads();
  float offset = shared[0];
  float* y = out + (size_t)idx * C;
  float sumval = 0.0f;
  for (int i = tid; i < C; i += block_size) {
    float e = __expf(x[i] - offset);
    y[i] = e;
    sumval += e;
  }
  __syncthreads();
  shared[tid] = sumval;
  __syncthreads();
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) {
      shared[tid] += shared[tid + stride];
    }
  }
  __syncthreads();
  float sum = shared[0];
  for (int i = tid; i < C; i += block_size) {
    y[i] = y[i] / sum;
  }
}

// class 1: layer norm, sums and sums of squares side by side, 128 threads
template <typename T, int THREADS>
__global__ void layer_norm_kernel(const T* X, const T* gamma, const T* beta, T* Y, int64_t N, T eps) {
  __shared__ T s_sum[THREADS];
  __shared__ T s_sqr[THREADS];
  const int64_t row = blockIdx.x;
  T a = 0, b = 0;
  for (int64_t j = threadIdx.x; j < N; j += THREADS) {
    const T v = X[row * N + j];
    a += v;
    b += v * v;
  }
  s_sum[threadIdx.x] = a;
  s_sqr[threadIdx.x] = b;
  __syncthreads();
#pragma unroll
  for (int k = THREADS / 2; k > 0; k >>= 1) {
    if (threadIdx.x < k) {
      s_sum[threadIdx.x] += s_sum[threadIdx.x + k];
      s_sqr[threadIdx.x] += s_sqr[threadIdx.x + k];
    }
    __syncthreads();
  }
  const T mean = s_sum[0] / N;
  const T rstd = rsqrtf(fmaxf(s_sqr[0] / N - mean * mean, 0.f) + eps);
  for (int64_t j = threadIdx.x; j < N; j += THREADS) {
    Y[row * N + j] = (X[row * N + j] - mean) * rstd * gamma[j] + beta[j];
  }
}

// class 2: arg-max of a row in double, 1024 values with their indices
__global__ void argmax_rows(const double* logits, int* preds, int cols) {
  __shared__ double svals[1024];
  __shared__ int sidx[1024];
  double best = -DBL_MAX;
  int besti = 0;
  for (int c = threadIdx.x; c < cols; c += 1024) {
    double v = logits[(size_t)blockIdx.x * cols + c];
    if (v > best) {
      best = v;
      besti = c;
    }
  }
  svals[threadIdx.x] = best;
  sidx[threadIdx.x] = besti;
  __syncthreads();
  for (int s = 1024 / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) {
      const double o = svals[threadIdx.x + s];
      const int oi = sidx[threadIdx.x + s];
      if (o > svals[threadIdx.x] || (o == svals[threadIdx.x] && oi < sidx[threadIdx.x])) {
        svals[threadIdx.x] = o;
        sidx[threadIdx.x] = oi;
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) preds[blockIdx.x] = sidx[0];
}

// class 1: online log-sum-exp, a struct of two floats, user's operator
struct __align__(8) MD {
  float m;
  float d;
};
__device__ __forceinline__ MD reduce_md_op(MD a, MD b) {
  bool a_bigger = (a.m > b.m);
  MD bigger_m = a_bigger ? a : b;
  MD smaller_m = a_bigger ? b : a;
  MD res;
  res.d = bigger_m.d + smaller_m.d * __expf(smaller_m.m - bigger_m.m);
  res.m = bigger_m.m;
  return res;
}
__global__ void online_logsumexp(const float* x, float* lse, int V) {
  __shared__ MD temp_storage[256];
  x += (size_t)blockIdx.x * V;
  MD md_partial;
  md_partial.m = -FLT_MAX;
  md_partial.d = 0.0F;
  for (int e = threadIdx.x; e < V; e += 256) {
    MD new_elem;
    new_elem.m = x[e];
    new_elem.d = 1.0F;
    md_partial = reduce_md_op(md_partial, new_elem);
  }
  temp_storage[threadIdx.x] = md_partial;
  __syncthreads();
  for (unsigned active = 128; active != 0; active >>= 1) {
    if (threadIdx.x < active) {
      temp_storage[threadIdx.x] = reduce_md_op(temp_storage[threadIdx.x], temp_storage[threadIdx.x + active]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) lse[blockIdx.x] = temp_storage[0].m + logf(temp_storage[0].d);
}

// class 2: RMS norm accumulated in 1024 doubles, one value a thread
__global__ void __launch_bounds__(1024) rms_norm_kernel(const float* in, const float* weight, float* out, int hidden) {
  __shared__ double partial[1024];
  const float* row = in + (size_t)blockIdx.x * hidden;
  double ss = 0;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) ss += (double)row[i] * row[i];
  partial[threadIdx.x] = ss;
  __syncthreads();
  if (threadIdx.x < 512) partial[threadIdx.x] += partial[threadIdx.x + 512];
  __syncthreads();
  if (threadIdx.x < 256) partial[threadIdx.x] += partial[threadIdx.x + 256];
  __syncthreads();
  if (threadIdx.x < 128) partial[threadIdx.x] += partial[threadIdx.x + 128];
  __syncthreads();
  if (threadIdx.x < 64) partial[threadIdx.x] += partial[threadIdx.x + 64];
  __syncthreads();
  for (int s = 32; s > 0; s >>= 1) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  const float scale = (float)(1.0 / sqrt(partial[0] / hidden + 1e-5));
  for (int i = threadIdx.x; i < hidden; i += blockDim.x)
    out[(size_t)blockIdx.x * hidden + i] = row[i] * scale * weight[i];
}

// class 2: backward of batch norm, three arrays of 1024 floats
__global__ void batchnorm_backward_reduce(const float* dy, const float* x, const float* mean, float* dbeta, float* dgamma, float* sq, int spatial) {
  __shared__ float sh[3][1024];
  const int ch = blockIdx.x;
  const int t = threadIdx.x;
  const float mu = mean[ch % 1024];
  float a = 0, b = 0, c = 0;
  for (int i = t; i < spatial; i += blockDim.x) {
    const float g = dy[(size_t)ch * spatial + i];
    const float z = x[(size_t)ch * spatial + i] - mu;
    a += g;
    b += g * z;
    c += z * z;
  }
  sh[0][t] = a;
  sh[1][t] = b;
  sh[2][t] = c;
  __syncthreads();
  for (int n = blockDim.x / 2; n >= 1; n = n / 2) {
    if (t < n) {
#pragma unroll
      for (int q = 0; q < 3; q++) sh[q][t] = sh[q][t] + sh[q][t + n];
    }
    __syncthreads();
  }
  if (t == 0) {
    dbeta[ch] = sh[0][0];
    dgamma[ch] = sh[1][0];
    sq[ch] = sh[2][0];
  }
}

// class 3: exclusive cumulative sum of rows, scan of the warps' sums, carry between chunks
__global__ void cumsum_exclusive_rows(const int* in, int* out, int cols) {
  __shared__ int warp_sums[32];
  __shared__ int carry_s;
  const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, nw = blockDim.x >> 5;
  in += (size_t)blockIdx.x * cols;
  out += (size_t)blockIdx.x * cols;
  if (threadIdx.x == 0) carry_s = 0;
  if (threadIdx.x < 32) warp_sums[threadIdx.x] = 0;
  __syncthreads();
  for (int base = 0; base < cols; base += blockDim.x) {
    const int j = base + threadIdx.x;
    const int v = j < cols ? in[j] : 0;
    int inc = v;
    for (int o = 1; o < 32; o <<= 1) {
      int u = __shfl_up_sync(0xffffffffu, inc, o);
      if (lane >= o) inc += u;
    }
    if (lane == 31) warp_sums[wid] = inc;
    __syncthreads();
    for (int o = 1; o < nw; o <<= 1) {
      int add = 0;
      if (threadIdx.x < nw && threadIdx.x >= o) add = warp_sums[threadIdx.x - o];
      __syncthreads();
      if (threadIdx.x < nw) warp_sums[threadIdx.x] += add;
      __syncthreads();
    }
    const int before = carry_s + (wid > 0 ? warp_sums[wid - 1] : 0);
    if (j < cols) out[j] = before + inc - v;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) carry_s = before + inc;
    __syncthreads();
  }
}

// class 4: top-k of 512 scores, bitonic with xor partners, float key and int payload, descending
template <int K>
__global__ void topk_bitonic(const float* scores, float* topv, int* topi) {
  __shared__ float key[512];
  __shared__ int idx[512];
  const int t = threadIdx.x;
  key[t] = scores[(size_t)blockIdx.x * 512 + t] + t * 1e-3f;
  idx[t] = t;
  __syncthreads();
  for (int k = 2; k <= 512; k <<= 1) {
    for (int j = k >> 1; j > 0; j >>= 1) {
      const int p = t ^ j;
      if (p > t) {
        const bool desc = (t & k) == 0;
        if ((key[t] < key[p]) == desc && key[t] != key[p]) {
          const float fk = key[t];
          key[t] = key[p];
          key[p] = fk;
          const int ii = idx[t];
          idx[t] = idx[p];
          idx[p] = ii;
        }
      }
      __syncthreads();
    }
  }
  if (t < K) {
    topv[blockIdx.x * K + t] = key[t];
    topi[blockIdx.x * K + t] = idx[t];
  }
}

// class 4: FFT of 256 points, in place, table of twiddles, two points a thread
__global__ void fft256(const float2* x, float2* X, const float2* twiddle) {
  __shared__ float2 s[256];
  __shared__ float2 w[128];
  const int t = threadIdx.x;
  w[t] = twiddle[t];
  s[__brev(t) >> 24] = x[(size_t)blockIdx.x * 256 + t];
  s[__brev(t + 128) >> 24] = x[(size_t)blockIdx.x * 256 + t + 128];
  __syncthreads();
  for (int len = 1; len < 256; len <<= 1) {
    const int j = t & (len - 1);
    const int i0 = ((t - j) << 1) + j;
    const int i1 = i0 + len;
    const float2 c = w[j * (128 / len)];
    const float2 a = s[i0];
    const float2 b = s[i1];
    float2 r;
    r.x = b.x * c.x - b.y * c.y;
    r.y = b.x * c.y + b.y * c.x;
    s[i0] = make_float2(a.x + r.x, a.y + r.y);
    s[i1] = make_float2(a.x - r.x, a.y - r.y);
    __syncthreads();
  }
  X[(size_t)blockIdx.x * 256 + t] = s[t];
  X[(size_t)blockIdx.x * 256 + t + 128] = s[t + 128];
}

// class 7: occurrences of tokens, weighted, shared atomics
__global__ void bincount_kernel(const int* tokens, const int* weights, int* counts, int n, int nbins) {
  extern __shared__ int bins[];
  for (int i = threadIdx.x; i < nbins; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[tokens[i] % nbins], weights[i]);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < nbins; i += blockDim.x) {
    if (bins[i] != 0) atomicAdd(&counts[i], bins[i]);
  }
}

int main() {
  {
    int rows = 16384, C = 1000;
    size_t n = (size_t)rows * C;
    float *x = rand_tensor<float>(n, -4000, 4000, 500.f, 1), *y = mk<float>(n), *g = mk<float>(C), *b = mk<float>(C);
    softmax_forward<<<rows, 256, 256 * sizeof(float)>>>(x, y, C);
    show("softmax_forward", y, n * 4);
    layer_norm_kernel<float, 128><<<rows, 128>>>(x, g, b, y, C, 1e-5f);
    show("layer_norm_kernel", y, n * 4);
    online_logsumexp<<<rows, 256>>>(x, y, C);
    show("online_logsumexp", y, rows * 4);
  }
  {
    int rows = 4096, C = 3000;
    double* x = rand_tensor<double>((size_t)rows * C, -200000, 200000, 512.0, 2);
    int* p = mk<int>(rows);
    argmax_rows<<<rows, 1024>>>(x, p, C);
    show("argmax_rows", p, rows * 4);
  }
  {
    int rows = 4096, H = 2048;
    size_t n = (size_t)rows * H;
    float *x = rand_tensor<float>(n, -1000, 1000, 256.f, 3), *w = mk<float>(H), *y = mk<float>(n), *z = mk<float>(3 * rows);
    rms_norm_kernel<<<rows, 1024>>>(x, w, y, H);
    show("rms_norm_kernel", y, n * 4);
    batchnorm_backward_reduce<<<rows, 1024>>>(y, x, w, z, z + rows, z + 2 * rows, H - 5);
    show("batchnorm_backward", z, 3 * rows * 4);
    int* ti = mk<int>(n / 32);
    topk_bitonic<16><<<(int)(n / 512), 512>>>(x, y, ti);
    show("topk_bitonic", ti, n / 32 * 4);
  }
  {
    int rows = 8192, C = 1500;
    int *x = rand_tensor<int>((size_t)rows * C, 0, 1000, 1, 4), *y = mk<int>((size_t)rows * C);
    cumsum_exclusive_rows<<<rows, 416>>>(x, y, C);
    show("cumsum_exclusive_rows", y, (size_t)rows * C * 4);
  }
  {
    int batch = 1 << 15;
    float2 tw[128];
    for (int i = 0; i < 128; ++i) {
      double a = -2.0 * 3.14159265358979323846 * i / 256;
      tw[i].x = (float)cos(a);
      tw[i].y = (float)sin(a);
    }
    float2* dtw;
    cudaMalloc(&dtw, sizeof tw);
    cudaMemcpy(dtw, tw, sizeof tw, cudaMemcpyHostToDevice);
    float *x = rand_tensor<float>((size_t)batch * 512, -128, 128, 16.f, 5), *X = mk<float>((size_t)batch * 512);
    fft256<<<batch, 128>>>((float2*)x, (float2*)X, dtw);
    show("fft256", X, (size_t)batch * 512 * 4);
  }
  {
    int n = 1 << 24, bins = 2000;
    int *t = rand_tensor<int>(n, 0, 50000, 1, 6), *w = rand_tensor<int>(n, -10, 10, 1, 7), *c = mk<int>(bins);
    bincount_kernel<<<600, 512, bins * sizeof(int)>>>(t, w, c, n, bins);
    show("bincount_kernel", c, bins * 4);
  }
  return 0;
}
