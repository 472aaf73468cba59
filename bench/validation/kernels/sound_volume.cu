// Sound through a volume: a star of radius 3, a plane in shared memory, the planes
// behind and ahead in a queue of registers.
#include "validation.cuh"

#define RAD 3

__global__ void sound(const float *now, float *next, int nx, int ny, int nz,
                      float c) {
  __shared__ float p[8 + 2 * RAD][32 + 2 * RAD];
  const int x = blockIdx.x * 32 + threadIdx.x + RAD;
  const int y = blockIdx.y * 8 + threadIdx.y + RAD;
  const int lx = threadIdx.x + RAD, ly = threadIdx.y + RAD;
  const int row = nx + 2 * RAD, plane = row * (ny + 2 * RAD);
  float q[2 * RAD + 1];
  int at = y * row + x;
  for (int k = 0; k < 2 * RAD; ++k)
    q[k + 1] = now[at + k * plane];
  at += RAD * plane;
  for (int z = 0; z < nz; ++z) {
#pragma unroll
    for (int k = 0; k < 2 * RAD; ++k)
      q[k] = q[k + 1];
    q[2 * RAD] = now[at + RAD * plane];
    __syncthreads();
    p[ly][lx] = q[RAD];
    if (threadIdx.x < RAD) {
      p[ly][lx - RAD] = now[at - RAD];
      p[ly][lx + 32] = now[at + 32];
    }
    if (threadIdx.y < RAD) {
      p[ly - RAD][lx] = now[at - RAD * row];
      p[ly + 8][lx] = now[at + 8 * row];
    }
    __syncthreads();
    float sum = -6.0f * q[RAD];
#pragma unroll
    for (int k = 1; k <= RAD; ++k)
      sum += (p[ly][lx - k] + p[ly][lx + k] + p[ly - k][lx] + p[ly + k][lx] +
              q[RAD - k] + q[RAD + k]) *
             (1.0f / k);
    next[at] = q[RAD] + c * sum;
    at += plane;
  }
}

void step(const float *now, float *next, int nx, int ny, int nz) {
  sound<<<dim3(nx / 32, ny / 8), dim3(32, 8)>>>(now, next, nx, ny, nz, 0.1f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{256, 256, 200}, {352, 360, 360}}, {32, 16, 5})) {
    const size_t n = (size_t)(e.x + 2 * RAD) * (e.y + 2 * RAD) * (e.z + 2 * RAD);
    float *a = filled<float>(n, 17), *b = zeros<float>(n);
    measure("sound", text(e), [&] { step(a, b, e.x, e.y, e.z); },
            {result(b, n)});
    release(a, b);
  }
}
