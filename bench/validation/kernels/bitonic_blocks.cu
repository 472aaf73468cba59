// Bitonic sort of pieces of 512 keys.
#include "validation.cuh"

__global__ void bitonic(unsigned *keys) {
  __shared__ unsigned shared[512];
  const unsigned tid = threadIdx.x;
  keys += blockIdx.x * 512;
  shared[tid] = keys[tid];
  __syncthreads();
  for (unsigned k = 2; k <= 512; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      unsigned ixj = tid ^ j;
      if (ixj > tid) {
        if ((tid & k) == 0) {
          if (shared[tid] > shared[ixj]) {
            unsigned t = shared[tid];
            shared[tid] = shared[ixj];
            shared[ixj] = t;
          }
        } else if (shared[tid] < shared[ixj]) {
          unsigned t = shared[tid];
          shared[tid] = shared[ixj];
          shared[ixj] = t;
        }
      }
      __syncthreads();
    }
  keys[tid] = shared[tid];
}

void sort_pieces(unsigned *keys, int n) { bitonic<<<n / 512, 512>>>(keys); }

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 24, 1 << 19}, 1024)) {
    unsigned *k = (unsigned *)filled<int>(n, 102, 0, 2e9);
    measure("bitonic", text(n), [&] { sort_pieces(k, n); }, {result(k, n)});
    release(k);
  }
}
