// volume stencils
#include "shown.h"

// 1. 7-point heat, 3-D block with full halo cube
#define HX 32
#define HY 4
#define HZ 4
#define IDX3(i, j, k, nx, ny) ((size_t)(k) * (nx) * (ny) + (size_t)(j) * (nx) + (i))
__global__ void heat3d_7pt(const float *T, float *Tn, int nx, int ny, int nz, float k) {
  __shared__ float s[HZ + 2][HY + 2][HX + 2];
  int i = blockIdx.x * HX + threadIdx.x, j = blockIdx.y * HY + threadIdx.y, l = blockIdx.z * HZ + threadIdx.z;
  int x = threadIdx.x + 1, y = threadIdx.y + 1, z = threadIdx.z + 1;
  bool in = i < nx && j < ny && l < nz;
  size_t c = IDX3(i, j, l, nx, ny);
  if (in) {
    s[z][y][x] = T[c];
    if (threadIdx.x == 0 && i > 0) s[z][y][0] = T[c - 1];
    if (threadIdx.x == HX - 1 && i < nx - 1) s[z][y][HX + 1] = T[c + 1];
    if (threadIdx.y == 0 && j > 0) s[z][0][x] = T[c - nx];
    if (threadIdx.y == HY - 1 && j < ny - 1) s[z][HY + 1][x] = T[c + nx];
    if (threadIdx.z == 0 && l > 0) s[0][y][x] = T[c - (size_t)nx * ny];
    if (threadIdx.z == HZ - 1 && l < nz - 1) s[HZ + 1][y][x] = T[c + (size_t)nx * ny];
  }
  __syncthreads();
  if (!in) return;
  float v = s[z][y][x];
  if (i > 0 && j > 0 && l > 0 && i < nx - 1 && j < ny - 1 && l < nz - 1)
    v += k * (s[z][y][x - 1] + s[z][y][x + 1] + s[z][y - 1][x] + s[z][y + 1][x] + s[z - 1][y][x] + s[z + 1][y][x] - 6.f * v);
  Tn[c] = v;
}

// 2. 27-point, three planes kept in shared and rotated along z
template <typename real, int BX, int BY>
__global__ void stencil27(const real *__restrict__ in, real *__restrict__ out, int nx, int ny, int nz, int pitch, real wc, real wf, real we, real wv) {
  __shared__ real pl[3][BY + 2][BX + 2];
  const int gx = blockIdx.x * BX + threadIdx.x, gy = blockIdx.y * BY + threadIdx.y;
  auto load = [&](int slot, int z) {
    z = max(0, min(z, nz - 1));
    for (int y = threadIdx.y; y < BY + 2; y += BY)
      for (int x = threadIdx.x; x < BX + 2; x += BX) {
        int px = max(0, min((int)(blockIdx.x * BX) + x - 1, nx - 1));
        int py = max(0, min((int)(blockIdx.y * BY) + y - 1, ny - 1));
        pl[slot][y][x] = in[((size_t)z * ny + py) * pitch + px];
      }
  };
  load(0, -1);
  load(1, 0);
  int a = 0, b = 1, c = 2;
  for (int z = 0; z < nz; ++z) {
    load(c, z + 1);
    __syncthreads();
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    real acc = wc * pl[b][y][x];
    acc += wf * (pl[b][y][x - 1] + pl[b][y][x + 1] + pl[b][y - 1][x] + pl[b][y + 1][x] + pl[a][y][x] + pl[c][y][x]);
    acc += we * (pl[b][y - 1][x - 1] + pl[b][y - 1][x + 1] + pl[b][y + 1][x - 1] + pl[b][y + 1][x + 1] + pl[a][y][x - 1] + pl[a][y][x + 1] + pl[a][y - 1][x] + pl[a][y + 1][x] + pl[c][y][x - 1] + pl[c][y][x + 1] + pl[c][y - 1][x] + pl[c][y + 1][x]);
    acc += wv * (pl[a][y - 1][x - 1] + pl[a][y - 1][x + 1] + pl[a][y + 1][x - 1] + pl[a][y + 1][x + 1] + pl[c][y - 1][x - 1] + pl[c][y - 1][x + 1] + pl[c][y + 1][x - 1] + pl[c][y + 1][x + 1]);
    if (gx < nx && gy < ny) out[((size_t)z * ny + gy) * pitch + gx] = acc;
    __syncthreads();
    int t = a; a = b; b = c; c = t;
  }
}

// 3. SDK FDTD3d: register queue along z, radius 4
#define RADIUS 4
#define k_blockDimX 32
#define k_blockDimMaxY 16
__constant__ float stencil[RADIUS + 1];
__global__ void FiniteDifferencesKernel(float *output, const float *input, const int dimx, const int dimy, const int dimz) {
  __shared__ float tile[k_blockDimMaxY + 2 * RADIUS][k_blockDimX + 2 * RADIUS];
  bool validr = true, validw = true;
  const int gtidx = blockIdx.x * blockDim.x + threadIdx.x;
  const int gtidy = blockIdx.y * blockDim.y + threadIdx.y;
  const int ltidx = threadIdx.x, ltidy = threadIdx.y;
  const int workx = blockDim.x, worky = blockDim.y;
  const int stride_y = dimx + 2 * RADIUS;
  const int stride_z = stride_y * (dimy + 2 * RADIUS);
  int inputIndex = RADIUS * stride_y + RADIUS + gtidy * stride_y + gtidx;
  int outputIndex = 0;
  float infront[RADIUS], behind[RADIUS], current;
  const int tx = ltidx + RADIUS, ty = ltidy + RADIUS;
  if ((gtidx >= dimx + RADIUS) || (gtidy >= dimy + RADIUS)) validr = false;
  if ((gtidx >= dimx) || (gtidy >= dimy)) validw = false;
  for (int i = RADIUS - 2; i >= 0; i--) {
    behind[i] = validr ? input[inputIndex] : 0.f;
    inputIndex += stride_z;
  }
  current = validr ? input[inputIndex] : 0.f;
  outputIndex = inputIndex;
  inputIndex += stride_z;
  for (int i = 0; i < RADIUS; i++) {
    infront[i] = validr ? input[inputIndex] : 0.f;
    inputIndex += stride_z;
  }
  behind[RADIUS - 1] = 0.f;
#pragma unroll 9
  for (int iz = 0; iz < dimz; iz++) {
    for (int i = RADIUS - 1; i > 0; i--) behind[i] = behind[i - 1];
    behind[0] = current;
    current = infront[0];
#pragma unroll
    for (int i = 0; i < RADIUS - 1; i++) infront[i] = infront[i + 1];
    infront[RADIUS - 1] = validr ? input[inputIndex] : 0.f;
    inputIndex += stride_z;
    outputIndex += stride_z;
    __syncthreads();
    if (ltidy < RADIUS) {
      tile[ltidy][tx] = validw || gtidx < dimx ? input[outputIndex - RADIUS * stride_y] : 0.f;
      tile[ltidy + worky + RADIUS][tx] = gtidx < dimx && gtidy + worky < dimy + RADIUS ? input[outputIndex + worky * stride_y] : 0.f;
    }
    if (ltidx < RADIUS) {
      tile[ty][ltidx] = gtidy < dimy ? input[outputIndex - RADIUS] : 0.f;
      tile[ty][ltidx + workx + RADIUS] = gtidy < dimy && gtidx + workx < dimx + RADIUS ? input[outputIndex + workx] : 0.f;
    }
    tile[ty][tx] = current;
    __syncthreads();
    float value = stencil[0] * current;
#pragma unroll
    for (int i = 1; i <= RADIUS; i++)
      value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
    if (validw) output[outputIndex] = value;
  }
}

// 4. acoustic wave, 2nd order in time, 8th order space, z fastest, planes along x slow axis
struct WaveParams {
  int n1, n2, n3;  // n1 fastest
  float dt2;
};
#define O 2
__device__ const float kC[O + 1] = {-2.5f, 1.3333333f, -0.0833333f};
__global__ void wave_step(float *__restrict__ pnext, const float *__restrict__ pcur, const float *__restrict__ vel, const WaveParams P) {
  extern __shared__ float plane[];
  const int sw = blockDim.x + 2 * O;
  const int a = blockIdx.x * blockDim.x + threadIdx.x + O;
  const int b = blockIdx.y * blockDim.y + threadIdx.y + O;
  const long st2 = P.n1, st3 = (long)P.n1 * P.n2;
  const bool act = a < P.n1 - O && b < P.n2 - O;
  const int la = threadIdx.x + O, lb = threadIdx.y + O;
  float q[2 * O + 1];
  for (int k = 0; k < 2 * O; k++) q[k + 1] = act ? pcur[k * st3 + b * st2 + a] : 0.f;
  for (int k = O; k < P.n3 - O; k++) {
#pragma unroll
    for (int m = 0; m < 2 * O; m++) q[m] = q[m + 1];
    q[2 * O] = act ? pcur[(k + O) * st3 + b * st2 + a] : 0.f;
    // cooperative clamped halo load
    for (int y = threadIdx.y; y < (int)blockDim.y + 2 * O; y += blockDim.y)
      for (int x = threadIdx.x; x < sw; x += blockDim.x) {
        int ga = min((int)(blockIdx.x * blockDim.x) + x, P.n1 - 1);
        int gb = min((int)(blockIdx.y * blockDim.y) + y, P.n2 - 1);
        plane[y * sw + x] = pcur[k * st3 + gb * st2 + ga];
      }
    __syncthreads();
    if (act) {
      float lap = 3.f * kC[0] * q[O];
#pragma unroll
      for (int m = 1; m <= O; m++) lap += kC[m] * (q[O - m] + q[O + m] + plane[lb * sw + la - m] + plane[lb * sw + la + m] + plane[(lb - m) * sw + la] + plane[(lb + m) * sw + la]);
      size_t c = k * st3 + b * st2 + a;
      pnext[c] = 2.f * q[O] - pnext[c] + P.dt2 * vel[c] * vel[c] * lap;
    }
    __syncthreads();
  }
}
#undef O

// 5. upwind advection in double, flux at lower faces staged in shared
template <int BX, int BY, int BZ>
struct Adv3D {
  struct Faces { double fx[BZ][BY][BX + 1]; };
};
template <int BX, int BY, int BZ>
__global__ void advectUpwind(const double *__restrict__ phi, double *__restrict__ phiNew, const double *__restrict__ ux, int nx, int ny, int nz, double cfl) {
  __shared__ typename Adv3D<BX, BY, BZ>::Faces F;
  const int i = blockIdx.x * BX + threadIdx.x, j = blockIdx.y * BY + threadIdx.y, k = blockIdx.z * BZ + threadIdx.z;
  const bool ok = j < ny && k < nz;
  const size_t row = ((size_t)k * ny + j) * nx;
  auto face = [&](int f) -> double {  // face between f-1 and f, periodic
    int r = f % nx, l = (f + nx - 1) % nx;
    double u = 0.5 * (ux[row + l] + ux[row + r]) - 5.0;
    return u > 0 ? u * phi[row + l] : u * phi[row + r];
  };
  F.fx[threadIdx.z][threadIdx.y][threadIdx.x] = ok && i <= nx ? face(i) : 0.0;
  if (threadIdx.x == BX - 1) F.fx[threadIdx.z][threadIdx.y][BX] = ok && i + 1 <= nx ? face(i + 1) : 0.0;
  __syncthreads();
  if (ok && i < nx) {
    double yd = phi[row + i] - phi[((size_t)k * ny + (j ? j - 1 : ny - 1)) * nx + i];
    phiNew[row + i] = phi[row + i] - cfl * (F.fx[threadIdx.z][threadIdx.y][threadIdx.x + 1] - F.fx[threadIdx.z][threadIdx.y][threadIdx.x]) - 0.1 * cfl * yd;
  }
}

// 6. curl of a vector field, SoA in, AoS out, three shared planes
__global__ void curl_central(const float *vx, const float *vy, const float *vz, float3 *w, unsigned NX, unsigned NY, unsigned NZ) {
  const unsigned S = 18;
  __shared__ float px[S][S], py[S][S], pz[S][S];
  unsigned k = blockIdx.z;
  unsigned zm = k ? k - 1 : 0, zp = k + 1 < NZ ? k + 1 : NZ - 1;
  for (unsigned t = threadIdx.y * 16 + threadIdx.x; t < S * S; t += 256) {
    unsigned lx = t % S, ly = t / S;
    unsigned gx = min(max((int)(blockIdx.x * 16 + lx) - 1, 0), (int)NX - 1);
    unsigned gy = min(max((int)(blockIdx.y * 16 + ly) - 1, 0), (int)NY - 1);
    size_t g = ((size_t)k * NY + gy) * NX + gx;
    px[ly][lx] = vx[g];
    py[ly][lx] = vy[g];
    pz[ly][lx] = vz[g];
  }
  __syncthreads();
  unsigned i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
  if (i >= NX || j >= NY) return;
  unsigned x = threadIdx.x + 1, y = threadIdx.y + 1;
  size_t up = ((size_t)zp * NY + j) * NX + i, dn = ((size_t)zm * NY + j) * NX + i;
  float3 r;
  r.x = 0.5f * (pz[y + 1][x] - pz[y - 1][x]) - 0.5f * (vy[up] - vy[dn]);
  r.y = 0.5f * (vx[up] - vx[dn]) - 0.5f * (pz[y][x + 1] - pz[y][x - 1]);
  r.z = 0.5f * (py[y][x + 1] - py[y][x - 1]) - 0.5f * (px[y + 1][x] - px[y - 1][x]);
  w[((size_t)k * NY + j) * NX + i] = r;
}

// 7. D3Q7 lattice Boltzmann, pull, x-streaming staged through shared rows
#define LB_T 128
#define LB_Q 7
__global__ void lbmD3Q7(const float *f, float *g, int nx, int ny, int nz, float omega) {
  __shared__ float east[LB_T + 2], west[LB_T + 2];
  int x = blockIdx.x * LB_T + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  size_t vol = (size_t)nx * ny * nz, row = ((size_t)z * ny + y) * nx;
  int left = blockIdx.x * LB_T;
  for (int k = threadIdx.x; k < LB_T + 2; k += LB_T) {
    int gx = left + k - 1;
    gx = gx < 0 ? nx - 1 : (gx >= nx ? gx % nx : gx);
    east[k] = f[1 * vol + row + gx];
    west[k] = f[2 * vol + row + gx];
  }
  __syncthreads();
  if (x >= nx) return;
  int yn = y + 1 == ny ? 0 : y + 1, ys = y == 0 ? ny - 1 : y - 1, zt = z + 1 == nz ? 0 : z + 1, zb = z == 0 ? nz - 1 : z - 1;
  float p[LB_Q];
  p[0] = f[row + x];
  p[1] = east[threadIdx.x];
  p[2] = west[threadIdx.x + 2];
  p[3] = f[3 * vol + ((size_t)z * ny + ys) * nx + x];
  p[4] = f[4 * vol + ((size_t)z * ny + yn) * nx + x];
  p[5] = f[5 * vol + ((size_t)zb * ny + y) * nx + x];
  p[6] = f[6 * vol + ((size_t)zt * ny + y) * nx + x];
  float rho = 0.f;
#pragma unroll
  for (int q = 0; q < LB_Q; q++) rho += p[q];
  float jx = 0.1f, wq = 0.125f;
#pragma unroll
  for (int q = 0; q < LB_Q; q++) {
    float eq = q == 0 ? 0.25f * rho : wq * rho * (1.f + (q == 1 ? jx : q == 2 ? -jx : 0.f) * 4.f);
    g[q * vol + row + x] = p[q] - omega * (p[q] - eq);
  }
}

// 8. FDTD E update (Yee), march in z, H planes: shared for hx,hy in-plane, registers for previous
class YeeGrid {
 public:
  int nx, ny, nz;
  float *ex, *ey, *ez, *hx, *hy, *hz;
  __host__ __device__ size_t at(int i, int j, int k) const { return ((size_t)k * ny + j) * nx + i; }
};
template <int TX, int TY>
__global__ void __launch_bounds__(TX *TY) updateE(YeeGrid G, float ce, int zchunk) {
  __shared__ float shx[TY + 1][TX], shy[TY][TX + 1], shz[TY + 1][TX + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int i = blockIdx.x * TX + tx, j = blockIdx.y * TY + ty;
  const int k0 = blockIdx.z * zchunk, k1 = min(k0 + zchunk, G.nz);
  const bool in = i < G.nx && j < G.ny;
  float hxPrev = in && k0 > 0 ? G.hx[G.at(i, j, k0 - 1)] : 0.f, hyPrev = in && k0 > 0 ? G.hy[G.at(i, j, k0 - 1)] : 0.f;
  for (int k = k0; k < k1; ++k) {
    float hxc = in ? G.hx[G.at(i, j, k)] : 0.f, hyc = in ? G.hy[G.at(i, j, k)] : 0.f, hzc = in ? G.hz[G.at(i, j, k)] : 0.f;
    shx[ty + 1][tx] = hxc;
    shy[ty][tx + 1] = hyc;
    shz[ty + 1][tx + 1] = hzc;
    if (ty == 0) {
      bool b = j > 0 && i < G.nx && j - 1 < G.ny;
      shx[0][tx] = b ? G.hx[G.at(i, j - 1, k)] : 0.f;
      shz[0][tx + 1] = b ? G.hz[G.at(i, j - 1, k)] : 0.f;
    }
    if (tx == 0) {
      bool b = i > 0 && j < G.ny;
      shy[ty][0] = b ? G.hy[G.at(i - 1, j, k)] : 0.f;
      shz[ty + 1][0] = b ? G.hz[G.at(i - 1, j, k)] : 0.f;
    }
    __syncthreads();
    if (in) {
      size_t c = G.at(i, j, k);
      G.ex[c] += ce * ((hzc - shz[ty][tx + 1]) - (hyc - hyPrev));
      G.ey[c] += ce * ((hxc - hxPrev) - (hzc - shz[ty + 1][tx]));
      G.ez[c] += ce * ((hyc - shy[ty][tx]) - (hxc - shx[ty][tx]));
    }
    hxPrev = hxc;
    hyPrev = hyc;
    __syncthreads();
  }
}

int main() {
  {
    int nx = 301, ny = 299, nz = 257;
    size_t n = (size_t)nx * ny * nz;
    float *a = mk<float>(n), *b = mk<float>(n);
    heat3d_7pt<<<dim3((nx + HX - 1) / HX, (ny + HY - 1) / HY, (nz + HZ - 1) / HZ), dim3(HX, HY, HZ)>>>(a, b, nx, ny, nz, 0.1f);
    show("heat3d_7pt", b, n * 4);
    cudaFree(a); cudaFree(b);
  }
  {
    int nx = 509, ny = 403, nz = 61, pitch = 512;
    size_t n = (size_t)pitch * ny * nz;
    double *a = mk<double>(n), *b = mk<double>(n);
    stencil27<double, 32, 8><<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(a, b, nx, ny, nz, pitch, 0.5, 0.05, 0.01, 0.01);
    show("stencil27", b, n * 8);
    cudaFree(a); cudaFree(b);
  }
  {
    float h[RADIUS + 1] = {0.3f, 0.1f, 0.05f, 0.02f, 0.01f};
    cudaMemcpyToSymbol(stencil, h, sizeof h);
    int dx = 376, dy = 370, dz = 120;
    // a few planes to spare behind the last
    size_t n = (size_t)(dx + 2 * RADIUS) * (dy + 2 * RADIUS) * (dz + 2 * RADIUS + 2);
    float *a = mk<float>(n), *b = mk<float>(n);
    FiniteDifferencesKernel<<<dim3((dx + 31) / 32, (dy + 15) / 16), dim3(32, 16)>>>(b, a, dx, dy, dz);
    show("FiniteDifferencesKernel", b, n * 4);
    cudaFree(a); cudaFree(b);
  }
  {
    WaveParams P = {403, 395, 91, 0.001f};
    size_t n = (size_t)P.n1 * P.n2 * P.n3;
    float *pn = mk<float>(n), *pc = mk<float>(n), *v = mk<float>(n);
    dim3 b(32, 8), g((P.n1 - 4 + 31) / 32, (P.n2 - 4 + 7) / 8);
    wave_step<<<g, b, (b.x + 4) * (b.y + 4) * sizeof(float)>>>(pn, pc, v, P);
    show("wave_step", pn, n * 4);
    cudaFree(pn); cudaFree(pc); cudaFree(v);
  }
  {
    int nx = 255, ny = 254, nz = 253;
    size_t n = (size_t)nx * ny * nz;
    double *p = mk<double>(n), *q = mk<double>(n), *u = mk<double>(n);
    advectUpwind<16, 8, 2><<<dim3(nx / 16 + 1, (ny + 7) / 8, (nz + 1) / 2), dim3(16, 8, 2)>>>(p, q, u, nx, ny, nz, 0.02);
    show("advectUpwind", q, n * 8);
    cudaFree(p); cudaFree(q); cudaFree(u);
  }
  {
    unsigned X = 301, Y = 203, Z = 155;
    size_t n = (size_t)X * Y * Z;
    float *a = mk<float>(n), *b = mk<float>(n + 3), *c = mk<float>(n + 5);
    float3 *w = (float3 *)mk<float>(3 * n);
    curl_central<<<dim3((X + 15) / 16, (Y + 15) / 16, Z), dim3(16, 16)>>>(a, b + 3, c + 5, w, X, Y, Z);
    show("curl_central", w, n * 12);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(w);
  }
  {
    int nx = 300, ny = 130, nz = 101;
    size_t n = (size_t)nx * ny * nz * LB_Q;
    float *f = mk<float>(n), *g = mk<float>(n);
    lbmD3Q7<<<dim3((nx + LB_T - 1) / LB_T, ny, nz), LB_T>>>(f, g, nx, ny, nz, 1.3f);
    show("lbmD3Q7", g, n * 4);
    cudaFree(f); cudaFree(g);
  }
  {
    YeeGrid G;
    G.nx = 250; G.ny = 231; G.nz = 143;
    size_t n = (size_t)G.nx * G.ny * G.nz;
    float **pp[6] = {&G.ex, &G.ey, &G.ez, &G.hx, &G.hy, &G.hz};
    for (int i = 0; i < 6; i++) *pp[i] = mk<float>(n + i) + i;
    updateE<32, 8><<<dim3((G.nx + 31) / 32, (G.ny + 7) / 8, 8), dim3(32, 8)>>>(G, 0.2f, (G.nz + 7) / 8);
    show("updateE", G.ey - 1, (n + 1) * 4);
  }
  return 0;
}
