// A block for each row: mean and variance with a tree down to one, softmax with
// trees that end in a warp, a row scaled to unit length.
#include "validation.cuh"

__global__ void rowMeanVariance(const float *__restrict__ x,
                                float2 *__restrict__ stats, int cols) {
  __shared__ float ssum[256];
  __shared__ float ssq[256];
  const float *row = x + (size_t)blockIdx.x * cols;
  float sum = 0.f, sq = 0.f;
  for (int c = threadIdx.x; c < cols; c += 256) {
    float v = row[c];
    sum += v;
    sq += v * v;
  }
  ssum[threadIdx.x] = sum;
  ssq[threadIdx.x] = sq;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) {
      ssum[threadIdx.x] += ssum[threadIdx.x + s];
      ssq[threadIdx.x] += ssq[threadIdx.x + s];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    float mean = ssum[0] / cols;
    stats[blockIdx.x] = make_float2(mean, ssq[0] / cols - mean * mean);
  }
}

#define SM_THREADS 128

// the last 64 of a tree, by one warp
__device__ void warpMax(volatile float *s, int lane) {
  float v = s[lane];
  for (int d = 32; d > 0; d >>= 1) {
    v = fmaxf(v, s[lane + d]);
    __syncwarp();
    s[lane] = v;
    __syncwarp();
  }
}

__global__ void softmaxTail(const float *in, float *out, int cols, float scale) {
  __shared__ float red[SM_THREADS];
  __shared__ float total;
  const int t = threadIdx.x;
  const float *src = in + (size_t)blockIdx.x * cols;
  float *dst = out + (size_t)blockIdx.x * cols;
  float m = -3.0e38f;
  for (int i = t; i < cols; i += SM_THREADS)
    m = fmaxf(m, src[i] * scale);
  red[t] = m;
  __syncthreads();
  if (t < 64)
    red[t] = fmaxf(red[t], red[t + 64]);
  __syncthreads();
  if (t < 32)
    warpMax(red, t);
  __syncthreads();
  m = red[0];
  __syncthreads();
  float z = 0.f;
  for (int i = t; i < cols; i += SM_THREADS)
    z += __expf(src[i] * scale - m);
  red[t] = z;
  __syncthreads();
  if (t < 64)
    red[t] += red[t + 64];
  __syncthreads();
  if (t < 32) {
    z = red[t] + red[t + 32];
    for (int d = 16; d > 0; d /= 2)
      z += __shfl_down_sync(0xffffffffu, z, d);
    if (t == 0)
      total = z;
  }
  __syncthreads();
  float inv = 1.f / total;
  for (int i = t; i < cols; i += SM_THREADS)
    dst[i] = __expf(src[i] * scale - m) * inv;
}

// the row is kept in shared memory while its norm is found
__global__ void scaleToUnit(float *__restrict__ out, const float *__restrict__ in,
                            int cols) {
  extern __shared__ float held[];
  float *part = held + cols;
  const size_t at = (size_t)blockIdx.x * cols;
  float s = 0.f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    held[c] = in[at + c];
    s += held[c] * held[c];
  }
  part[threadIdx.x] = s;
  __syncthreads();
  for (unsigned w = blockDim.x / 2; w; w >>= 1) {
    if (threadIdx.x < w)
      part[threadIdx.x] += part[threadIdx.x + w];
    __syncthreads();
  }
  const float r = rsqrtf(part[0] + 1e-6f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[at + c] = held[c] * r;
}

void moments(const float *x, float2 *s, int cols, int rows) {
  rowMeanVariance<<<rows, 256>>>(x, s, cols);
}
void softmax(const float *x, float *y, int cols, int rows) {
  softmaxTail<<<rows, SM_THREADS>>>(x, y, cols, 0.125f);
}
void unit(float *y, const float *x, int cols, int rows) {
  const int threads = 128;
  scaleToUnit<<<rows, threads, (cols + threads) * sizeof(float)>>>(y, x, cols);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{256, 8192, 1}, {1024, 20000, 1}, {4096, 4096, 1}},
                          {300, 3, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *x = filled<float>(n, 671, -4, 4), *y = zeros<float>(n),
          *u = zeros<float>(n), *s = zeros<float>(2 * e.y);
    measure("rowMeanVariance", text(e),
            [&] { moments(x, (float2 *)s, e.x, e.y); }, {result(s, 2 * e.y)});
    measure("softmaxTail", text(e), [&] { softmax(x, y, e.x, e.y); },
            {result(y, n)});
    measure("scaleToUnit", text(e), [&] { unit(u, x, e.x, e.y); },
            {result(u, n)});
    release(x, y, u, s);
  }
}
