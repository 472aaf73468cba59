// Convolution with a 5 x 5 mask in constant memory, zero outside.
#include "validation.cuh"

#define MASK 5
#define RAD (MASK / 2)
#define OUT_TILE 16
#define IN_TILE (OUT_TILE + MASK - 1)

__constant__ float mask[MASK * MASK];

// One thread for each output, two loads for a tile of 20 x 20.
__global__ void convolve(const float *img, float *out, int w, int h) {
  __shared__ float N_ds[IN_TILE][IN_TILE];
  int dest = threadIdx.y * OUT_TILE + threadIdx.x;
  for (int pass = 0; pass < 2; pass++) {
    int d = dest + pass * OUT_TILE * OUT_TILE;
    int dy = d / IN_TILE, dx = d % IN_TILE;
    int sy = blockIdx.y * OUT_TILE + dy - RAD;
    int sx = blockIdx.x * OUT_TILE + dx - RAD;
    if (dy < IN_TILE) {
      if (sy >= 0 && sy < h && sx >= 0 && sx < w)
        N_ds[dy][dx] = img[sy * w + sx];
      else
        N_ds[dy][dx] = 0;
    }
  }
  __syncthreads();
  float accum = 0;
  int y, x;
  for (y = 0; y < MASK; y++)
    for (x = 0; x < MASK; x++)
      accum += N_ds[threadIdx.y + y][threadIdx.x + x] * mask[y * MASK + x];
  y = blockIdx.y * OUT_TILE + threadIdx.y;
  x = blockIdx.x * OUT_TILE + threadIdx.x;
  if (y < h && x < w)
    out[y * w + x] = accum;
}

void filter_image(const float *img, float *out, int w, int h) {
  dim3 threads(OUT_TILE, OUT_TILE, 1);
  dim3 blocks((w - 1) / OUT_TILE + 1, (h - 1) / OUT_TILE + 1, 1);
  convolve<<<blocks, threads>>>(img, out, w, h);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  float m[MASK * MASK];
  for (int i = 0; i < MASK * MASK; ++i)
    m[i] = 0.01f * (i % 7) - 0.02f;
  check(cudaMemcpyToSymbol(mask, m, sizeof m));
  for (Extent e : extents({{1920, 1080, 1}, {4096, 4096, 1}}, {50, 35, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *in = filled<float>(n, 42), *out = zeros<float>(n);
    measure("convolve", text(e), [&] { filter_image(in, out, e.x, e.y); },
            {result(out, n)});
    release(in, out);
  }
}
