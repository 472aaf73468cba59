// Exclusive scan of blocks of 1024 after Blelloch, with and without padding against bank conflicts.
#include "bench.h"

#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
#define N_BLOCK 1024

__global__ void prescanPadded(int *g_odata, const int *g_idata, int *g_sums) {
  __shared__ int temp[N_BLOCK + CONFLICT_FREE_OFFSET(N_BLOCK)];
  int thid = threadIdx.x;
  int base = blockIdx.x * N_BLOCK;
  int ai = thid;
  int bi = thid + (N_BLOCK / 2);
  int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
  int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
  temp[ai + bankOffsetA] = g_idata[base + ai];
  temp[bi + bankOffsetB] = g_idata[base + bi];
  int offset = 1;
  for (int d = N_BLOCK >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CONFLICT_FREE_OFFSET(ai);
      bi += CONFLICT_FREE_OFFSET(bi);
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0) {
    g_sums[blockIdx.x] = temp[N_BLOCK - 1 + CONFLICT_FREE_OFFSET(N_BLOCK - 1)];
    temp[N_BLOCK - 1 + CONFLICT_FREE_OFFSET(N_BLOCK - 1)] = 0;
  }
  for (int d = 1; d < N_BLOCK; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CONFLICT_FREE_OFFSET(ai);
      bi += CONFLICT_FREE_OFFSET(bi);
      int t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  g_odata[base + ai] = temp[ai + bankOffsetA];
  g_odata[base + bi] = temp[bi + bankOffsetB];
}

// the text of GPU Gems: n is a parameter, memory is dynamic
__global__ void prescanPlain(float *g_odata, const float *g_idata, int n) {
  extern __shared__ float ftemp[];
  int thid = threadIdx.x;
  int offset = 1;
  g_idata += blockIdx.x * n;
  g_odata += blockIdx.x * n;
  ftemp[2 * thid] = g_idata[2 * thid];
  ftemp[2 * thid + 1] = g_idata[2 * thid + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ftemp[bi] += ftemp[ai];
    }
    offset *= 2;
  }
  if (thid == 0)
    ftemp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      float t = ftemp[ai];
      ftemp[ai] = ftemp[bi];
      ftemp[bi] += t;
    }
  }
  __syncthreads();
  g_odata[2 * thid] = ftemp[2 * thid];
  g_odata[2 * thid + 1] = ftemp[2 * thid + 1];
}

int main() {
  const int n = 1 << 24;
  const int blocks = n / N_BLOCK;
  int *in = toDevice(randomInts<int>(n, 51, 100)), *out = deviceAlloc<int>(n), *sums = deviceAlloc<int>(blocks);
  printTime("prescanPadded", timeMin([&] { prescanPadded<<<blocks, N_BLOCK / 2>>>(out, in, sums); }));
  printHash("prescanPadded", out, n);
  float *fin = toDevice(randomFloats(n, 52)), *fout = deviceAlloc<float>(n);
  const int len = 512;
  printTime("prescanPlain",
            timeMin([&] { prescanPlain<<<n / len, len / 2, len * sizeof(float)>>>(fout, fin, len); }));
  printHash("prescanPlain", fout, n);
}
