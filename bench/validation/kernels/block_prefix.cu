// Scans and a sort of one block's elements; the block size comes from the host
// as a variable.
#include "validation.cuh"

// exclusive, two elements a thread, totals for the next level
__global__ void prescanBlocks(int *g_odata, const int *g_idata, int *g_sums,
                              int n) {
  extern __shared__ int temp[];
  int thid = threadIdx.x, m = 2 * blockDim.x;
  int base = blockIdx.x * m;
  temp[2 * thid] = base + 2 * thid < n ? g_idata[base + 2 * thid] : 0;
  temp[2 * thid + 1] =
      base + 2 * thid + 1 < n ? g_idata[base + 2 * thid + 1] : 0;
  int offset = 1;
  for (int d = m >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0) {
    g_sums[blockIdx.x] = temp[m - 1];
    temp[m - 1] = 0;
  }
  for (int d = 1; d < m; d *= 2) {
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
  if (base + 2 * thid < n)
    g_odata[base + 2 * thid] = temp[2 * thid];
  if (base + 2 * thid + 1 < n)
    g_odata[base + 2 * thid + 1] = temp[2 * thid + 1];
}

// the highest value so far within the window of a block (peak hold)
__global__ void peakHold(const float *level, float *peak, int n) {
  extern __shared__ float held[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  held[threadIdx.x] = i < n ? level[i] : 0.0f;
  __syncthreads();
  for (int stride = 1; stride < blockDim.x; stride <<= 1) {
    float v = held[threadIdx.x];
    if (threadIdx.x >= stride)
      v = fmaxf(v, held[threadIdx.x - stride]);
    __syncthreads();
    held[threadIdx.x] = v;
    __syncthreads();
  }
  if (i < n)
    peak[i] = held[threadIdx.x];
}

__global__ void sortRuns(const float *values, float *sorted, int n) {
  extern __shared__ float keys[];
  unsigned int tid = threadIdx.x;
  int i = blockIdx.x * blockDim.x + tid;
  keys[tid] = i < n ? values[i] : INFINITY;
  __syncthreads();
  for (unsigned int k = 2; k <= blockDim.x; k *= 2) {
    for (unsigned int j = k / 2; j > 0; j /= 2) {
      unsigned int ixj = tid ^ j;
      if (ixj > tid) {
        float a = keys[tid], b = keys[ixj];
        if ((tid & k) == 0 ? a > b : a < b) {
          keys[tid] = b;
          keys[ixj] = a;
        }
      }
      __syncthreads();
    }
  }
  if (i < n)
    sorted[i] = keys[tid];
}

void prescan(int *out, const int *in, int *sums, int n, int threads) {
  int per = 2 * threads;
  prescanBlocks<<<(n + per - 1) / per, threads, per * sizeof(int)>>>(out, in,
                                                                     sums, n);
}
void hold(const float *level, float *peak, int n) {
  int threads = 256;
  dim3 grid((n + threads - 1) / threads);
  peakHold<<<grid, threads, threads * sizeof(float)>>>(level, peak, n);
}
void sort(const float *v, float *sorted, int n, int threads) {
  sortRuns<<<(n + threads - 1) / threads, threads, threads * sizeof(float)>>>(
      v, sorted, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 25, 5000000, 1 << 20}, 1300)) {
    int *in = filled<int>(n, 511, 0, 9), *out = zeros<int>(n),
        *sums = zeros<int>((n + 511) / 512);
    measure("prescanBlocks", text(n), [&] { prescan(out, in, sums, n, 256); },
            {result(out, n), result(sums, (n + 511) / 512)});
    float *level = filled<float>(n, 512, 0, 1), *peak = zeros<float>(n);
    measure("peakHold", text(n), [&] { hold(level, peak, n); },
            {result(peak, n)});
    measure("sortRuns", text(n), [&] { sort(level, peak, n, 128); },
            {result(peak, n)});
    release(in, out, sums, level, peak);
  }
}
