// Sums down strips of a matrix: 8 x 32 threads, the strips' sums added up by a tree
// along y, the mean taken off by every thread afterwards.
#include "validation.cuh"

template <int X, int Y>
__global__ void centre(const float *in, float *out, int columns) {
  __shared__ float part[Y][X];
  const int c = blockIdx.x * X + threadIdx.x;
  const size_t at = (size_t)(blockIdx.y * Y + threadIdx.y) * columns + c;
  const float mine = in[at];
  part[threadIdx.y][threadIdx.x] = mine;
  __syncthreads();
  for (int s = Y / 2; s > 0; s >>= 1) {
    if (threadIdx.y < s)
      part[threadIdx.y][threadIdx.x] += part[threadIdx.y + s][threadIdx.x];
    __syncthreads();
  }
  out[at] = mine - part[0][threadIdx.x] / Y;
}

void centreAll(const float *in, float *out, int rows, int columns) {
  centre<8, 32><<<dim3(columns / 8, rows / 32), dim3(8, 32)>>>(in, out, columns);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1024, 8192}, 64)) {
    const size_t e = (size_t)n * n;
    float *in = filled<float>(e, 31), *out = zeros<float>(e);
    measure("centre<8,32>", text(n), [&] { centreAll(in, out, n, n); },
            {result(out, e)});
    release(in, out);
  }
}
