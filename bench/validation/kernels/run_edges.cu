// Where runs of equal bytes begin: each element is compared with the one to its
// left.
#include "validation.cuh"

typedef unsigned char u8;

__global__ void mark_runs(const u8 *data, int *flag, int count) {
  __shared__ u8 cache[257];
  const int tid = threadIdx.x;
  const int idx = blockIdx.x * 256 + tid;
  if (idx < count) {
    cache[tid + 1] = data[idx];
    if (tid == 0)
      cache[0] = idx == 0 ? 0 : data[idx - 1];
  }
  __syncthreads();
  if (idx < count)
    flag[idx] = (idx == 0 || cache[tid + 1] != cache[tid]) ? 1 : 0;
}

void mark(const u8 *data, int *flag, int count) {
  mark_runs<<<(count + 255) / 256, 256>>>(data, flag, count);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 26, 640 * 480}, 1234)) {
    u8 *d = filled<u8>(n, 25, 0, 3);
    int *f = zeros<int>(n);
    measure("mark_runs", text(n), [&] { mark(d, f, n); }, {result(f, n)});
    release(d, f);
  }
}
