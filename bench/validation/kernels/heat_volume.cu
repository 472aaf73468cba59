// Heat in a volume: seven points with one shared plane per step of z, and a
// 27-point smoother with three planes kept in turn.
#include "validation.cuh"

#define BDIMX 32
#define BDIMY 8
#define IDX(x, y, z) ((z) * nx * ny + (y) * nx + (x))

__global__ void heat3d(const float *__restrict__ T, float *__restrict__ Tn,
                       int nx, int ny, int nz, float alpha) {
  __shared__ float sT[BDIMY + 2][BDIMX + 2];

  const int gx = blockIdx.x * blockDim.x + threadIdx.x;
  const int gy = blockIdx.y * blockDim.y + threadIdx.y;
  const int lx = threadIdx.x + 1;
  const int ly = threadIdx.y + 1;
  const bool inside = gx < nx && gy < ny;
  const bool interior = gx > 0 && gx < nx - 1 && gy > 0 && gy < ny - 1;

  for (int gz = 1; gz < nz - 1; ++gz) {
    if (inside) {
      sT[ly][lx] = T[IDX(gx, gy, gz)];
      if (threadIdx.x == 0 && gx > 0)
        sT[ly][0] = T[IDX(gx - 1, gy, gz)];
      if (threadIdx.x == BDIMX - 1 && gx < nx - 1)
        sT[ly][BDIMX + 1] = T[IDX(gx + 1, gy, gz)];
      if (threadIdx.y == 0 && gy > 0)
        sT[0][lx] = T[IDX(gx, gy - 1, gz)];
      if (threadIdx.y == BDIMY - 1 && gy < ny - 1)
        sT[BDIMY + 1][lx] = T[IDX(gx, gy + 1, gz)];
    }
    __syncthreads();

    if (interior) {
      float c = sT[ly][lx];
      float sum = sT[ly][lx - 1] + sT[ly][lx + 1] + sT[ly - 1][lx] +
                  sT[ly + 1][lx] + T[IDX(gx, gy, gz - 1)] +
                  T[IDX(gx, gy, gz + 1)];
      Tn[IDX(gx, gy, gz)] = c + alpha * (sum - 6.0f * c);
    }
    __syncthreads(); // the plane is overwritten in the next step
  }
}

// All the points of a 3x3x3 cube, one block for 16x8 outputs of every plane.
__device__ __forceinline__ void loadPlane(float (*s)[18], const float *g,
                                          int x0, int y0, int nx, int ny) {
  int t = threadIdx.y * 16 + threadIdx.x;
  for (int k = t; k < 18 * 10; k += 128) {
    int x = x0 + k % 18, y = y0 + k / 18;
    s[k / 18][k % 18] = (x < nx && y < ny) ? g[y * nx + x] : 0.f;
  }
}

__global__ void smooth27(const float *in, float *out, int nx, int ny, int nz,
                         float w0, float w1, float w2, float w3) {
  __shared__ float s[3][10][18];
  const int x0 = blockIdx.x * 16, y0 = blockIdx.y * 8;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = x0 + tx + 1, y = y0 + ty + 1;

  loadPlane(s[0], in, x0, y0, nx, ny);
  loadPlane(s[1], in + nx * ny, x0, y0, nx, ny);
  for (int z = 1; z < nz - 1; z++) {
    loadPlane(s[(z + 1) % 3], in + (z + 1) * nx * ny, x0, y0, nx, ny);
    __syncthreads();
    if (x < nx - 1 && y < ny - 1) {
      float acc = 0.f;
      for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++) {
            int d = (dz != 0) + (dy != 0) + (dx != 0);
            float w = d == 0 ? w0 : d == 1 ? w1 : d == 2 ? w2 : w3;
            acc += w * s[(z + dz) % 3][ty + 1 + dy][tx + 1 + dx];
          }
      out[(z * ny + y) * nx + x] = acc;
    }
    __syncthreads();
  }
}

void step(const float *T, float *Tn, int nx, int ny, int nz) {
  dim3 block(BDIMX, BDIMY, 1);
  dim3 grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y, 1);
  heat3d<<<grid, block>>>(T, Tn, nx, ny, nz, 0.1f);
}
void smooth(const float *in, float *out, int nx, int ny, int nz) {
  dim3 grid((nx - 2 + 15) / 16, (ny - 2 + 7) / 8);
  smooth27<<<grid, dim3(16, 8)>>>(in, out, nx, ny, nz, 0.4f, 0.05f, 0.02f,
                                  0.0075f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{372, 372, 372}, {250, 250, 250}, {513, 301, 66}},
                          {37, 13, 5})) {
    size_t n = (size_t)e.x * e.y * e.z;
    float *in = filled<float>(n, 321, 0, 100), *a = zeros<float>(n),
          *b = zeros<float>(n);
    measure("heat3d", text(e), [&] { step(in, a, e.x, e.y, e.z); },
            {result(a, n)});
    measure("smooth27", text(e), [&] { smooth(in, b, e.x, e.y, e.z); },
            {result(b, n)});
    release(in, a, b);
  }
}
