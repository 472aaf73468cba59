// A five-point Jacobi step on a grid with ghost cells, as in a solver that
// exchanges halos: rows are width + 2 * halo apart.
#include "validation.cuh"

template <int BX, int BY>
__global__ void jacobiStep(const float *__restrict__ u, float *__restrict__ un,
                           const float *__restrict__ rhs, int width, int height,
                           int pitch, int halo, float h2) {
  __shared__ float tile[(BY + 2) * (BX + 2)];
  const int sp = BX + 2;

  int ix = blockIdx.x * BX + threadIdx.x;
  int iy = blockIdx.y * BY + threadIdx.y;
  int c = (iy + halo) * pitch + ix + halo;
  int s = (threadIdx.y + 1) * sp + threadIdx.x + 1;

  bool ok = ix < width && iy < height;
  if (ok) {
    tile[s] = u[c];
    if (threadIdx.x == 0)
      tile[s - 1] = u[c - 1];
    if (threadIdx.x == BX - 1 || ix == width - 1)
      tile[s + 1] = u[c + 1];
    if (threadIdx.y == 0)
      tile[s - sp] = u[c - pitch];
    if (threadIdx.y == BY - 1 || iy == height - 1)
      tile[s + sp] = u[c + pitch];
  }
  __syncthreads();
  if (ok)
    un[c] = 0.25f * (tile[s - 1] + tile[s + 1] + tile[s - sp] + tile[s + sp] +
                     h2 * rhs[iy * width + ix]);
}

void jacobi(const float *u, float *un, const float *rhs, int w, int h) {
  const int halo = 1;
  dim3 block(32, 8);
  dim3 grid((w + 31) / 32, (h + 7) / 8);
  jacobiStep<32, 8><<<grid, block>>>(u, un, rhs, w, h, w + 2 * halo, halo,
                                     0.01f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{8190, 8190, 1}, {4095, 2161, 1}, {400, 300, 1}},
                          {45, 19, 1})) {
    size_t n = (size_t)(e.x + 2) * (e.y + 2), m = (size_t)e.x * e.y;
    float *u = filled<float>(n, 391), *rhs = filled<float>(m, 392),
          *un = zeros<float>(n);
    measure("jacobiStep<32,8>", text(e), [&] { jacobi(u, un, rhs, e.x, e.y); },
            {result(un, n)});
    release(u, rhs, un);
  }
}
