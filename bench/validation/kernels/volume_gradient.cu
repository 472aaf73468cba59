// Central differences of a volume, a block for each plane; blocks of 16 x 16,
// three results.
#include "validation.cuh"

struct Volume {
  int nx, ny, nz;
  __host__ __device__ size_t at(int x, int y, int z) const {
    return ((size_t)z * ny + y) * nx + x;
  }
};

__global__ void gradient(const float *f, float *dx, float *dy, float *dz,
                         Volume v) {
  __shared__ float p[16 + 2][16 + 2];
  const int x = blockIdx.x * 16 + threadIdx.x;
  const int y = blockIdx.y * 16 + threadIdx.y;
  const int z = blockIdx.z;
  const int cx = min(x, v.nx - 1), cy = min(y, v.ny - 1);
  const int i = threadIdx.x + 1, j = threadIdx.y + 1;
  p[j][i] = f[v.at(cx, cy, z)];
  if (threadIdx.x == 0)
    p[j][0] = f[v.at(max(cx - 1, 0), cy, z)];
  if (threadIdx.x == 15)
    p[j][17] = f[v.at(min(cx + 1, v.nx - 1), cy, z)];
  if (threadIdx.y == 0)
    p[0][i] = f[v.at(cx, max(cy - 1, 0), z)];
  if (threadIdx.y == 15)
    p[17][i] = f[v.at(cx, min(cy + 1, v.ny - 1), z)];
  __syncthreads();
  if (x > 0 && y > 0 && z > 0 && x < v.nx - 1 && y < v.ny - 1 && z < v.nz - 1) {
    dx[v.at(x, y, z)] = 0.5f * (p[j][i + 1] - p[j][i - 1]);
    dy[v.at(x, y, z)] = 0.5f * (p[j + 1][i] - p[j - 1][i]);
    dz[v.at(x, y, z)] = 0.5f * (f[v.at(x, y, z + 1)] - f[v.at(x, y, z - 1)]);
  }
}

void derive(const float *f, float *dx, float *dy, float *dz, const Volume &v) {
  dim3 block(16, 16);
  dim3 grid((v.nx + 15) / 16, (v.ny + 15) / 16, v.nz);
  gradient<<<grid, block>>>(f, dx, dy, dz, v);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{100, 100, 100}, {376, 376, 376}}, {21, 18, 4})) {
    Volume v = {e.x, e.y, e.z};
    size_t n = (size_t)e.x * e.y * e.z;
    float *f = filled<float>(n, 63), *a = zeros<float>(n), *b = zeros<float>(n),
          *c = zeros<float>(n);
    measure("gradient", text(e), [&] { derive(f, a, b, c, v); },
            {result(a, n), result(b, n), result(c, n)});
    release(f, a, b, c);
  }
}
