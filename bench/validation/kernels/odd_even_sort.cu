// Each block sorts keys of its own: odd-even transposition of 128 floats, and
// Batcher's odd-even merges of 512 keys with values, two to a thread.
#include "validation.cuh"

__global__ void brickSort(float *data, int n) {
  __shared__ float a[128];
  const int tid = threadIdx.x;
  const int base = blockIdx.x * 128;
  a[tid] = base + tid < n ? data[base + tid] : 3.4e38f;
  __syncthreads();
  for (int phase = 0; phase < 128; phase++) {
    if ((tid & 1) == (phase & 1) && tid < 127) {
      if (a[tid] > a[tid + 1]) {
        float tmp = a[tid];
        a[tid] = a[tid + 1];
        a[tid + 1] = tmp;
      }
    }
    __syncthreads();
  }
  if (base + tid < n)
    data[base + tid] = a[tid];
}

#define SHARED_SIZE_LIMIT 512U
typedef unsigned int uint;

__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB,
                                  uint &valB, uint dir) {
  uint t;
  if ((keyA > keyB) == dir) {
    t = keyA;
    keyA = keyB;
    keyB = t;
    t = valA;
    valA = valB;
    valB = t;
  }
}

__global__ void oddEvenMergeSortShared(uint *d_DstKey, uint *d_DstVal,
                                       const uint *d_SrcKey,
                                       const uint *d_SrcVal, uint dir) {
  __shared__ uint s_key[SHARED_SIZE_LIMIT];
  __shared__ uint s_val[SHARED_SIZE_LIMIT];

  const uint pos = blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  s_key[threadIdx.x] = d_SrcKey[pos];
  s_val[threadIdx.x] = d_SrcVal[pos];
  s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2] =
      d_SrcKey[pos + SHARED_SIZE_LIMIT / 2];
  s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2] =
      d_SrcVal[pos + SHARED_SIZE_LIMIT / 2];

  for (uint size = 2; size <= SHARED_SIZE_LIMIT; size <<= 1) {
    uint stride = size / 2;
    uint offset = threadIdx.x & (stride - 1);
    {
      __syncthreads();
      uint p = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      Comparator(s_key[p], s_val[p], s_key[p + stride], s_val[p + stride], dir);
      stride >>= 1;
    }
    for (; stride > 0; stride >>= 1) {
      __syncthreads();
      uint p = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      if (offset >= stride)
        Comparator(s_key[p - stride], s_val[p - stride], s_key[p], s_val[p],
                   dir);
    }
  }

  __syncthreads();
  d_DstKey[pos] = s_key[threadIdx.x];
  d_DstVal[pos] = s_val[threadIdx.x];
  d_DstKey[pos + SHARED_SIZE_LIMIT / 2] =
      s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2];
  d_DstVal[pos + SHARED_SIZE_LIMIT / 2] =
      s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2];
}

void brick(float *data, int n) { brickSort<<<(n + 127) / 128, 128>>>(data, n); }
void batcher(uint *dk, uint *dv, const uint *sk, const uint *sv, int n) {
  oddEvenMergeSortShared<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(
      dk, dv, sk, sv, 1);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 24, 3000001, 40000}, 300)) {
    float *d = filled<float>(n, 341);
    measure("brickSort", text(n), [&] { brick(d, n); }, {result(d, n)});
    release(d);
  }
  for (int n : sizes({1 << 24, 512 * 777}, 1024)) {
    uint *sk = (uint *)filled<int>(n, 342, 0, 2e9),
         *sv = (uint *)filled<int>(n, 343, 0, 2e9), *dk = zeros<uint>(n),
         *dv = zeros<uint>(n);
    measure("oddEvenMergeSortShared", text(n), [&] { batcher(dk, dv, sk, sv, n); },
            {result(dk, n), result(dv, n)});
    release(sk, sv, dk, dv);
  }
}
