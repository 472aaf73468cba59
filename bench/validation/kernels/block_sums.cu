// Sums of blocks in four textbook forms.
#include "validation.cuh"

__global__ void sum_interleaved(const int *in, int *out) {
  __shared__ int sdata[256];
  unsigned tid = threadIdx.x;
  sdata[tid] = in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned index = 2 * s * tid;
    if (index < blockDim.x)
      sdata[index] += sdata[index + s];
    __syncthreads();
  }
  if (tid == 0)
    out[blockIdx.x] = sdata[0];
}

__global__ void sum_two_loads(const float *in, float *out, unsigned n) {
  extern __shared__ float sh[];
  unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + tid;
  sh[tid] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s)
      sh[tid] += sh[tid + s];
    __syncthreads();
  }
  if (!tid)
    out[blockIdx.x] = sh[0];
}

__device__ void last_warp(volatile double *s, int t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
}

__global__ void sum_volatile(const double *in, double *out, int n) {
  __shared__ double part[128];
  int t = threadIdx.x;
  double mine = 0;
  for (int i = blockIdx.x * 128 + t; i < n; i += 128 * gridDim.x)
    mine += in[i];
  part[t] = mine;
  __syncthreads();
  if (t < 64)
    part[t] += part[t + 64];
  __syncthreads();
  if (t < 32)
    last_warp(part, t);
  if (t == 0)
    out[blockIdx.x] = part[0];
}

__global__ void greatest(const float *in, float *out, int n) {
  __shared__ float cache[512];
  int cacheIndex = threadIdx.x;
  float m = -1e30f;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n;
       i += blockDim.x * gridDim.x)
    m = fmaxf(m, in[i]);
  cache[cacheIndex] = m;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i)
      cache[cacheIndex] = fmaxf(cache[cacheIndex], cache[cacheIndex + i]);
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0)
    out[blockIdx.x] = cache[0];
}

void interleaved(const int *in, int *out, int n) {
  sum_interleaved<<<n / 256, 256>>>(in, out);
}
void two_loads(const float *in, float *out, int n) {
  int threads = 256;
  sum_two_loads<<<(n + 511) / 512, threads, threads * sizeof(float)>>>(in, out,
                                                                      n);
}
void with_volatile(const double *in, double *out, int n) {
  sum_volatile<<<528, 128>>>(in, out, n);
}
void maxima(const float *in, float *out, int n) {
  greatest<<<264, 512>>>(in, out, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 26, 1 << 20}, 2048)) {
    int *i = filled<int>(n, 90, -100, 100), *is = zeros<int>(n / 256);
    float *f = filled<float>(n, 91), *fs = zeros<float>(ceil_div(n, 512) + 264);
    double *d = filled<double>(n, 92), *ds = zeros<double>(528);
    measure("sum_interleaved", text(n), [&] { interleaved(i, is, n); },
            {result(is, n / 256)});
    measure("sum_two_loads", text(n), [&] { two_loads(f, fs, n); },
            {result(fs, ceil_div(n, 512))});
    measure("sum_volatile", text(n), [&] { with_volatile(d, ds, n); },
            {result(ds, 528)});
    measure("greatest", text(n), [&] { maxima(f, fs, n); }, {result(fs, 264)});
    release(i, is, f, fs, d, ds);
  }
}
