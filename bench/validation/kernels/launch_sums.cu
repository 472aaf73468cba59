// Partial sums whose block size the caller chooses: a dot product in two
// launches, the range of a signal, the squared norm of a vector in double.
#include "validation.cuh"

__global__ void dotPartial(const float *a, const float *b, float *partial,
                           int n) {
  extern __shared__ float cache[];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < n) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();

  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i)
      cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0)
    partial[blockIdx.x] = cache[0];
}

// smallest and largest of each block; two arrays in one allocation
__global__ void signalRange(const float *x, float2 *range, int n) {
  extern __shared__ float smem[];
  float *lo = smem;
  float *hi = smem + blockDim.x;
  unsigned int tid = threadIdx.x;
  int i = blockIdx.x * blockDim.x + tid;

  float v = x[min(i, n - 1)];
  lo[tid] = v;
  hi[tid] = v;
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) {
      lo[tid] = fminf(lo[tid], lo[tid + s]);
      hi[tid] = fmaxf(hi[tid], hi[tid + s]);
    }
    __syncthreads();
  }
  if (tid == 0)
    range[blockIdx.x] = make_float2(lo[0], hi[0]);
}

// first addition during the load
__global__ void squaredNorm(const double *g_idata, double *g_odata,
                            unsigned int n) {
  extern __shared__ double sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  double mine = i < n ? g_idata[i] * g_idata[i] : 0.0;
  if (i + blockDim.x < n)
    mine += g_idata[i + blockDim.x] * g_idata[i + blockDim.x];
  sdata[tid] = mine;
  __syncthreads();
  for (unsigned int s = 1; s < blockDim.x; s *= 2) {
    unsigned int index = 2 * s * tid;
    if (index < blockDim.x)
      sdata[index] += sdata[index + s];
    __syncthreads();
  }
  if (tid == 0)
    g_odata[blockIdx.x] = sdata[0];
}

void dot(const float *a, const float *b, float *partial, int n) {
  int threads = 256;
  int blocks = std::min(1024, (n + threads - 1) / threads);
  dotPartial<<<blocks, threads, threads * sizeof(float)>>>(a, b, partial, n);
}
void findRange(const float *x, float2 *range, int n, int threads) {
  signalRange<<<(n + threads - 1) / threads, threads,
                2 * threads * sizeof(float)>>>(x, range, n);
}
void norm2(const double *x, double *part, int n, int threads) {
  int blocks = (n + (threads * 2 - 1)) / (threads * 2);
  int smemSize = threads * sizeof(double);
  squaredNorm<<<blocks, threads, smemSize>>>(x, part, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 26, 10000019, 1 << 20}, 1500)) {
    float *a = filled<float>(n, 501), *b = filled<float>(n, 502);
    int blocks = std::min(1024, (n + 255) / 256);
    float *partial = zeros<float>(blocks);
    measure("dotPartial", text(n), [&] { dot(a, b, partial, n); },
            {result(partial, blocks)});
    int ranges = (n + 127) / 128;
    float2 *range = zeros<float2>(ranges);
    measure("signalRange", text(n), [&] { findRange(a, range, n, 128); },
            {result(range, ranges)});
    release(a, b, partial, range);
  }
  for (int n : sizes({1 << 25, 3000001}, 1111)) {
    double *x = filled<double>(n, 503), *part = zeros<double>((n + 1023) / 1024);
    measure("squaredNorm", text(n), [&] { norm2(x, part, n, 512); },
            {result(part, (n + 1023) / 1024)});
    release(x, part);
  }
}
