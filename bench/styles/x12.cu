// cellular automata, lattice and field solvers
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
static inline void ck(cudaError_t e, int line) {
  if (e != cudaSuccess) { fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e)); exit(1); }
}
#define CK(e) ck((e), __LINE__)

#define GENS 8
#define LBX 128
// 2D FDTD, TMz: H update then E update need neighbours of Ez, Hx, Hy
#define FX 16
#define FY 16
__global__ void fdtd_updateE(float *ez, const float *hx, const float *hy, const float *cb, int nx, int ny) {
  __shared__ float shx[FY + 1][FX], shy[FY][FX + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int i = blockIdx.x * FX + tx, j = blockIdx.y * FY + ty;
  bool in = i < nx && j < ny;
  shx[ty + 1][tx] = in ? hx[j * nx + i] : 0.f;
  shy[ty][tx + 1] = in ? hy[j * nx + i] : 0.f;
  if (ty == 0) shx[0][tx] = (i < nx && j > 0) ? hx[(j - 1) * nx + i] : 0.f;
  if (tx == 0) shy[ty][0] = (j < ny && i > 0) ? hy[j * nx + i - 1] : 0.f;
  __syncthreads();
  if (in) ez[j * nx + i] += cb[j * nx + i] * ((shy[ty][tx + 1] - shy[ty][tx]) - (shx[ty + 1][tx] - shx[ty][tx]));
}

#define SB 16
#define SWB 128
template <class T> T *field(size_t n, unsigned mod, T off, T scale) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; i++) h[i] = (T)(off + (T)((i * 40503u >> 4) % mod) * scale);
  CK(cudaMalloc(&d, n * sizeof(T)));
  CK(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main() {
  typedef unsigned char u8;
  int w = 3000, h = 2500;
  u8 *a = field<u8>(w * h, 2, 0, 1), *b = field<u8>(w * h, 1, 0, 1);
  CK(cudaGetLastError());
  int lx = 1024, ly = 1024;
  float *f = field<float>(9 * (size_t)lx * ly, 17, 0.1f, 0.001f), *fn = field<float>(9 * (size_t)lx * ly, 1, 0.f, 0.f);
  CK(cudaGetLastError());
  int fx = 2050, fy = 1030;
  fdtd_updateE<<<dim3((fx + FX - 1) / FX, (fy + FY - 1) / FY), dim3(FX, FY)>>>(fn, f, f + 3000000, f + 6000000, fx, fy);
  CK(cudaGetLastError());
  size_t sn = 2048 * 2048;
  float *J = field<float>(sn, 100, 1.f, 0.02f), *o = field<float>(5 * sn, 1, 0.f, 0.f);
  CK(cudaGetLastError());
  int nx = 1500, ny = 1200;
  size_t c = (size_t)nx * ny;
  double *u = field<double>(3 * c, 50, 1.0, 0.01), *v = field<double>(3 * c, 1, 0.0, 0.0);
  CK(cudaGetLastError());
  CK(cudaDeviceSynchronize());
  return 0;
}
