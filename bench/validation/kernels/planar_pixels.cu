// Pixels of three interleaved planes to planes of their own, and a matrix of
// doubles stored the other way round by strips of 16 rows.
#include "validation.cuh"

__global__ void to_planes(const unsigned char *rgb, unsigned char *planes,
                          int n) {
  __shared__ unsigned char s[3 * 256];
  const int first = blockIdx.x * 256 * 3;
  for (int k = threadIdx.x; k < 3 * 256; k += 256)
    if (first + k < 3 * n)
      s[k] = rgb[first + k];
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n)
    for (int p = 0; p < 3; ++p)
      planes[p * n + i] = s[3 * threadIdx.x + p];
}

__global__ void flip_strips(const double *in, double *out, int rows, int cols) {
  __shared__ double strip[16][17];
  const int x = blockIdx.x * 16 + threadIdx.x;
  const int y0 = blockIdx.y * 16;
  for (int j = threadIdx.y; j < 16; j += 4)
    strip[j][threadIdx.x] = in[(size_t)(y0 + j) * cols + x];
  __syncthreads();
  const int tx = y0 + threadIdx.x;
  for (int j = threadIdx.y; j < 16; j += 4)
    out[(size_t)(blockIdx.x * 16 + j) * rows + tx] = strip[threadIdx.x][j];
}

void split(const unsigned char *rgb, unsigned char *planes, int n) {
  to_planes<<<(n + 255) / 256, 256>>>(rgb, planes, n);
}
void flip(const double *in, double *out, int n) {
  dim3 grid(n / 16, n / 16), block(16, 4);
  flip_strips<<<grid, block>>>(in, out, n, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({640 * 480, 1 << 26}, 700)) {
    unsigned char *in = filled<unsigned char>((size_t)3 * n, 5, 0, 256),
                  *out = zeros<unsigned char>((size_t)3 * n);
    measure("to_planes", text(n), [&] { split(in, out, n); },
            {result(out, (size_t)3 * n)});
    release(in, out);
  }
  for (int n : sizes({2048, 8192}, 48)) {
    const size_t e = (size_t)n * n;
    double *in = filled<double>(e, 6), *out = zeros<double>(e);
    measure("flip_strips", text(n), [&] { flip(in, out, n); },
            {result(out, e)});
    release(in, out);
  }
}
