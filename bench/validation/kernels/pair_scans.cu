// Two elements a thread: an exclusive work-efficient scan, Brent-Kung running
// maxima, and a bitonic sort of blocks.
#include "validation.cuh"

#define BLOCK_SCAN 512

// n is a multiple of 2 * BLOCK_SCAN
__global__ void exclusivePairs(int *g_odata, const int *g_idata, int *totals) {
  __shared__ int temp[2 * BLOCK_SCAN];
  const int thid = threadIdx.x;
  const size_t base = (size_t)blockIdx.x * 2 * BLOCK_SCAN;
  temp[2 * thid] = g_idata[base + 2 * thid];
  temp[2 * thid + 1] = g_idata[base + 2 * thid + 1];
  int offset = 1;
  for (int d = BLOCK_SCAN; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0) {
    totals[blockIdx.x] = temp[2 * BLOCK_SCAN - 1];
    temp[2 * BLOCK_SCAN - 1] = 0;
  }
  for (int d = 1; d < 2 * BLOCK_SCAN; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      int t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  g_odata[base + 2 * thid] = temp[2 * thid];
  g_odata[base + 2 * thid + 1] = temp[2 * thid + 1];
}

#define SECTION 2048

__global__ void brentKungMax(const float *X, float *Y, int N) {
  __shared__ float XY[SECTION];
  int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  XY[threadIdx.x] = i < N ? X[i] : -1e30f;
  XY[threadIdx.x + blockDim.x] =
      i + (int)blockDim.x < N ? X[i + blockDim.x] : -1e30f;
  for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    unsigned index = (threadIdx.x + 1) * 2 * stride - 1;
    if (index < SECTION)
      XY[index] = fmaxf(XY[index], XY[index - stride]);
  }
  for (unsigned stride = SECTION / 4; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned index = (threadIdx.x + 1) * 2 * stride - 1;
    if (index + stride < SECTION)
      XY[index + stride] = fmaxf(XY[index + stride], XY[index]);
  }
  __syncthreads();
  if (i < N)
    Y[i] = XY[threadIdx.x];
  if (i + (int)blockDim.x < N)
    Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

__device__ inline void order(unsigned &a, unsigned &b, bool up) {
  if ((a > b) == up) {
    unsigned t = a;
    a = b;
    b = t;
  }
}

template <int COUNT>
__global__ void sortPairs(const unsigned *keys, unsigned *sorted) {
  __shared__ unsigned s[COUNT];
  const unsigned *from = keys + (size_t)blockIdx.x * COUNT;
  unsigned *to = sorted + (size_t)blockIdx.x * COUNT;
  s[threadIdx.x] = from[threadIdx.x];
  s[threadIdx.x + COUNT / 2] = from[threadIdx.x + COUNT / 2];
  for (int size = 2; size <= COUNT; size <<= 1) {
    bool up = size == COUNT || (threadIdx.x & (size / 2)) == 0;
    for (int stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      int pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      order(s[pos], s[pos + stride], up);
    }
  }
  __syncthreads();
  to[threadIdx.x] = s[threadIdx.x];
  to[threadIdx.x + COUNT / 2] = s[threadIdx.x + COUNT / 2];
}

void scanned(int *o, const int *i, int *totals, int n) {
  exclusivePairs<<<n / (2 * BLOCK_SCAN), BLOCK_SCAN>>>(o, i, totals);
}
void maxima(const float *x, float *y, int n) {
  brentKungMax<<<(n + SECTION - 1) / SECTION, SECTION / 2>>>(x, y, n);
}
void sort512(const unsigned *a, unsigned *b, int n) {
  sortPairs<512><<<n / 512, 256>>>(a, b);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 20, 1 << 23, 1 << 25}, 2048)) {
    int *i = filled<int>(n, 641, -50, 50), *o = zeros<int>(n),
        *t = zeros<int>(n / 1024);
    measure("exclusivePairs", text(n), [&] { scanned(o, i, t, n); },
            {result(o, n), result(t, n / 1024)});
    unsigned *k = filled<unsigned>(n, 642, 0, 4e9), *s = zeros<unsigned>(n);
    measure("sortPairs", text(n), [&] { sort512(k, s, n); }, {result(s, n)});
    release(i, o, t, k, s);
  }
  for (int n : sizes({1 << 20, 3000000, 1 << 24}, 2500)) {
    float *x = filled<float>(n, 643), *y = zeros<float>(n);
    measure("brentKungMax", text(n), [&] { maxima(x, y, n); }, {result(y, n)});
    release(x, y);
  }
}
