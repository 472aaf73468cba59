// finite volume / difference kernels (fp64 and fp32)
#include "h.h"
#include <cstdint>

namespace fd {
constexpr int BX = 32, BY = 8;
struct Grid3 { int nx, ny, nz; };

// marching along z; own column in registers, the plane in shared memory
__global__ void heat7_march(const double *__restrict__ u, double *__restrict__ v, Grid3 g, double c0, double c1) {
  __shared__ double pl[BY + 2][BX + 2];
  const int i = blockIdx.x * BX + threadIdx.x + 1;
  const int j = blockIdx.y * BY + threadIdx.y + 1;
  const size_t plane = (size_t)g.nx * g.ny;
  const bool in = i < g.nx - 1 && j < g.ny - 1;
  const int ic = min(i, g.nx - 1), jc = min(j, g.ny - 1);
  size_t at = (size_t)jc * g.nx + ic;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  double below = u[at], here = u[at + plane];
  for (int k = 1; k < g.nz - 1; ++k) {
    at += plane;
    const double above = u[at + plane];
    __syncthreads();
    pl[ty][tx] = here;
    if (threadIdx.x == 0) pl[ty][0] = u[at - 1];
    if (threadIdx.x == BX - 1 && ic + 1 < g.nx) pl[ty][BX + 1] = u[at + 1];
    if (threadIdx.y == 0) pl[0][tx] = u[at - g.nx];
    if (threadIdx.y == BY - 1 && jc + 1 < g.ny) pl[BY + 1][tx] = u[at + g.nx];
    __syncthreads();
    if (in)
      v[at] = c0 * here + c1 * (pl[ty][tx - 1] + pl[ty][tx + 1] + pl[ty - 1][tx] + pl[ty + 1][tx] + below + above);
    below = here;
    here = above;
  }
}

// full 3-D tile
template <int TX, int TY, int TZ>
__global__ void lap27_tile(const float *u, float *v, int nx, int ny, int nz, float wc, float wf, float we, float wv) {
  __shared__ float s[TZ + 2][TY + 2][TX + 2];
  const int x0 = blockIdx.x * TX - 1, y0 = blockIdx.y * TY - 1, z0 = blockIdx.z * TZ - 1;
  const int t = (threadIdx.z * TY + threadIdx.y) * TX + threadIdx.x;
  for (int q = t; q < (TX + 2) * (TY + 2) * (TZ + 2); q += TX * TY * TZ) {
    const int lx = q % (TX + 2), ly = q / (TX + 2) % (TY + 2), lz = q / ((TX + 2) * (TY + 2));
    const int x = x0 + lx, y = y0 + ly, z = z0 + lz;
    float val = 0.f;
    if (x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz) val = u[((size_t)z * ny + y) * nx + x];
    s[lz][ly][lx] = val;
  }
  __syncthreads();
  const int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y, z = z0 + 1 + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  float r = 0.f;
#pragma unroll
  for (int dz = 0; dz < 3; ++dz)
#pragma unroll
    for (int dy = 0; dy < 3; ++dy)
#pragma unroll
      for (int dx = 0; dx < 3; ++dx) {
        const int k = (dx != 1) + (dy != 1) + (dz != 1);
        r += (k == 0 ? wc : k == 1 ? wf : k == 2 ? we : wv) * s[threadIdx.z + dz][threadIdx.y + dy][threadIdx.x + dx];
      }
  v[((size_t)z * ny + y) * nx + x] = r;
}

// periodic advection-diffusion in the plane, two fields
__global__ void advect_periodic(const float *a, const float *b, float *ra, float *rb, int nx, int ny, float dt) {
  __shared__ float sa[18][18], sb[18][18];
  const int gx = blockIdx.x * 16 + threadIdx.x, gy = blockIdx.y * 16 + threadIdx.y;
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  const int xm = (gx + nx - 1) % nx, xp = (gx + 1) % nx, ym = (gy + ny - 1) % ny, yp = (gy + 1) % ny;
  sa[ly][lx] = a[gy * nx + gx];
  sb[ly][lx] = b[gy * nx + gx];
  if (threadIdx.x == 0) { sa[ly][0] = a[gy * nx + xm]; sb[ly][0] = b[gy * nx + xm]; }
  if (threadIdx.x == 15) { sa[ly][17] = a[gy * nx + xp]; sb[ly][17] = b[gy * nx + xp]; }
  if (threadIdx.y == 0) { sa[0][lx] = a[ym * nx + gx]; sb[0][lx] = b[ym * nx + gx]; }
  if (threadIdx.y == 15) { sa[17][lx] = a[yp * nx + gx]; sb[17][lx] = b[yp * nx + gx]; }
  __syncthreads();
  const float la = sa[ly][lx - 1] + sa[ly][lx + 1] + sa[ly - 1][lx] + sa[ly + 1][lx] - 4.f * sa[ly][lx];
  const float lb = sb[ly][lx - 1] + sb[ly][lx + 1] + sb[ly - 1][lx] + sb[ly + 1][lx] - 4.f * sb[ly][lx];
  const float A = sa[ly][lx], B = sb[ly][lx], r = A * B * B;
  ra[gy * nx + gx] = A + dt * (0.16f * la - r + 0.035f * (1.f - A));
  rb[gy * nx + gx] = B + dt * (0.08f * lb + r - 0.1f * B);
}
} // namespace fd

static void emit(const char *name, const void *d, size_t n) {
  uint8_t *h = new uint8_t[n];
  cudaMemcpy(h, d, n, cudaMemcpyDeviceToHost);
  uint64_t f = 14695981039346656037ull;
  for (size_t i = 0; i < n; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016lx\n", name, f);
  delete[] h;
}

int main() {
  fd::Grid3 g{258, 202, 130};
  const size_t n = (size_t)g.nx * g.ny * g.nz;
  double *u = mk<double>(n), *v;
  cudaMalloc(&v, n * 8);
  cudaMemset(v, 0, n * 8);
  fd::heat7_march<<<dim3((g.nx - 2 + 31) / 32, (g.ny - 2 + 7) / 8), dim3(32, 8)>>>(u, v, g, 0.4, 0.1);
  const int nx = 200, ny = 150, nz = 250;
  float *p = mk<float>((size_t)nx * ny * nz), *q;
  cudaMalloc(&q, sizeof(float) * nx * ny * nz);
  fd::lap27_tile<16, 4, 4><<<dim3((nx + 15) / 16, (ny + 3) / 4, (nz + 3) / 4), dim3(16, 4, 4)>>>(p, q, nx, ny, nz, -4.f, 0.4f,
                                                                                              0.1f, 0.05f);
  const int sx = 2048, sy = 1024;
  float *a = mk<float>(sx * sy), *b = mk<float>(sx * sy + 5), *ra, *rb;
  cudaMalloc(&ra, sx * sy * 4);
  cudaMalloc(&rb, sx * sy * 4);
  fd::advect_periodic<<<dim3(sx / 16, sy / 16), dim3(16, 16)>>>(a, b + 5, ra, rb, sx, sy, 0.01f);
  cudaDeviceSynchronize();
  emit("heat", v, n * 8);
  emit("lap27", q, sizeof(float) * nx * ny * nz);
  emit("ra", ra, sx * sy * 4);
  emit("rb", rb, sx * sy * 4);
}
