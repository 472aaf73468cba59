// Heat in a rod: a hundred steps, the two arrays change places.
#include "validation.cuh"

#define SWAP(a, b) { float *tmp_ = a; a = b; b = tmp_; }

__global__ void rod_step(const float *old, float *now, int n, float r) {
  __shared__ float cells[130];
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned int c = threadIdx.x + 1;
  if (i < n)
    cells[c] = old[i];
  if (threadIdx.x == 0)
    cells[0] = i > 0 ? old[i - 1] : 0.f;
  if (threadIdx.x == 127)
    cells[129] = i + 1 < n ? old[i + 1] : 0.f;
  __syncthreads();
  if (i > 0 && i < n - 1)
    now[i] = cells[c] + r * (cells[c - 1] - 2.f * cells[c] + cells[c + 1]);
}

void steps(float *a, float *b, int n, int count) {
  dim3 threads, blocks;
  threads.x = 128;
  blocks.x = (n + threads.x - 1) / threads.x;
  for (int s = 0; s < count; s++) {
    rod_step<<<blocks, threads>>>(a, b, n, 0.2f);
    SWAP(a, b)
  }
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({100000, 1 << 23}, 500)) {
    float *a = filled<float>(n, 32), *b = filled<float>(n, 33);
    measure("rod_step", text(n), [&] { steps(a, b, n, small_only ? 3 : 100); },
            {result(a, n), result(b, n)});
    release(a, b);
  }
}
