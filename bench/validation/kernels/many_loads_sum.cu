// Block sums of ints, four to a thread, and greatest of doubles, two to a
// thread, each followed by a tree.
#include "validation.cuh"

template <unsigned int blockSize>
__global__ void reduceUnroll4(const int *g_idata, int *g_odata, unsigned int n) {
  __shared__ int smem[blockSize];
  unsigned int tid = threadIdx.x;
  unsigned int idx = blockIdx.x * blockSize * 4 + threadIdx.x;

  int localSum = 0;
  if (idx + 3 * blockSize < n) {
    int a1 = g_idata[idx];
    int a2 = g_idata[idx + blockSize];
    int a3 = g_idata[idx + 2 * blockSize];
    int a4 = g_idata[idx + 3 * blockSize];
    localSum = a1 + a2 + a3 + a4;
  } else {
    for (int k = 0; k < 4; k++)
      if (idx + k * blockSize < n)
        localSum += g_idata[idx + k * blockSize];
  }
  smem[tid] = localSum;
  __syncthreads();

  if (blockSize >= 512 && tid < 256)
    smem[tid] += smem[tid + 256];
  __syncthreads();
  if (blockSize >= 256 && tid < 128)
    smem[tid] += smem[tid + 128];
  __syncthreads();
  if (blockSize >= 128 && tid < 64)
    smem[tid] += smem[tid + 64];
  __syncthreads();

  if (tid < 32) {
    int v = smem[tid] + smem[tid + 32];
    for (int off = 16; off > 0; off >>= 1)
      v += __shfl_down_sync(0xffffffff, v, off);
    if (tid == 0)
      g_odata[blockIdx.x] = v;
  }
}

__global__ void maxPerBlock(const double *v, double *partial, int n) {
  __shared__ double red[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 512 + 2 * t; // neighbours, not a block apart
  double best = -1.0e300;
  if (i < n)
    best = v[i];
  if (i + 1 < n && v[i + 1] > best)
    best = v[i + 1];
  red[t] = best;
  for (int half = 128; half >= 1; half /= 2) {
    __syncthreads();
    if (t < half && red[t + half] > red[t])
      red[t] = red[t + half];
  }
  if (t == 0)
    partial[blockIdx.x] = red[0];
}

void sums(const int *in, int *out, int n) {
  reduceUnroll4<512><<<(n + 2047) / 2048, 512>>>(in, out, n);
}
void maxima(const double *in, double *out, int n) {
  maxPerBlock<<<(n + 511) / 512, 256>>>(in, out, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 27, 20000003, 100000}, 3001)) {
    unsigned a = ceil_div(n, 2048), b = ceil_div(n, 512);
    int *i = filled<int>(n, 361, -1000, 1000), *is = zeros<int>(a);
    double *d = filled<double>(n, 362), *ds = zeros<double>(b);
    measure("reduceUnroll4<512>", text(n), [&] { sums(i, is, n); }, {result(is, a)});
    measure("maxPerBlock", text(n), [&] { maxima(d, ds, n); }, {result(ds, b)});
    release(i, is, d, ds);
  }
}
