// Rows of a matrix, a block each: log-softmax with the row kept in shared
// memory, and RMS normalisation.
#include "validation.cuh"

#define THREADS 256

__device__ float blockMax(float v, float *scratch) {
  scratch[threadIdx.x] = v;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + s]);
    __syncthreads();
  }
  float r = scratch[0];
  __syncthreads();
  return r;
}

__device__ float blockSum(float v, float *scratch) {
  scratch[threadIdx.x] = v;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      scratch[threadIdx.x] += scratch[threadIdx.x + s];
    __syncthreads();
  }
  float r = scratch[0];
  __syncthreads();
  return r;
}

__global__ void log_softmax_forward(const float *__restrict__ logits,
                                    float *__restrict__ out, int num_classes) {
  __shared__ float row[1024];
  __shared__ float scratch[THREADS];
  const float *x = logits + (size_t)blockIdx.x * num_classes;
  float *y = out + (size_t)blockIdx.x * num_classes;

  float m = -INFINITY;
  for (int c = threadIdx.x; c < num_classes; c += blockDim.x) {
    float v = x[c];
    row[c] = v;
    m = fmaxf(m, v);
  }
  m = blockMax(m, scratch);

  float sum = 0.f;
  for (int c = threadIdx.x; c < num_classes; c += blockDim.x)
    sum += expf(row[c] - m);
  sum = blockSum(sum, scratch);

  float lse = m + logf(sum);
  for (int c = threadIdx.x; c < num_classes; c += blockDim.x)
    y[c] = row[c] - lse;
}

// one thread per column, hidden size is the block size
__global__ void rmsnorm(float *o, const float *x, const float *weight,
                        float eps) {
  extern __shared__ float ss[];
  const int n = blockDim.x, j = threadIdx.x;
  const float xj = x[(size_t)blockIdx.x * n + j];
  ss[j] = xj * xj;
  __syncthreads();
  for (int stride = n >> 1; stride; stride >>= 1) {
    if (j < stride)
      ss[j] += ss[j + stride];
    __syncthreads();
  }
  float inv = rsqrtf(ss[0] / n + eps);
  o[(size_t)blockIdx.x * n + j] = weight[j] * (inv * xj);
}

void logSoftmax(const float *in, float *out, int rows, int cols) {
  log_softmax_forward<<<rows, THREADS>>>(in, out, cols);
}
void rms(float *o, const float *x, const float *w, int rows, int dim) {
  rmsnorm<<<rows, dim, dim * sizeof(float)>>>(o, x, w, 1e-5f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{1024, 32768, 1}, {1000, 5000, 1}, {300, 64, 1}},
                          {257, 3, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *in = filled<float>(n, 371, -4, 4), *out = zeros<float>(n);
    measure("log_softmax_forward", text(e), [&] { logSoftmax(in, out, e.y, e.x); },
            {result(out, n)});
    release(in, out);
  }
  for (Extent e : extents({{512, 65536, 1}, {1024, 3333, 1}, {256, 100, 1}},
                          {256, 3, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *in = filled<float>(n, 372), *w = filled<float>(e.x, 373, 0.5, 1.5),
          *out = zeros<float>(n);
    measure("rmsnorm", text(e), [&] { rms(out, in, w, e.y, e.x); },
            {result(out, n)});
    release(in, w, out);
  }
}
