// fluids and volumes
#include "shown.h"
#include <math.h>

// several Jacobi sweeps inside a tile with fixed rim (additive Schwarz smoother)
#define JT 16
__global__ void jacobi_tile(const float *__restrict__ p, const float *__restrict__ div, float *__restrict__ out, int nx, int ny, int sweeps) {
  __shared__ float a[2][JT + 2][JT + 2];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = blockIdx.x * JT + tx, y = blockIdx.y * JT + ty;   // arrays are (nx+2) x (ny+2)
  const int pitch = nx + 2;
  for (int k = threadIdx.y * JT + threadIdx.x; k < (JT + 2) * (JT + 2); k += JT * JT) {
    int ly = k / (JT + 2), lx = k % (JT + 2);
    float v = p[(blockIdx.y * JT + ly) * pitch + blockIdx.x * JT + lx];
    a[0][ly][lx] = v;
    a[1][ly][lx] = v;
  }
  float d = div[y * pitch + x];
  __syncthreads();
  int cur = 0;
  for (int s = 0; s < sweeps; ++s) {
    a[cur ^ 1][ty][tx] = 0.25f * (a[cur][ty - 1][tx] + a[cur][ty + 1][tx] + a[cur][ty][tx - 1] + a[cur][ty][tx + 1] - d);
    cur ^= 1;
    __syncthreads();
  }
  out[y * pitch + x] = a[cur][ty][tx];
}

// D2Q9 lattice Boltzmann collide and pull-stream, distributions in a private array
__constant__ int d_cx[9], d_cy[9], d_opp[9];
__constant__ float d_w[9];
__global__ void lbm_d2q9(const float *fin, float *fout, int nx, int ny, float omega) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y;
  if (x >= nx) return;
  size_t n = (size_t)nx * ny;
  float f[9];
  float rho = 0, ux = 0, uy = 0;
  for (int q = 0; q < 9; ++q) {
    int xs = (x - d_cx[q] + nx) % nx, ys = y - d_cy[q];
    if (ys < 0 || ys >= ny) f[q] = fin[d_opp[q] * n + (size_t)y * nx + x] + 1.f;
    else f[q] = fin[q * n + (size_t)ys * nx + xs] + 1.f;
    rho += f[q];
    ux += f[q] * d_cx[q];
    uy += f[q] * d_cy[q];
  }
  ux /= rho;
  uy /= rho;
  float u2 = 1.5f * (ux * ux + uy * uy);
  for (int q = 0; q < 9; ++q) {
    float cu = 3.f * (ux * d_cx[q] + uy * d_cy[q]);
    float feq = d_w[q] * rho * (1.f + cu + 0.5f * cu * cu - u2);
    fout[q * n + (size_t)y * nx + x] = f[q] + omega * (feq - f[q]) - 1.f;
  }
}

// 3x3x3 convolution with a 10x10x6 tile for 8x8x4 outputs
__constant__ float c_k3[27];
__global__ void conv3d(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float s[6][10][10];
  const int x0 = blockIdx.x * 8, y0 = blockIdx.y * 8, z0 = blockIdx.z * 4;
  const int lin = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
  for (int k = lin; k < 600; k += 256) {
    int lx = k % 10, ly = (k / 10) % 10, lz = k / 100;
    int x = x0 + lx - 1, y = y0 + ly - 1, z = z0 + lz - 1;
    float v = 0.f;
    if (x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz) v = in[((size_t)z * ny + y) * nx + x];
    s[lz][ly][lx] = v;
  }
  __syncthreads();
  float acc = 0.f;
#pragma unroll
  for (int dz = 0; dz < 3; ++dz)
#pragma unroll
    for (int dy = 0; dy < 3; ++dy)
#pragma unroll
      for (int dx = 0; dx < 3; ++dx) acc += c_k3[(dz * 3 + dy) * 3 + dx] * s[threadIdx.z + dz][threadIdx.y + dy][threadIdx.x + dx];
  int x = x0 + threadIdx.x, y = y0 + threadIdx.y, z = z0 + threadIdx.z;
  if (x < nx && y < ny && z < nz) out[((size_t)z * ny + y) * nx + x] = acc;
}

// heat equation, 7 points, double, edge threads fetch their own halo
__global__ void heat7(const double *__restrict__ u, double *__restrict__ un, int n, double k) {
  __shared__ double t[4 + 2][8 + 2][8 + 2];
  int x = blockIdx.x * 8 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1, z = blockIdx.z * 4 + threadIdx.z + 1;
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1, lz = threadIdx.z + 1;
  int P = n + 2;
#define IDX(z, y, x) ((((size_t)(z)) * P + (y)) * P + (x))
  t[lz][ly][lx] = u[IDX(z, y, x)];
  if (lx == 1) t[lz][ly][0] = u[IDX(z, y, x - 1)];
  if (lx == 8) t[lz][ly][9] = u[IDX(z, y, x + 1)];
  if (ly == 1) t[lz][0][lx] = u[IDX(z, y - 1, x)];
  if (ly == 8) t[lz][9][lx] = u[IDX(z, y + 1, x)];
  if (lz == 1) t[0][ly][lx] = u[IDX(z - 1, y, x)];
  if (lz == 4) t[5][ly][lx] = u[IDX(z + 1, y, x)];
  __syncthreads();
  double c = t[lz][ly][lx];
  un[IDX(z, y, x)] = c + k * (t[lz][ly][lx - 1] + t[lz][ly][lx + 1] + t[lz][ly - 1][lx] + t[lz][ly + 1][lx] + t[lz - 1][ly][lx] +
                              t[lz + 1][ly][lx] - 6.0 * c);
#undef IDX
}

// shallow water, Lax-Friedrichs along x, one row segment per block
struct SW { float h, hu, hv; };
__device__ inline SW flux(SW q) {
  SW f;
  float u = q.hu / q.h;
  f.h = q.hu;
  f.hu = q.hu * u + 0.5f * 9.81f * q.h * q.h;
  f.hv = q.hv * u;
  return f;
}
__global__ void shallow_x(const SW *q, SW *qn, int nx, float lam) {
  __shared__ SW s[128 + 2];
  const int x = blockIdx.x * 128 + threadIdx.x;
  const SW *row = q + (size_t)blockIdx.y * nx;
  SW v = row[min(x, nx - 1)];
  v.h += 10.f;
  s[threadIdx.x + 1] = v;
  if (threadIdx.x == 0) {
    SW l = row[max(x - 1, 0)];
    l.h += 10.f;
    s[0] = l;
  }
  if (threadIdx.x == 127) {
    SW r = row[min(x + 1, nx - 1)];
    r.h += 10.f;
    s[129] = r;
  }
  __syncthreads();
  if (x >= nx) return;
  SW l = s[threadIdx.x], r = s[threadIdx.x + 2];
  SW fl = flux(l), fr = flux(r);
  SW o;
  o.h = 0.5f * (l.h + r.h) - 0.5f * lam * (fr.h - fl.h);
  o.hu = 0.5f * (l.hu + r.hu) - 0.5f * lam * (fr.hu - fl.hu);
  o.hv = 0.5f * (l.hv + r.hv) - 0.5f * lam * (fr.hv - fl.hv);
  qn[(size_t)blockIdx.y * nx + x] = o;
}

// traversal of an implicit binary hierarchy with a private stack (data dependent)
__global__ void bvh_stack(const float2 *bounds, const float *query, int *hits, int nq, int nnode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nq) return;
  int stack[24];
  int sp = 0, cnt = 0;
  float q = query[i] + (i & 7);
  stack[sp++] = 1;
  while (sp > 0) {
    int n = stack[--sp];
    float2 b = bounds[n];
    if (q < b.x || q > b.x + b.y + 6.f) continue;
    if (2 * n + 1 >= nnode) {
      cnt++;
      continue;
    }
    stack[sp++] = 2 * n;
    stack[sp++] = 2 * n + 1;
  }
  hits[i] = cnt;
}

int main() {
  {
    const int n = 2048;
    size_t e = (size_t)(n + 2) * (n + 2);
    float *p = mk<float>(e), *d = mk<float>(e), *o = mk<float>(e);
    jacobi_tile<<<dim3(n / JT, n / JT), dim3(JT, JT)>>>(p, d, o, n, n, 8);
    show("jacobi_tile", o, e * 4);
  }
  {
    int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1}, op[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
    float w[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
    cudaMemcpyToSymbol(d_cx, cx, sizeof(cx));
    cudaMemcpyToSymbol(d_cy, cy, sizeof(cy));
    cudaMemcpyToSymbol(d_opp, op, sizeof(op));
    cudaMemcpyToSymbol(d_w, w, sizeof(w));
    const int nx = 1024, ny = 1024;
    float *a = mk<float>((size_t)9 * nx * ny), *b = mk<float>((size_t)9 * nx * ny);
    lbm_d2q9<<<dim3((nx + 127) / 128, ny), 128>>>(a, b, nx, ny, 1.2f);
    show("lbm_d2q9", b, (size_t)36 * nx * ny);
  }
  {
    const int nx = 256, ny = 256, nz = 256;
    float k[27];
    for (int i = 0; i < 27; ++i) k[i] = (float)(i % 4) / 32.f;
    cudaMemcpyToSymbol(c_k3, k, sizeof(k));
    size_t n = (size_t)nx * ny * nz;
    float *a = mk<float>(n), *b = mk<float>(n);
    conv3d<<<dim3(nx / 8, ny / 8, nz / 4), dim3(8, 8, 4)>>>(a, b, nx, ny, nz);
    show("conv3d", b, n * 4);
  }
  {
    const int n = 200;
    size_t e = (size_t)(n + 2) * (n + 2) * (n + 2);
    double *a = mk<double>(e), *b = mk<double>(e);
    dim3 threads(8, 8, 4), blocks(n / 8, n / 8, n / 4);
    heat7<<<blocks, threads>>>(a, b, n, 0.1);
    heat7<<<blocks, threads>>>(b, a, n, 0.1);
    show("heat7", a, e * 8);
  }
  {
    const int nx = 2000, ny = 2048;
    float *q = mk<float>((size_t)nx * ny * 3), *r = mk<float>((size_t)nx * ny * 3);
    shallow_x<<<dim3((nx + 127) / 128, ny), 128>>>((const SW *)q, (SW *)r, nx, 0.02f);
    show("shallow_x", r, (size_t)nx * ny * 12);
  }
  {
    const int nn = 512, nq = 1 << 18;
    float *b = mk<float>(2 * nn), *q = mk<float>(nq);
    int *h = mk<int>(nq);
    bvh_stack<<<(nq + 127) / 128, 128>>>((const float2 *)b, q, h, nq, nn);
    show("bvh_stack", h, nq * 4);
  }
  return 0;
}
