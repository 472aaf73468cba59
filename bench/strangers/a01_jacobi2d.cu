// Jacobi iteration on a plate; the field has a frame of one cell, pitch nx + 2.
#include "bench.h"

#define TX 16
#define TY 16

__global__ void jacobiStep(const float *u, float *unew, const float *f, int nx, int ny, float h2) {
  __shared__ float tile[TY + 2][TX + 2];
  const int pitch = nx + 2;
  int ix = blockIdx.x * TX + threadIdx.x + 1;
  int iy = blockIdx.y * TY + threadIdx.y + 1;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int g = iy * pitch + ix;

  if (ix <= nx && iy <= ny) {
    tile[ty][tx] = u[g];
    if (threadIdx.x == 0)
      tile[ty][0] = u[g - 1];
    if (threadIdx.x == TX - 1 || ix == nx)
      tile[ty][tx + 1] = u[g + 1];
    if (threadIdx.y == 0)
      tile[0][tx] = u[g - pitch];
    if (threadIdx.y == TY - 1 || iy == ny)
      tile[ty + 1][tx] = u[g + pitch];
  }
  __syncthreads();
  if (ix <= nx && iy <= ny)
    unew[g] = 0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] - h2 * f[g]);
}

int main() {
  const int nx = 4000, ny = 3000;
  const size_t total = (size_t)(nx + 2) * (ny + 2);
  float *u = toDevice(randomFloats(total, 1));
  float *f = toDevice(randomFloats(total, 2));
  float *v = deviceAlloc<float>(total);
  dim3 block(TX, TY);
  dim3 grid((nx + TX - 1) / TX, (ny + TY - 1) / TY);
  float h2 = 1.0f / ((float)nx * nx);
  float ms = timeMin([&] { jacobiStep<<<grid, block>>>(u, v, f, nx, ny, h2); });
  printTime("jacobiStep", ms);
  printHash("jacobiStep", v, total);
  return 0;
}
