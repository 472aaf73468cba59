// Twenty-seven points from a full tile of 10 x 10 x 10.
#include "validation.cuh"

#define E 8

__global__ void smooth27(const float *u, float *v, int nx, int ny, int nz) {
  __shared__ float t[E + 2][E + 2][E + 2];
  int x0 = blockIdx.x * E, y0 = blockIdx.y * E, z0 = blockIdx.z * E;
  int px = nx + 2, py = ny + 2;
  int id = (threadIdx.z * E + threadIdx.y) * E + threadIdx.x;
  for (int k = id; k < (E + 2) * (E + 2) * (E + 2); k += E * E * E) {
    int z = k / ((E + 2) * (E + 2)), r = k % ((E + 2) * (E + 2));
    int y = r / (E + 2), x = r % (E + 2);
    if (x0 + x < nx + 2 && y0 + y < ny + 2 && z0 + z < nz + 2)
      t[z][y][x] = u[((size_t)(z0 + z) * py + y0 + y) * px + x0 + x];
  }
  __syncthreads();
  int x = x0 + threadIdx.x, y = y0 + threadIdx.y, z = z0 + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz)
    return;
  const float w[4] = {0.125f, 0.0625f, 0.03125f, 0.015625f};
  float s = 0;
  for (int c = -1; c <= 1; c++)
    for (int b = -1; b <= 1; b++)
      for (int a = -1; a <= 1; a++)
        s += w[a * a + b * b + c * c] *
             t[threadIdx.z + 1 + c][threadIdx.y + 1 + b][threadIdx.x + 1 + a];
  v[((size_t)(z + 1) * py + y + 1) * px + x + 1] = s;
}

void smooth(const float *u, float *v, int nx, int ny, int nz) {
  dim3 block(E, E, E);
  dim3 grid((nx + E - 1) / E, (ny + E - 1) / E, (nz + E - 1) / E);
  smooth27<<<grid, block>>>(u, v, nx, ny, nz);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{100, 100, 100}, {376, 376, 376}, {401, 401, 401}},
                          {19, 10, 9})) {
    size_t n = (size_t)(e.x + 2) * (e.y + 2) * (e.z + 2);
    float *u = filled<float>(n, 62), *v = zeros<float>(n);
    measure("smooth27", text(e), [&] { smooth(u, v, e.x, e.y, e.z); },
            {result(v, n)});
    release(u, v);
  }
}
