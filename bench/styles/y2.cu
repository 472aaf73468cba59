// finite difference solvers (advection, diffusion, acoustics, Maxwell)
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void die(cudaError_t e, int line) {
  if (e != cudaSuccess) {
    std::printf("line %d: %s\n", line, cudaGetErrorString(e));
    std::exit(EXIT_FAILURE);
  }
}
#define CU(x) die((x), __LINE__)

// ---- 1-D upwind, periodic; only the left neighbour is needed
__global__ void advect1d_upwind(const double *__restrict__ q, double *__restrict__ qnew, double cfl, int n) {
  extern __shared__ double sq[];
  int gid = blockIdx.x * blockDim.x + threadIdx.x;
  int lid = threadIdx.x + 1;
  if (gid < n) {
    sq[lid] = q[gid];
    if (threadIdx.x == 0) sq[0] = gid > 0 ? q[gid - 1] : q[n - 1];
  }
  __syncthreads();
  if (gid < n) qnew[gid] = sq[lid] - cfl * (sq[lid] - sq[lid - 1]);
}

// ---- 2-D diffusion on an array with one layer of ghosts (pitch = nx + 2)
#define HBX 32
#define HBY 8
__global__ void diffuse2d_ghost(const double *T, double *Tn, int nx, int ny, double ax, double ay) {
  __shared__ double t[HBY + 2][HBX + 2];
  const int pitch = nx + 2;
  const int gi = blockIdx.x * HBX + threadIdx.x + 1;
  const int gj = blockIdx.y * HBY + threadIdx.y + 1;
  const int li = threadIdx.x + 1, lj = threadIdx.y + 1;
  const bool in = gi <= nx && gj <= ny;
  if (in) {
    const size_t id = (size_t)gj * pitch + gi;
    t[lj][li] = T[id];
    if (li == 1) t[lj][0] = T[id - 1];
    if (li == HBX || gi == nx) t[lj][li + 1] = T[id + 1];
    if (lj == 1) t[0][li] = T[id - pitch];
    if (lj == HBY || gj == ny) t[lj + 1][li] = T[id + pitch];
  }
  __syncthreads();
  if (in) {
    double c = t[lj][li];
    Tn[(size_t)gj * pitch + gi] = c + ax * (t[lj][li - 1] - 2.0 * c + t[lj][li + 1]) + ay * (t[lj - 1][li] - 2.0 * c + t[lj + 1][li]);
  }
}

// ---- 3-D acoustic wave, fourth order, marching in z with the plane in shared memory
template <int BX, int BY>
__global__ void wave3d_sweep(const float *p, float *pold, const float *c2, int nx, int ny, int nz) {
  const int H = 2;
  __shared__ float pl[BY + 2 * H][BX + 2 * H];
  const float a0 = -2.5f, a1 = 4.0f / 3.0f, a2 = -1.0f / 12.0f;
  int x = blockIdx.x * BX + threadIdx.x;
  int y = blockIdx.y * BY + threadIdx.y;
  size_t plane = (size_t)nx * ny;
  bool act = x >= H && x < nx - H && y >= H && y < ny - H;
  int xs = min(x, nx - 1), ys = min(y, ny - 1);
  size_t col = (size_t)ys * nx + xs;
  float b2 = p[col], b1 = p[col + plane], cur = p[col + 2 * plane], f1 = p[col + 3 * plane], f2;
  for (int z = H; z < nz - H; ++z) {
    f2 = p[col + (size_t)(z + 2) * plane];
    __syncthreads();
    pl[threadIdx.y + H][threadIdx.x + H] = cur;
    const float *pz = p + z * plane;
    if (threadIdx.x < H) {
      pl[threadIdx.y + H][threadIdx.x] = pz[ys * nx + max(x - H, 0)];
      pl[threadIdx.y + H][threadIdx.x + BX + H] = pz[ys * nx + min(x + BX, nx - 1)];
    }
    if (threadIdx.y < H) {
      pl[threadIdx.y][threadIdx.x + H] = pz[max(y - H, 0) * nx + xs];
      pl[threadIdx.y + BY + H][threadIdx.x + H] = pz[min(y + BY, ny - 1) * nx + xs];
    }
    __syncthreads();
    if (act) {
      int tx = threadIdx.x + H, ty = threadIdx.y + H;
      float lap = 3.0f * a0 * cur;
      lap += a1 * (pl[ty][tx - 1] + pl[ty][tx + 1] + pl[ty - 1][tx] + pl[ty + 1][tx] + b1 + f1);
      lap += a2 * (pl[ty][tx - 2] + pl[ty][tx + 2] + pl[ty - 2][tx] + pl[ty + 2][tx] + b2 + f2);
      size_t id = col + z * plane;
      pold[id] = 2.0f * cur - pold[id] + c2[id] * lap;
    }
    b2 = b1; b1 = cur; cur = f1; f1 = f2;
  }
}

// ---- TM-mode FDTD: H update needs the right/upper E, E update the left/lower H
#define FD 16
__global__ void fdtd_update_h(const float *ez, float *hx, float *hy, int nx, int ny, float ch) {
  __shared__ float e[FD + 1][FD + 1];
  int i = blockIdx.x * FD + threadIdx.x, j = blockIdx.y * FD + threadIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  if (i < nx && j < ny) {
    e[ty][tx] = ez[j * nx + i];
    if (tx == FD - 1 && i + 1 < nx) e[ty][FD] = ez[j * nx + i + 1];
    if (ty == FD - 1 && j + 1 < ny) e[FD][tx] = ez[(j + 1) * nx + i];
  }
  __syncthreads();
  if (i < nx - 1 && j < ny - 1) {
    hx[j * nx + i] -= ch * (e[ty + 1][tx] - e[ty][tx]);
    hy[j * nx + i] += ch * (e[ty][tx + 1] - e[ty][tx]);
  }
}

__global__ void fdtd_update_e(float *ez, const float *hx, const float *hy, int nx, int ny, float ce, float src) {
  __shared__ float sx[FD + 1][FD], sy[FD][FD + 1];
  int i = blockIdx.x * FD + threadIdx.x, j = blockIdx.y * FD + threadIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  int k = j * nx + i;
  if (i < nx && j < ny) {
    sx[ty + 1][tx] = hx[k];
    sy[ty][tx + 1] = hy[k];
    if (ty == 0) sx[0][tx] = j > 0 ? hx[k - nx] : 0.f;
    if (tx == 0) sy[ty][0] = i > 0 ? hy[k - 1] : 0.f;
  }
  __syncthreads();
  if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
    float v = ez[k] + ce * ((sy[ty][tx + 1] - sy[ty][tx]) - (sx[ty + 1][tx] - sx[ty][tx]));
    if (i == nx / 2 && j == ny / 2) v += src;
    ez[k] = v;
  }
}

template <typename T> T *upload(size_t n, double f) {
  std::vector<T> h(n);
  for (size_t i = 0; i < n; i++) h[i] = (T)(f * (double)((i * 7919) % 1009) / 1009.0);
  T *d;
  CU(cudaMalloc(&d, n * sizeof(T)));
  CU(cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}

int main(int argc, char **argv) {
  int n1 = argc > 1 ? atoi(argv[1]) : (1 << 24) + 77;
  double *qa = upload<double>(n1, 1.0), *qb = upload<double>(n1, 0.0);
  int bs = 256;
  advect1d_upwind<<<(n1 + bs - 1) / bs, bs, (bs + 1) * sizeof(double)>>>(qa, qb, 0.4, n1);
  CU(cudaGetLastError());
  CU(cudaDeviceSynchronize());
  cudaFree(qa); cudaFree(qb);

  int nx = 3000, ny = 2500;
  size_t sz = (size_t)(nx + 2) * (ny + 2);
  double *ta = upload<double>(sz, 100.0), *tb = upload<double>(sz, 100.0);
  for (int it = 0; it < 2; it++) {
    diffuse2d_ghost<<<dim3((nx + HBX - 1) / HBX, (ny + HBY - 1) / HBY), dim3(HBX, HBY)>>>(ta, tb, nx, ny, 0.2, 0.15);
    std::swap(ta, tb);
  }
  CU(cudaGetLastError());
  CU(cudaDeviceSynchronize());
  cudaFree(ta); cudaFree(tb);

  int vx = 300, vy = 300, vz = 300;
  size_t vol = (size_t)vx * vy * vz;
  float *p0 = upload<float>(vol, 1.0), *p1 = upload<float>(vol, 1.0), *vel = upload<float>(vol, 0.1);
  wave3d_sweep<32, 8><<<dim3((vx + 31) / 32, (vy + 7) / 8), dim3(32, 8)>>>(p0, p1, vel, vx, vy, vz);
  CU(cudaGetLastError());
  CU(cudaDeviceSynchronize());
  cudaFree(p0); cudaFree(p1); cudaFree(vel);

  int fx = 4096, fy = 4000;
  float *ez = upload<float>((size_t)fx * fy, 0.01), *hx = upload<float>((size_t)fx * fy, 0.0), *hy = upload<float>((size_t)fx * fy, 0.0);
  dim3 fb(FD, FD), fg((fx + FD - 1) / FD, (fy + FD - 1) / FD);
  for (int t = 0; t < 2; t++) {
    fdtd_update_h<<<fg, fb>>>(ez, hx, hy, fx, fy, 0.5f);
    fdtd_update_e<<<fg, fb>>>(ez, hx, hy, fx, fy, 0.5f, sinf(0.1f * t));
  }
  CU(cudaGetLastError());
  CU(cudaDeviceSynchronize());
  cudaFree(ez); cudaFree(hx); cudaFree(hy);
  return 0;
}
