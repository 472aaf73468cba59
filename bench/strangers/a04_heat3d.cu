// 3-D diffusion: a brick of 8x8x8 in double, and a high-order one that marches over the planes in float.
#include "bench.h"

template <typename T, int B>
__global__ void heat7(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz, T c0, T c1) {
  __shared__ T s[B + 2][B + 2][B + 2];
  const int x = blockIdx.x * B + threadIdx.x;
  const int y = blockIdx.y * B + threadIdx.y;
  const int z = blockIdx.z * B + threadIdx.z;
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1, lz = threadIdx.z + 1;
  const bool inside = x < nx && y < ny && z < nz;
  const int plane = nx * ny;
  const int g = z * plane + y * nx + x;
  if (inside) {
    s[lz][ly][lx] = in[g];
    if (lx == 1)
      s[lz][ly][0] = x > 0 ? in[g - 1] : in[g];
    if (lx == B || x == nx - 1)
      s[lz][ly][lx + 1] = x < nx - 1 ? in[g + 1] : in[g];
    if (ly == 1)
      s[lz][0][lx] = y > 0 ? in[g - nx] : in[g];
    if (ly == B || y == ny - 1)
      s[lz][ly + 1][lx] = y < ny - 1 ? in[g + nx] : in[g];
    if (lz == 1)
      s[0][ly][lx] = z > 0 ? in[g - plane] : in[g];
    if (lz == B || z == nz - 1)
      s[lz + 1][ly][lx] = z < nz - 1 ? in[g + plane] : in[g];
  }
  __syncthreads();
  if (inside)
    out[g] = c0 * s[lz][ly][lx] + c1 * (s[lz][ly][lx - 1] + s[lz][ly][lx + 1] + s[lz][ly - 1][lx] +
                                        s[lz][ly + 1][lx] + s[lz - 1][ly][lx] + s[lz + 1][ly][lx]);
}

#define R 4
#define BX 32
#define BY 8
__constant__ float coef[R + 1];

// the field has a frame of R cells on each side; pitch = nx + 2R
__global__ void wavePlanes(const float *cur, const float *prev, float *next, int nx, int ny, int nz) {
  __shared__ float plane[BY + 2 * R][BX + 2 * R];
  const int pitch = nx + 2 * R;
  const int stride = pitch * (ny + 2 * R);
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  const int tx = threadIdx.x + R, ty = threadIdx.y + R;
  const int corner = (blockIdx.y * BY) * pitch + blockIdx.x * BX;
  for (int z = 0; z < nz; z++) {
    const int base = (z + R) * stride;
    __syncthreads();
    for (int j = threadIdx.y; j < BY + 2 * R; j += BY)
      for (int i = threadIdx.x; i < BX + 2 * R; i += BX)
        if (blockIdx.x * BX + i < nx + 2 * R && blockIdx.y * BY + j < ny + 2 * R)
          plane[j][i] = cur[base + corner + j * pitch + i];
    __syncthreads();
    if (x < nx && y < ny) {
      const int g = base + (y + R) * pitch + x + R;
      float lap = 3.0f * coef[0] * plane[ty][tx];
#pragma unroll
      for (int r = 1; r <= R; r++)
        lap += coef[r] * (plane[ty][tx - r] + plane[ty][tx + r] + plane[ty - r][tx] + plane[ty + r][tx] +
                          cur[g - r * stride] + cur[g + r * stride]);
      next[g] = 2.0f * plane[ty][tx] - prev[g] + 0.01f * lap;
    }
  }
}

int main() {
  {
    const int nx = 200, ny = 200, nz = 200;
    const size_t n = (size_t)nx * ny * nz;
    std::vector<double> h(n);
    Rng r(11);
    for (auto &v : h)
      v = r.uniform();
    double *in = toDevice(h), *out = deviceAlloc<double>(n);
    dim3 block(8, 8, 8), grid(nx / 8, ny / 8, nz / 8);
    auto run = [&] { heat7<double, 8><<<grid, block>>>(in, out, nx, ny, nz, 0.4, 0.1); };
    printTime("heat7", timeMin(run));
    printHash("heat7", out, n);
    cudaFree(in);
    cudaFree(out);
  }
  {
    const int nx = 500, ny = 400, nz = 100;
    const size_t n = (size_t)(nx + 2 * R) * (ny + 2 * R) * (nz + 2 * R);
    const float c[R + 1] = {-2.847222f, 1.6f, -0.2f, 0.025397f, -0.001786f};
    CUDA_CHECK(cudaMemcpyToSymbol(coef, c, sizeof c));
    float *cur = toDevice(randomFloats(n, 12)), *prev = toDevice(randomFloats(n, 13)), *next = deviceAlloc<float>(n);
    dim3 block(BX, BY), grid((nx + BX - 1) / BX, (ny + BY - 1) / BY);
    printTime("wavePlanes", timeMin([&] { wavePlanes<<<grid, block>>>(cur, prev, next, nx, ny, nz); }));
    printHash("wavePlanes", next, n);
  }
  return 0;
}
