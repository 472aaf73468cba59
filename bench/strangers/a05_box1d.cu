// Moving sum of integers, radius known at run time, dynamic shared memory.
#include "bench.h"

__global__ void boxSum(const int *in, int *out, int n, int radius) {
  extern __shared__ int buf[];
  int gid = blockIdx.x * blockDim.x + threadIdx.x;
  int lid = threadIdx.x + radius;
  buf[lid] = gid < n ? in[gid] : 0;
  if (threadIdx.x < radius) {
    int left = gid - radius;
    int right = gid + blockDim.x;
    buf[lid - radius] = left >= 0 ? in[left] : 0;
    buf[lid + blockDim.x] = right < n ? in[right] : 0;
  }
  __syncthreads();
  int acc = 0;
  for (int k = -radius; k <= radius; ++k)
    acc += buf[lid + k];
  if (gid < n)
    out[gid] = acc;
}

int main() {
  const int n = (1 << 25) + 17;
  const int radius = 5, threads = 256;
  int *in = toDevice(randomInts<int>(n, 21, 1000));
  int *out = deviceAlloc<int>(n);
  const int blocks = (n + threads - 1) / threads;
  const size_t shmem = (threads + 2 * radius) * sizeof(int);
  float ms = timeMin([&] { boxSum<<<blocks, threads, shmem>>>(in, out, n, radius); });
  printTime("boxSum", ms);
  printHash("boxSum", out, n);
}
