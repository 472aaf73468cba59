// One-dimensional filters of 7 and 3 taps; where the interior starts is an
// argument.
#include "validation.cuh"

#define BLOCK 256

__global__ void smooth7(const float *in, float *out, int halo) {
  __shared__ float line[BLOCK + 6];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  int l = threadIdx.x + 3;
  line[l] = in[i + halo];
  if (threadIdx.x < 3) {
    line[l - 3] = in[i + halo - 3];
    line[l + BLOCK] = in[i + halo + BLOCK];
  }
  __syncthreads();
  float acc = 0.f;
  for (int k = -3; k <= 3; k++)
    acc += line[l + k];
  out[i + halo] = acc / 7.f;
}

__global__ void smooth3(const float *src, float *dst, int halo) {
  __shared__ float t[BLOCK + 2];
  const int g = threadIdx.x + blockIdx.x * blockDim.x + halo;
  t[threadIdx.x + 1] = src[g];
  if (threadIdx.x == 0)
    t[0] = src[g - 1];
  if (threadIdx.x == BLOCK - 1)
    t[BLOCK + 1] = src[g + 1];
  __syncthreads();
  dst[g] = 0.25f * t[threadIdx.x] + 0.5f * t[threadIdx.x + 1] +
           0.25f * t[threadIdx.x + 2];
}

void run7(const float *in, float *out, int n, int halo) {
  smooth7<<<n / BLOCK, BLOCK>>>(in, out, halo);
}

void run3(const float *in, float *out, int n, int halo) {
  smooth3<<<n / BLOCK, BLOCK>>>(in, out, halo);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 25, 1 << 22}, 2048)) {
    float *in = filled<float>(n + 6, 1), *out = zeros<float>(n + 6);
    measure("smooth7", text(n), [&] { run7(in, out, n, 3); },
            {result(out, n + 6)});
    measure("smooth3", text(n), [&] { run3(in, out, n, 1); },
            {result(out, n + 6)});
    release(in, out);
  }
}
