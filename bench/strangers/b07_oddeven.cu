// Odd-even transposition sort and Batcher's odd-even merge sort.
#include "bench.h"

#define N 256

__global__ void oddEvenTransposition(int *data, int n) {
  __shared__ int a[N];
  int i = threadIdx.x;
  int base = blockIdx.x * N;
  if (base + i < n)
    a[i] = data[base + i];
  else
    a[i] = 2147483647;
  __syncthreads();
  for (int phase = 0; phase < N; phase++) {
    if ((phase & 1) == (i & 1) && i + 1 < N) {
      int x = a[i];
      int y = a[i + 1];
      if (x > y) {
        a[i] = y;
        a[i + 1] = x;
      }
    }
    __syncthreads();
  }
  if (base + i < n)
    data[base + i] = a[i];
}

template <unsigned LEN>
__global__ void oddEvenMergeSort(const float *__restrict__ src, float *__restrict__ dst) {
  __shared__ float key[LEN];
  const unsigned t = threadIdx.x;
  const size_t at = (size_t)blockIdx.x * LEN;
  key[t] = src[at + t];
  key[t + LEN / 2] = src[at + t + LEN / 2];
  for (unsigned size = 2; size <= LEN; size <<= 1) {
    unsigned stride = size / 2;
    unsigned offset = t & (stride - 1);
    __syncthreads();
    {
      unsigned pos = 2 * t - (t & (stride - 1));
      float a = key[pos], b = key[pos + stride];
      key[pos] = fminf(a, b);
      key[pos + stride] = fmaxf(a, b);
    }
    stride >>= 1;
    for (; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * t - (t & (stride - 1));
      if (offset >= stride) {
        float a = key[pos - stride], b = key[pos];
        key[pos - stride] = fminf(a, b);
        key[pos] = fmaxf(a, b);
      }
    }
  }
  __syncthreads();
  dst[at + t] = key[t];
  dst[at + t + LEN / 2] = key[t + LEN / 2];
}

int main() {
  {
    const int n = (1 << 22) - 77;
    std::vector<int> h = randomInts<int>(n, 101, 1 << 30);
    int *d = toDevice(h);
    auto sort = [&] { oddEvenTransposition<<<(n + N - 1) / N, N>>>(d, n); };
    float ms = timeMin(sort);
    CUDA_CHECK(cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    sort();
    printTime("oddEvenTransposition", ms);
    printHash("oddEvenTransposition", d, n);
  }
  {
    const size_t n = 1 << 24;
    float *src = toDevice(randomFloats(n, 102)), *dst = deviceAlloc<float>(n);
    const unsigned blocks = n / 512;
    printTime("oddEvenMergeSort", timeMin([&] { oddEvenMergeSort<512><<<blocks, 256>>>(src, dst); }));
    printHash("oddEvenMergeSort", dst, n);
  }
}
