// Five and nine points of a plate that is stored with a frame of one element:
// a row is width + 2 elements.
#include "validation.cuh"

const int BX = 32, BY = 8;

__global__ void five_points(const float *__restrict__ u, float *__restrict__ v,
                            int width, int height) {
  __shared__ float s[BY + 2][BX + 2];
  const int pitch = width + 2;
  int x = blockIdx.x * BX + threadIdx.x + 1;
  int y = blockIdx.y * BY + threadIdx.y + 1;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  bool inside = x <= width && y <= height;
  if (inside) {
    s[ty][tx] = u[y * pitch + x];
    if (threadIdx.y == 0)
      s[0][tx] = u[(y - 1) * pitch + x];
    if (threadIdx.y == BY - 1 || y == height)
      s[ty + 1][tx] = u[(y + 1) * pitch + x];
    if (threadIdx.x == 0)
      s[ty][0] = u[y * pitch + x - 1];
    if (threadIdx.x == BX - 1 || x == width)
      s[ty][tx + 1] = u[y * pitch + x + 1];
  }
  __syncthreads();
  if (inside)
    v[y * pitch + x] = 0.5f * s[ty][tx] +
                       0.125f * (s[ty - 1][tx] + s[ty + 1][tx] +
                                 s[ty][tx - 1] + s[ty][tx + 1]);
}

__global__ void nine_points(const float *u, float *v, int pitch) {
  __shared__ float s[(BY + 2) * (BX + 2)];
  int x0 = blockIdx.x * BX, y0 = blockIdx.y * BY;
  for (int k = threadIdx.y * BX + threadIdx.x; k < (BY + 2) * (BX + 2);
       k += BX * BY) {
    int r = k / (BX + 2), c = k % (BX + 2);
    s[k] = u[(y0 + r) * pitch + x0 + c];
  }
  __syncthreads();
  int at = (threadIdx.y + 1) * (BX + 2) + threadIdx.x + 1;
  float sum = 0;
#pragma unroll
  for (int dy = -1; dy <= 1; dy++)
#pragma unroll
    for (int dx = -1; dx <= 1; dx++)
      sum += s[at + dy * (BX + 2) + dx];
  v[(y0 + threadIdx.y + 1) * pitch + x0 + threadIdx.x + 1] = sum * (1.f / 9);
}

void step5(const float *u, float *v, int w, int h) {
  dim3 block(BX, BY), grid((w + BX - 1) / BX, (h + BY - 1) / BY);
  five_points<<<grid, block>>>(u, v, w, h);
}

void step9(const float *u, float *v, int w, int h) {
  dim3 block(BX, BY), grid(w / BX, h / BY);
  nine_points<<<grid, block>>>(u, v, w + 2);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{4096, 4096, 1}, {1920, 1080, 1}}, {64, 24, 1})) {
    size_t n = (size_t)(e.x + 2) * (e.y + 2);
    float *u = filled<float>(n, 2), *v = zeros<float>(n);
    measure("five_points", text(e), [&] { step5(u, v, e.x, e.y); },
            {result(v, n)});
    measure("nine_points", text(e), [&] { step9(u, v, e.x, e.y); },
            {result(v, n)});
    release(u, v);
  }
}
