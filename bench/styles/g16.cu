// HPC mini-apps
#include "shown.h"
#include <math.h>
typedef double Real_t;

// blocked Floyd-Warshall
#define FW 32
__global__ void fw_phase1(int *d, int n, int kb) {
  __shared__ int s[FW][FW];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int g = (kb * FW + ty) * n + kb * FW + tx;
  s[ty][tx] = d[g];
  __syncthreads();
  for (int k = 0; k < FW; ++k) {
    int v = s[ty][k] + s[k][tx];
    int c = s[ty][tx];
    __syncthreads();
    if (v < c) s[ty][tx] = v;
    __syncthreads();
  }
  d[g] = s[ty][tx];
}
__global__ void fw_phase3(int *d, int n, int kb) {
  __shared__ int r[FW][FW], c[FW][FW];
  if (blockIdx.x == kb || blockIdx.y == kb) return;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int y = blockIdx.y * FW + ty, x = blockIdx.x * FW + tx;
  r[ty][tx] = d[(kb * FW + ty) * n + x];
  c[ty][tx] = d[y * n + kb * FW + tx];
  int v = d[y * n + x];
  __syncthreads();
  for (int k = 0; k < FW; ++k) v = min(v, c[ty][k] + r[k][tx]);
  d[y * n + x] = v;
}

// spectral element operator (Nekbone-like), 8^3 points per element, 64 threads, marching in k
#define NX1 8
__global__ void ax_local(const Real_t *__restrict__ u, const Real_t *__restrict__ Dm, Real_t *__restrict__ w) {
  __shared__ Real_t D[NX1][NX1];
  __shared__ Real_t su[NX1][NX1];
  const int i = threadIdx.x, j = threadIdx.y;
  const size_t base = (size_t)blockIdx.x * NX1 * NX1 * NX1;
  D[j][i] = Dm[j * NX1 + i] * 0.125;
  Real_t col[NX1];
  for (int k = 0; k < NX1; ++k) col[k] = u[base + (k * NX1 + j) * NX1 + i];
  for (int k = 0; k < NX1; ++k) {
    __syncthreads();
    su[j][i] = col[k];
    __syncthreads();
    Real_t r = 0, s = 0, t = 0;
    for (int m = 0; m < NX1; ++m) {
      r += D[i][m] * su[j][m];
      s += D[j][m] * su[m][i];
      t += D[k][m] * col[m];
    }
    w[base + (k * NX1 + j) * NX1 + i] = r + s + t;
  }
}

// sparse matrix-vector product, ELLPACK (data-dependent gathers)
__global__ void spmv_ell(const int *cols, const double *vals, const double *x, double *y, int nrow, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= nrow) return;
  double s = 0;
  for (int k = 0; k < width; ++k) {
    int c = r + cols[(size_t)k * nrow + r] * 97 - 600;
    if (c >= 0 && c < nrow) s += vals[(size_t)k * nrow + r] * x[c];
  }
  y[r] = s;
}

// 1-D Euler, Rusanov flux, conserved variables in struct-of-array shared rows with two ghost cells
__global__ void euler_rusanov(const float *rho, const float *mom, const float *ene, float *rho1, float *mom1, float *ene1, int n, float dtdx) {
  __shared__ float sr[256 + 2], sm[256 + 2], se[256 + 2];
  __shared__ float fr[256 + 1], fm[256 + 1], fe[256 + 1];
  const int t = threadIdx.x;
  const int g = blockIdx.x * 256 + t;
  for (int i = t; i < 258; i += 256) {
    int q = min(max((int)(blockIdx.x * 256) + i - 1, 0), n - 1);
    sr[i] = rho[q] + 1.f;
    sm[i] = mom[q] * 0.1f;
    se[i] = ene[q] + 20.f;
  }
  __syncthreads();
  for (int i = t; i < 257; i += 256) {
    float rl = sr[i], rr = sr[i + 1], ul = sm[i] / rl, ur = sm[i + 1] / rr;
    float pl = 0.4f * (se[i] - 0.5f * sm[i] * ul), pr = 0.4f * (se[i + 1] - 0.5f * sm[i + 1] * ur);
    float a = fmaxf(fabsf(ul) + sqrtf(1.4f * fmaxf(pl, 0.f) / rl), fabsf(ur) + sqrtf(1.4f * fmaxf(pr, 0.f) / rr));
    fr[i] = 0.5f * (sm[i] + sm[i + 1]) - 0.5f * a * (rr - rl);
    fm[i] = 0.5f * (sm[i] * ul + pl + sm[i + 1] * ur + pr) - 0.5f * a * (sm[i + 1] - sm[i]);
    fe[i] = 0.5f * (ul * (se[i] + pl) + ur * (se[i + 1] + pr)) - 0.5f * a * (se[i + 1] - se[i]);
  }
  __syncthreads();
  if (g < n) {
    rho1[g] = sr[t + 1] - dtdx * (fr[t + 1] - fr[t]);
    mom1[g] = sm[t + 1] - dtdx * (fm[t + 1] - fm[t]);
    ene1[g] = se[t + 1] - dtdx * (fe[t + 1] - fe[t]);
  }
}

// hexahedral element volume, node coordinates gathered to private arrays, faces by table
__constant__ int c_face[6][4];
__global__ void hex_volume(const Real_t *X, const Real_t *Y, const Real_t *Z, Real_t *vol, int ne) {
  int ex = blockIdx.x * blockDim.x + threadIdx.x;
  int ey = blockIdx.y, ez = blockIdx.z;
  if (ex >= ne) return;
  const int np = ne + 1;
  Real_t x[8], y[8], z[8];
  for (int c = 0; c < 8; ++c) {
    size_t id = ((size_t)(ez + (c >> 2)) * np + ey + ((c >> 1) & 1)) * np + ex + (c & 1);
    x[c] = X[id] * 0.01 + ex + (c & 1);
    y[c] = Y[id] * 0.01 + ey + ((c >> 1) & 1);
    z[c] = Z[id] * 0.01 + ez + (c >> 2);
  }
  Real_t v = 0;
  for (int f = 0; f < 6; ++f) {
    int a = c_face[f][0], b = c_face[f][1], c = c_face[f][2], d = c_face[f][3];
    Real_t ux = x[c] - x[a], uy = y[c] - y[a], uz = z[c] - z[a];
    Real_t wx = x[d] - x[b], wy = y[d] - y[b], wz = z[d] - z[b];
    Real_t nx = uy * wz - uz * wy, ny = uz * wx - ux * wz, nz = ux * wy - uy * wx;
    v += (x[a] + x[b] + x[c] + x[d]) * nx + (y[a] + y[b] + y[c] + y[d]) * ny + (z[a] + z[b] + z[c] + z[d]) * nz;
  }
  vol[((size_t)ez * ne + ey) * ne + ex] = v / 24.0;
}

// 27-point operator marching in z with three rotating shared planes
__global__ void stencil27_march(const float *in, float *out, int nx, int ny, int nz, float a, float b, float c, float d) {
  __shared__ float p[3][8 + 2][32 + 2];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
  const int tid = threadIdx.y * 32 + threadIdx.x;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  for (int z = 0; z < 2; ++z)
    for (int k = tid; k < 340; k += 256) p[z][k / 34][k % 34] = in[((size_t)z * ny + y0 + k / 34) * nx + x0 + k % 34];
  for (int z = 1; z < nz - 1; ++z) {
    for (int k = tid; k < 340; k += 256) p[(z + 1) % 3][k / 34][k % 34] = in[((size_t)(z + 1) * ny + y0 + k / 34) * nx + x0 + k % 34];
    __syncthreads();
    float s1 = 0, s2 = 0, s3 = 0;
    float ctr = p[z % 3][ty][tx];
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          int m = abs(dx) + abs(dy) + abs(dz);
          float v = p[(z + dz) % 3][ty + dy][tx + dx];
          if (m == 1) s1 += v;
          else if (m == 2) s2 += v;
          else if (m == 3) s3 += v;
        }
    out[((size_t)z * ny + y0 + ty) * nx + x0 + tx] = a * ctr + b * s1 + c * s2 + d * s3;
    __syncthreads();
  }
}

int main() {
  {
    const int n = 1024;
    int *d = mk<int>(n * n);
    for (int kb = 0; kb < 4; ++kb) {
      fw_phase1<<<1, dim3(FW, FW)>>>(d, n, kb);
      if (kb == 3) show("fw_phase1", d, (size_t)n * n * 4);
      fw_phase3<<<dim3(n / FW, n / FW), dim3(FW, FW)>>>(d, n, kb);
    }
    show("fw_phase3", d, (size_t)n * n * 4);
  }
  {
    const int ne = 8192;
    double *u = mk<double>((size_t)ne * 512), *D = mk<double>(64), *w = mk<double>((size_t)ne * 512);
    ax_local<<<ne, dim3(NX1, NX1)>>>(u, D, w);
    show("ax_local", w, (size_t)ne * 512 * 8);
  }
  {
    const int nr = 1 << 19, wd = 9;
    int *c = mk<int>((size_t)nr * wd);
    double *v = mk<double>((size_t)nr * wd), *x = mk<double>(nr), *y = mk<double>(nr);
    spmv_ell<<<(nr + 127) / 128, 128>>>(c, v, x, y, nr, wd);
    show("spmv_ell", y, (size_t)nr * 8);
  }
  {
    const int n = 4000000;
    float *a = mk<float>(n), *b = mk<float>(n), *c = mk<float>(n), *d = mk<float>(n), *e = mk<float>(n), *f = mk<float>(n);
    euler_rusanov<<<(n + 255) / 256, 256>>>(a, b, c, d, e, f, n, 0.05f);
    show("euler_rusanov.rho", d, (size_t)n * 4);
    show("euler_rusanov.mom", e, (size_t)n * 4);
    show("euler_rusanov.ene", f, (size_t)n * 4);
  }
  {
    int face[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    cudaMemcpyToSymbol(c_face, face, sizeof(face));
    const int ne = 128;
    size_t np = (size_t)(ne + 1) * (ne + 1) * (ne + 1);
    double *x = mk<double>(np), *y = mk<double>(np), *z = mk<double>(np), *v = mk<double>((size_t)ne * ne * ne);
    hex_volume<<<dim3((ne + 63) / 64, ne, ne), 64>>>(x, y, z, v, ne);
    show("hex_volume", v, (size_t)ne * ne * ne * 8);
  }
  {
    const int nx = 258, ny = 258, nz = 256;
    size_t n = (size_t)nx * ny * nz;
    float *a = mk<float>(n), *b = mk<float>(n);
    stencil27_march<<<dim3(256 / 32, 256 / 8), dim3(32, 8)>>>(a, b, nx, ny, nz, 0.4f, 0.05f, 0.02f, 0.01f);
    show("stencil27_march", b, n * 4);
  }
  return 0;
}
