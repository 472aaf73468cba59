// Transposes of square matrices: a thread for each element, and 32 x 8 threads
// that walk down a tile.
#include "validation.cuh"

template <int T>
__global__ void transpose_tile(float *odata, const float *idata, int width,
                               int height) {
  __shared__ float block[T][T + 1];
  unsigned int xIndex = blockIdx.x * T + threadIdx.x;
  unsigned int yIndex = blockIdx.y * T + threadIdx.y;
  if (xIndex < width && yIndex < height)
    block[threadIdx.y][threadIdx.x] = idata[yIndex * width + xIndex];
  __syncthreads();
  xIndex = blockIdx.y * T + threadIdx.x;
  yIndex = blockIdx.x * T + threadIdx.y;
  if (xIndex < height && yIndex < width)
    odata[yIndex * height + xIndex] = block[threadIdx.x][threadIdx.y];
}

__global__ void transpose_walk(float *out, const float *in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

void by_tile32(float *out, const float *in, int n) {
  transpose_tile<32><<<dim3((n + 31) / 32, (n + 31) / 32), dim3(32, 32)>>>(
      out, in, n, n);
}
void by_tile16(float *out, const float *in, int n) {
  transpose_tile<16><<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(
      out, in, n, n);
}
void by_walk(float *out, const float *in, int n) {
  transpose_walk<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(out, in, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1024, 4096, 16384}, 96)) {
    size_t e = (size_t)n * n;
    float *in = filled<float>(e, 5), *out = zeros<float>(e);
    measure("transpose_tile<32>", text(n), [&] { by_tile32(out, in, n); },
            {result(out, e)});
    measure("transpose_tile<16>", text(n), [&] { by_tile16(out, in, n); },
            {result(out, e)});
    measure("transpose_walk", text(n), [&] { by_walk(out, in, n); },
            {result(out, e)});
    release(in, out);
  }
}
