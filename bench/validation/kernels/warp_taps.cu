// Nine taps with blocks of one warp.
#include "validation.cuh"

enum { THREADS = 32, R = 4 };

__global__ void stencil_1d(int *in, int *out, int n) {
  __shared__ int temp[THREADS + 2 * R];
  int gindex = threadIdx.x + blockIdx.x * blockDim.x + R;
  int lindex = threadIdx.x + R;
  temp[lindex] = in[gindex];
  if (threadIdx.x < R) {
    temp[lindex - R] = in[gindex - R];
    temp[lindex + THREADS] = in[gindex + THREADS];
  }
  __syncthreads();
  int result = 0;
  for (int offset = -R; offset <= R; offset++)
    result += temp[lindex + offset];
  out[gindex] = result;
}

void stencil(int *in, int *out, int n) {
  stencil_1d<<<n / THREADS, THREADS>>>(in, out, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 25, 1 << 22}, 256)) {
    int *in = filled<int>(n + 2 * R, 13, 0, 1000), *out = zeros<int>(n + 2 * R);
    measure("stencil_1d", text(n), [&] { stencil(in, out, n); },
            {result(out, n + 2 * R)});
    release(in, out);
  }
}
