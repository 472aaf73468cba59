// Block sums as NVIDIA's cooperative-groups article writes them, and a bitonic sort in dynamic memory.
#include "bench.h"
#include <cooperative_groups.h>
using namespace cooperative_groups;

__device__ int reduce_sum(thread_group g, int *temp, int val) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[lane] = val;
    g.sync();
    if (lane < i)
      val += temp[lane + i];
    g.sync();
  }
  return val;
}

__global__ void sum_kernel_block(int *sums, int *input, int n) {
  extern __shared__ int temp[];
  auto g = this_thread_block();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int my_sum = i < n ? input[i] : 0;
  int block_sum = reduce_sum(g, temp, my_sum);
  if (g.thread_rank() == 0)
    sums[blockIdx.x] = block_sum;
}

__device__ inline void cas(float &a, float &b, bool up) {
  if ((a > b) == up) {
    float t = a;
    a = b;
    b = t;
  }
}

__global__ void bitonicDynamic(float *values, int n) {
  extern __shared__ float shared[];
  const int tid = threadIdx.x;
  values += (size_t)blockIdx.x * n;
  shared[tid] = values[tid];
  __syncthreads();
  for (int k = 2; k <= n; k <<= 1) {
    for (int j = k >> 1; j > 0; j >>= 1) {
      int other = tid ^ j;
      if (other > tid)
        cas(shared[tid], shared[other], (tid & k) == 0);
      __syncthreads();
    }
  }
  values[tid] = shared[tid];
}

int main() {
  const int n = 30000000, threads = 256;
  const int blocks = (n + threads - 1) / threads;
  int *input = toDevice(randomInts<int>(n, 421, 1000)), *sums = deviceAlloc<int>(blocks);
  printTime("sum_kernel_block",
            timeMin([&] { sum_kernel_block<<<blocks, threads, threads * sizeof(int)>>>(sums, input, n); }));
  printHash("sum_kernel_block", sums, blocks);

  const int len = 256, pieces = 1 << 16;
  std::vector<float> h = randomFloats((size_t)len * pieces, 422);
  float *v = toDevice(h);
  auto reset = [&] { CUDA_CHECK(cudaMemcpy(v, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice)); };
  float ms = timeMin([&] { bitonicDynamic<<<pieces, len, len * sizeof(float)>>>(v, len); });
  reset();
  bitonicDynamic<<<pieces, len, len * sizeof(float)>>>(v, len);
  printTime("bitonicDynamic", ms);
  printHash("bitonicDynamic", v, h.size());
}
