// Box of 7 x 7, coordinates clamped to the image; blocks of 32 x 32 threads.
#include "validation.cuh"

template <typename T, int RADIUS, int BDX, int BDY>
__global__ void box_mean(const T *src, T *dst, int width, int height) {
  __shared__ T smem[BDY + 2 * RADIUS][BDX + 2 * RADIUS];
  int x0 = blockIdx.x * BDX - RADIUS, y0 = blockIdx.y * BDY - RADIUS;
  for (int j = threadIdx.y; j < BDY + 2 * RADIUS; j += BDY)
    for (int i = threadIdx.x; i < BDX + 2 * RADIUS; i += BDX) {
      int xx = max(0, min(x0 + i, width - 1));
      int yy = max(0, min(y0 + j, height - 1));
      smem[j][i] = src[(size_t)yy * width + xx];
    }
  __syncthreads();
  int x = blockIdx.x * BDX + threadIdx.x, y = blockIdx.y * BDY + threadIdx.y;
  if (x < width && y < height) {
    T s = 0;
    for (int j = 0; j <= 2 * RADIUS; ++j)
      for (int i = 0; i <= 2 * RADIUS; ++i)
        s += smem[threadIdx.y + j][threadIdx.x + i];
    dst[(size_t)y * width + x] = s / T((2 * RADIUS + 1) * (2 * RADIUS + 1));
  }
}

void blur(const float *src, float *dst, int w, int h) {
  constexpr int bx = 32, by = 32;
  box_mean<float, 3, bx, by>
      <<<dim3((w + bx - 1) / bx, (h + by - 1) / by), dim3(bx, by)>>>(src, dst,
                                                                     w, h);
}
void blur_int(const int *src, int *dst, int w, int h) {
  constexpr int bx = 16, by = 16;
  box_mean<int, 1, bx, by>
      <<<dim3((w + bx - 1) / bx, (h + by - 1) / by), dim3(bx, by)>>>(src, dst,
                                                                     w, h);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{1920, 1080, 1}, {4096, 4096, 1}}, {45, 37, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *in = filled<float>(n, 45), *out = zeros<float>(n);
    int *ii = filled<int>(n, 46, 0, 4096), *io = zeros<int>(n);
    measure("box_mean<float,3,32,32>", text(e), [&] { blur(in, out, e.x, e.y); },
            {result(out, n)});
    measure("box_mean<int,1,16,16>", text(e),
            [&] { blur_int(ii, io, e.x, e.y); }, {result(io, n)});
    release(in, out, ii, io);
  }
}
