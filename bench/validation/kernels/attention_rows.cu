// Row-wise operators of a deep-learning extension: masked softmax of attention
// scores, statistics of a batch norm, unit rows. The number of threads follows
// from the shape.
#include "validation.cuh"

template <typename scalar_t>
__global__ void masked_softmax_forward_kernel(
    scalar_t *__restrict__ dst, const scalar_t *__restrict__ src,
    const unsigned char *__restrict__ mask, scalar_t scale, int cols) {
  extern __shared__ float buf[];
  const int tid = threadIdx.x;
  const size_t row = (size_t)blockIdx.x * cols;

  float m = -10000.0f;
  for (int c = tid; c < cols; c += blockDim.x)
    m = fmaxf(m, mask[row + c] ? -10000.0f : src[row + c] * scale);
  buf[tid] = m;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (tid < s)
      buf[tid] = fmaxf(buf[tid], buf[tid + s]);
    __syncthreads();
  }
  m = buf[0];
  __syncthreads();

  float sum = 0;
  for (int c = tid; c < cols; c += blockDim.x)
    sum += expf((mask[row + c] ? -10000.0f : src[row + c] * scale) - m);
  buf[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (tid < s)
      buf[tid] += buf[tid + s];
    __syncthreads();
  }
  const float inv = 1.0f / buf[0];
  for (int c = tid; c < cols; c += blockDim.x)
    dst[row + c] =
        expf((mask[row + c] ? -10000.0f : src[row + c] * scale) - m) * inv;
}

// one block a channel of a batch x channels x plane tensor
template <typename scalar_t>
__global__ void batch_norm_stats_kernel(const scalar_t *input, float *mean,
                                        float *invstd, int batch, int channels,
                                        int plane, float epsilon) {
  extern __shared__ float shared[];
  float *s_sum = shared, *s_sq = &shared[blockDim.x];
  float sum = 0, sq = 0;
  for (int b = 0; b < batch; ++b) {
    const scalar_t *p = input + ((size_t)b * channels + blockIdx.x) * plane;
    for (int i = threadIdx.x; i < plane; i += blockDim.x) {
      float v = p[i];
      sum += v;
      sq += v * v;
    }
  }
  s_sum[threadIdx.x] = sum;
  s_sq[threadIdx.x] = sq;
  __syncthreads();
  for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) {
      s_sum[threadIdx.x] += s_sum[threadIdx.x + stride];
      s_sq[threadIdx.x] += s_sq[threadIdx.x + stride];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    float count = (float)batch * plane;
    float mu = s_sum[0] / count;
    mean[blockIdx.x] = mu;
    invstd[blockIdx.x] = rsqrtf(s_sq[0] / count - mu * mu + epsilon);
  }
}

__global__ void normalize_rows_kernel(const float *x, float *y, int dim) {
  extern __shared__ float partial[];
  x += (size_t)blockIdx.x * dim;
  y += (size_t)blockIdx.x * dim;
  float acc = 0.f;
  for (int k = threadIdx.x; k < dim; k += blockDim.x)
    acc += x[k] * x[k];
  partial[threadIdx.x] = acc;
  for (int half = blockDim.x / 2; half >= 1; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  __syncthreads();
  float norm = fmaxf(sqrtf(partial[0]), 1e-12f);
  for (int k = threadIdx.x; k < dim; k += blockDim.x)
    y[k] = x[k] / norm;
}

static int threads_for(int cols) {
  int threads = 32;
  while (threads < cols && threads < 512)
    threads *= 2;
  return threads;
}

void masked_softmax(float *dst, const float *src, const unsigned char *mask,
                    float scale, int rows, int cols) {
  const int threads = threads_for(cols);
  masked_softmax_forward_kernel<float>
      <<<rows, threads, threads * sizeof(float)>>>(dst, src, mask, scale, cols);
}
void batch_norm_stats(const float *in, float *mean, float *invstd, int batch,
                      int channels, int plane) {
  const int threads = threads_for(plane);
  batch_norm_stats_kernel<float>
      <<<channels, threads, 2 * threads * sizeof(float)>>>(
          in, mean, invstd, batch, channels, plane, 1e-5f);
}
void normalize_rows(const float *x, float *y, int rows, int dim) {
  int threads = 128;
  normalize_rows_kernel<<<rows, threads, threads * sizeof(float)>>>(x, y, dim);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{512, 98304, 1}, {197, 37824, 1}, {1024, 8192, 1}},
                          {70, 3, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *src = filled<float>(n, 521, -6, 6), *dst = zeros<float>(n);
    unsigned char *mask = filled<unsigned char>(n, 522, 0, 1.25);
    measure("masked_softmax_forward_kernel", text(e),
            [&] { masked_softmax(dst, src, mask, 0.125f, e.y, e.x); },
            {result(dst, n)});
    release(src, dst, mask);
  }
  // batch, channels, plane
  for (Extent e : extents({{32, 256, 56 * 56}, {64, 512, 14 * 14}}, {2, 3, 49})) {
    size_t n = (size_t)e.x * e.y * e.z;
    float *in = filled<float>(n, 523), *mean = zeros<float>(e.y),
          *invstd = zeros<float>(e.y);
    measure("batch_norm_stats_kernel", text(e),
            [&] { batch_norm_stats(in, mean, invstd, e.x, e.y, e.z); },
            {result(mean, e.y), result(invstd, e.y)});
    release(in, mean, invstd);
  }
  for (Extent e : extents({{128, 262144, 1}, {300, 20000, 1}}, {100, 3, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *x = filled<float>(n, 524), *y = zeros<float>(n);
    measure("normalize_rows_kernel", text(e),
            [&] { normalize_rows(x, y, e.y, e.x); }, {result(y, n)});
    release(x, y);
  }
}
