// Finite difference and finite volume updates, two and three dimensions.
#include "shown.h"

// 1. anisotropic heat conduction, whole 3-D tile, clamped borders ------------------
template <unsigned TX, unsigned TY, unsigned TZ>
__global__ void conduct3d(const float *__restrict__ T, const float *__restrict__ k, float *__restrict__ Tn,
                          size_t nx, size_t ny, size_t nz, float fo) {
  __shared__ float s[TZ + 2][TY + 2][TX + 2];
  const size_t x = (size_t)blockIdx.x * TX + threadIdx.x;
  const size_t y = (size_t)blockIdx.y * TY + threadIdx.y;
  const size_t z = (size_t)blockIdx.z * TZ + threadIdx.z;
  const unsigned tid = (threadIdx.z * TY + threadIdx.y) * TX + threadIdx.x;
  for (unsigned e = tid; e < (TX + 2) * (TY + 2) * (TZ + 2); e += TX * TY * TZ) {
    unsigned lx = e % (TX + 2), ly = e / (TX + 2) % (TY + 2), lz = e / ((TX + 2) * (TY + 2));
    size_t gx = (size_t)blockIdx.x * TX + lx, gy = (size_t)blockIdx.y * TY + ly, gz = (size_t)blockIdx.z * TZ + lz;
    // indices are one too large on purpose, so the clamp works unsigned
    gx = gx < 1 ? 0 : (gx > nx ? nx - 1 : gx - 1);
    gy = gy < 1 ? 0 : (gy > ny ? ny - 1 : gy - 1);
    gz = gz < 1 ? 0 : (gz > nz ? nz - 1 : gz - 1);
    s[lz][ly][lx] = T[(gz * ny + gy) * nx + gx];
  }
  __syncthreads();
  if (x < nx && y < ny && z < nz) {
    const unsigned i = threadIdx.x + 1, j = threadIdx.y + 1, l = threadIdx.z + 1;
    size_t id = (z * ny + y) * nx + x;
    float c = s[l][j][i];
    float dx = s[l][j][i - 1] - 2.f * c + s[l][j][i + 1];
    float dy = s[l][j - 1][i] - 2.f * c + s[l][j + 1][i];
    float dz = s[l - 1][j][i] - 2.f * c + s[l + 1][j][i];
    Tn[id] = c + fo * k[id] * (dx + 0.5f * dy + 0.25f * dz);
  }
}

// 2. twelfth-order first derivative along x -----------------------------------------
__constant__ double d12[7];
__global__ void ddx_order12(const double *u, double *du, int nx, double rdx)
{
  extern __shared__ double line[];
  const int t = threadIdx.x, n = blockDim.x;
  const int i = blockIdx.x * n + t;
  const size_t row = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * nx;
  line[t + 6] = i < nx ? u[row + i] : 0.0;
  if (t < 6) {
    int l = i - 6, r = i + n;
    line[t] = l >= 0 ? u[row + l] : 0.0;
    line[t + n + 6] = r < nx ? u[row + r] : 0.0;
  }
  __syncthreads();
  if (i < nx) {
    double a = 0.0;
#pragma unroll
    for (int k = 1; k <= 6; k++) a += d12[k] * (line[t + 6 + k] - line[t + 6 - k]);
    du[row + i] = a * rdx;
  }
}

// 3. Cahn-Hilliard: chemical potential in the tile, then its Laplacian ----------------
#define CH_N 16
__device__ inline int wrapi(int i, int n) { return i < 0 ? i + n : (i >= n ? i - n : i); }
__global__ void cahnHilliardStep(const float *c, float *cn, int n, float dt, float kappa) {
  __shared__ float phi[CH_N + 4][CH_N + 4];
  __shared__ float mu[CH_N + 2][CH_N + 2];
  int tx = threadIdx.x, ty = threadIdx.y;
  int bx = blockIdx.x * CH_N, by = blockIdx.y * CH_N;
  for (int j = ty; j < CH_N + 4; j += CH_N)
    for (int i = tx; i < CH_N + 4; i += CH_N)
      phi[j][i] = 0.08f * c[(size_t)wrapi(by + j - 2, n) * n + wrapi(bx + i - 2, n)] - 0.5f;
  __syncthreads();
  for (int j = ty; j < CH_N + 2; j += CH_N)
    for (int i = tx; i < CH_N + 2; i += CH_N) {
      float p = phi[j + 1][i + 1];
      float lap = phi[j][i + 1] + phi[j + 2][i + 1] + phi[j + 1][i] + phi[j + 1][i + 2] - 4.f * p;
      mu[j][i] = p * p * p - p - kappa * lap;
    }
  __syncthreads();
  float lm = mu[ty][tx + 1] + mu[ty + 2][tx + 1] + mu[ty + 1][tx] + mu[ty + 1][tx + 2] - 4.f * mu[ty + 1][tx + 1];
  cn[(size_t)(by + ty) * n + bx + tx] = phi[ty + 2][tx + 2] + dt * lm;
}

// 4. Gray-Scott, both species in one float2, 9-point Laplacian, periodic ---------------
__global__ void gray_scott(const float2 *__restrict__ uv, float2 *__restrict__ out, int w, int h, float F, float K) {
  __shared__ float2 s[10][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int sx = threadIdx.x + 1, sy = threadIdx.y + 1;
  const int xm = (x + w - 1) % w, xp = (x + 1) % w, ym = (y + h - 1) % h, yp = (y + 1) % h;
  const int xc = x % w, yc = y % h;
  s[sy][sx] = uv[yc * w + xc];
  if (threadIdx.x == 0)  s[sy][0] = uv[yc * w + xm];
  if (threadIdx.x == 31) s[sy][33] = uv[yc * w + xp];
  if (threadIdx.y == 0)  s[0][sx] = uv[ym * w + xc];
  if (threadIdx.y == 7)  s[9][sx] = uv[yp * w + xc];
  if (threadIdx.x == 0 && threadIdx.y == 0)  s[0][0] = uv[ym * w + xm];
  if (threadIdx.x == 31 && threadIdx.y == 0) s[0][33] = uv[ym * w + xp];
  if (threadIdx.x == 0 && threadIdx.y == 7)  s[9][0] = uv[yp * w + xm];
  if (threadIdx.x == 31 && threadIdx.y == 7) s[9][33] = uv[yp * w + xp];
  __syncthreads();
  if (x >= w || y >= h) return;
  float2 c = s[sy][sx];
  float lu = 0.2f * (s[sy][sx - 1].x + s[sy][sx + 1].x + s[sy - 1][sx].x + s[sy + 1][sx].x) +
             0.05f * (s[sy - 1][sx - 1].x + s[sy - 1][sx + 1].x + s[sy + 1][sx - 1].x + s[sy + 1][sx + 1].x) - c.x;
  float lv = 0.2f * (s[sy][sx - 1].y + s[sy][sx + 1].y + s[sy - 1][sx].y + s[sy + 1][sx].y) +
             0.05f * (s[sy - 1][sx - 1].y + s[sy - 1][sx + 1].y + s[sy + 1][sx - 1].y + s[sy + 1][sx + 1].y) - c.y;
  float r = 1e-3f * c.x * c.y * c.y;
  out[y * w + x] = make_float2(c.x + lu - r + F * (1.f - c.x), c.y + 0.5f * lv + r - (F + K) * c.y);
}

// 5. biharmonic operator of a plate, 13 points, interior only ---------------------------
template <class Real> struct PlateTile { Real a[12][36]; };
template <class Real>
__global__ void plate_biharm(const Real *w, Real *f, size_t nx, size_t ny, Real D) {
  __shared__ PlateTile<Real> t;
  size_t ix = blockIdx.x * size_t(32) + threadIdx.x + 2, iy = blockIdx.y * size_t(8) + threadIdx.y + 2;
  for (unsigned r = threadIdx.y; r < 12; r += 8)
    for (unsigned c = threadIdx.x; c < 36; c += 32) {
      size_t gx = blockIdx.x * size_t(32) + c, gy = blockIdx.y * size_t(8) + r;
      t.a[r][c] = (gx < nx && gy < ny) ? w[gy * nx + gx] : Real(0);
    }
  __syncthreads();
  if (ix + 2 >= nx || iy + 2 >= ny) return;
  const Real *p = &t.a[threadIdx.y + 2][threadIdx.x + 2];
  Real v = 20 * p[0] - 8 * (p[1] + p[-1] + p[36] + p[-36]) + 2 * (p[37] + p[35] + p[-35] + p[-37]) +
           p[2] + p[-2] + p[72] + p[-72];
  f[iy * nx + ix] = D * v;
}

// 6. curl of a vector field, marching in z with three planes kept per component ----------
struct Field3 { const float *x, *y, *z; };
__global__ void __launch_bounds__(256) curlMarch(Field3 a, float *cx, float *cy, float *cz, int nx, int ny, int nz) {
  __shared__ float px[10][34], py[10][34], pz[10][34];
  const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  const int ic = min(i, nx - 1), jc = min(j, ny - 1);
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const size_t plane = (size_t)nx * ny;
  size_t g = (size_t)jc * nx + ic;
  float xb = a.x[g], yb = a.y[g];
  float xc = a.x[g], yc = a.y[g], zc = a.z[g];
  for (int k = 0; k < nz; k++) {
    size_t up = g + (k + 1 < nz ? plane : 0);
    float xt = a.x[up], yt = a.y[up], zt = a.z[up];
    __syncthreads();
    px[ty][tx] = xc; py[ty][tx] = yc; pz[ty][tx] = zc;
    if (threadIdx.y == 0) {
      size_t q = g - (jc > 0 ? nx : 0);
      px[0][tx] = a.x[q]; pz[0][tx] = a.z[q];
    }
    if (threadIdx.y == 7) {
      size_t q = g + (jc < ny - 1 ? nx : 0);
      px[9][tx] = a.x[q]; pz[9][tx] = a.z[q];
    }
    if (threadIdx.x == 0) {
      size_t q = g - (ic > 0 ? 1 : 0);
      py[ty][0] = a.y[q]; pz[ty][0] = a.z[q];
    }
    if (threadIdx.x == 31) {
      size_t q = g + (ic < nx - 1 ? 1 : 0);
      py[ty][33] = a.y[q]; pz[ty][33] = a.z[q];
    }
    __syncthreads();
    if (i < nx && j < ny) {
      cx[g] = 0.5f * (pz[ty + 1][tx] - pz[ty - 1][tx] - (yt - yb));
      cy[g] = 0.5f * (xt - xb - (pz[ty][tx + 1] - pz[ty][tx - 1]));
      cz[g] = 0.5f * (py[ty][tx + 1] - py[ty][tx - 1] - (px[ty + 1][tx] - px[ty - 1][tx]));
    }
    xb = xc; yb = yc;
    xc = xt; yc = yt; zc = zt;
    g = up;
  }
}

// 7. shallow water, Lax-Friedrichs, walls by mirrored ghost values -------------------------
#define LF_W 34
#define LF_H 10
#define LIN(r, c) ((r) * LF_W + (c))
__global__ void swe_lax(const float *h, const float *hu, const float *hv, float *h1, float *hu1, float *hv1,
                        int nx, int ny, float lam)
{
  __shared__ float sh[LF_W * LF_H], su[LF_W * LF_H], sv[LF_W * LF_H];
  int lid = threadIdx.x;                       // 256 threads in one dimension
  int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
  for (int e = lid; e < LF_W * LF_H; e += 256) {
    int x = x0 + e % LF_W - 1, y = y0 + e / LF_W - 1;
    float fu = 1.f, fv = 1.f;
    if (x < 0) { x = 0; fu = -1.f; }
    if (x >= nx) { x = nx - 1; fu = -1.f; }
    if (y < 0) { y = 0; fv = -1.f; }
    if (y >= ny) { y = ny - 1; fv = -1.f; }
    int g = y * nx + x;
    sh[e] = h[g] + 1.f;
    su[e] = fu * hu[g];
    sv[e] = fv * hv[g];
  }
  __syncthreads();
  int c = lid & 31, r = lid >> 5;
  int x = x0 + c, y = y0 + r;
  if (x < nx && y < ny) {
    int L = LIN(r + 1, c), R = LIN(r + 1, c + 2), D = LIN(r, c + 1), U = LIN(r + 2, c + 1);
    const float hg = 0.5f * 9.81f;
    float a = 0.25f * (sh[L] + sh[R] + sh[D] + sh[U]) - lam * (su[R] - su[L] + sv[U] - sv[D]);
    float b = 0.25f * (su[L] + su[R] + su[D] + su[U]) -
              lam * (su[R] * su[R] / sh[R] + hg * sh[R] * sh[R] - su[L] * su[L] / sh[L] - hg * sh[L] * sh[L] +
                     su[U] * sv[U] / sh[U] - su[D] * sv[D] / sh[D]);
    float d = 0.25f * (sv[L] + sv[R] + sv[D] + sv[U]) -
              lam * (sv[U] * sv[U] / sh[U] + hg * sh[U] * sh[U] - sv[D] * sv[D] / sh[D] - hg * sh[D] * sh[D] +
                     su[R] * sv[R] / sh[R] - su[L] * sv[L] / sh[L]);
    h1[y * nx + x] = a; hu1[y * nx + x] = b; hv1[y * nx + x] = d;
  }
}

// 8. full-weighting restriction of a residual, fine tile 33 x 9 x 9 for 16 x 4 x 4 coarse ----
__global__ void restrict_fw(const double *__restrict__ fine, double *__restrict__ coarse, int nc)
{
  __shared__ double f[9][9][33];
  const int nf = 2 * nc + 1;                   // fine points a side; coarse I sits at fine 2I+1
  const int fx0 = 2 * blockIdx.x * 16, fy0 = 2 * blockIdx.y * 4, fz0 = 2 * blockIdx.z * 4;
  int t = threadIdx.x + 16 * (threadIdx.y + 4 * threadIdx.z);
  for (int e = t; e < 9 * 9 * 33; e += 256) {
    int a = e % 33, b = (e / 33) % 9, c = e / (33 * 9);
    int gx = fx0 + a, gy = fy0 + b, gz = fz0 + c;
    double v = 0.0;
    if (gx < nf && gy < nf && gz < nf) v = fine[((size_t)gz * nf + gy) * nf + gx];
    f[c][b][a] = v;
  }
  __syncthreads();
  int X = blockIdx.x * 16 + threadIdx.x, Y = blockIdx.y * 4 + threadIdx.y, Z = blockIdx.z * 4 + threadIdx.z;
  if (X >= nc || Y >= nc || Z >= nc) return;
  int i = 2 * threadIdx.x + 1, j = 2 * threadIdx.y + 1, k = 2 * threadIdx.z + 1;
  double sum = 0.0;
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++) {
      double wyz = (2 - abs(dz)) * (2 - abs(dy));
      sum += wyz * (f[k + dz][j + dy][i - 1] + 2.0 * f[k + dz][j + dy][i] + f[k + dz][j + dy][i + 1]);
    }
  coarse[((size_t)Z * nc + Y) * nc + X] = sum / 64.0;
}

int main() {
  {
    size_t nx = 384, ny = 300, nz = 290, n = nx * ny * nz;
    float *T = mk<float>(n), *k = mk<float>(n), *o = mk<float>(n);
    conduct3d<32, 4, 4><<<dim3((nx + 31) / 32, (ny + 3) / 4, (nz + 3) / 4), dim3(32, 4, 4)>>>(T, k, o, nx, ny, nz, 0.01f);
    show("conduct3d", o, n * 4);
    cudaFree(T); cudaFree(k); cudaFree(o);
  }
  {
    double w[7] = {0, 6. / 7, -15. / 56, 5. / 63, -1. / 56, 1. / 385, -1. / 5544};
    cudaMemcpyToSymbol(d12, w, sizeof w);
    int nx = 500, ny = 256, nz = 128;
    size_t n = (size_t)nx * ny * nz;
    double *u = mk<double>(n), *d = mk<double>(n);
    ddx_order12<<<dim3((nx + 127) / 128, ny, nz), 128, (128 + 12) * sizeof(double)>>>(u, d, nx, 3.5);
    show("ddx_order12", d, n * 8);
    cudaFree(u); cudaFree(d);
  }
  {
    int n = 4096;
    float *a = mk<float>((size_t)n * n), *b = mk<float>((size_t)n * n);
    cahnHilliardStep<<<dim3(n / CH_N, n / CH_N), dim3(CH_N, CH_N)>>>(a, b, n, 0.01f, 0.5f);
    show("cahnHilliardStep", b, (size_t)n * n * 4);
    cudaFree(a); cudaFree(b);
  }
  {
    int w = 4000, h = 3001;
    float2 *a = (float2 *)mk<float>((size_t)w * h * 2), *b = (float2 *)mk<float>((size_t)w * h * 2);
    gray_scott<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, b, w, h, 0.037f, 0.06f);
    show("gray_scott", b, (size_t)w * h * 8);
    cudaFree(a); cudaFree(b);
  }
  {
    size_t nx = 3500, ny = 3300;
    double *a = mk<double>(nx * ny), *b = mk<double>(nx * ny);
    plate_biharm<double><<<dim3((nx - 4 + 31) / 32, (ny - 4 + 7) / 8), dim3(32, 8)>>>(a, b, nx, ny, 0.7);
    show("plate_biharm", b, nx * ny * 8);
    cudaFree(a); cudaFree(b);
  }
  {
    int nx = 300, ny = 280, nz = 200;
    size_t n = (size_t)nx * ny * nz;
    float *p[6];
    for (int k = 0; k < 6; k++) p[k] = mk<float>(n);
    // make the three components different
    cudaMemcpy(p[1], p[0] + 17, (n - 17) * 4, cudaMemcpyDeviceToDevice);
    cudaMemcpy(p[2], p[0] + 40, (n - 40) * 4, cudaMemcpyDeviceToDevice);
    Field3 a = {p[0], p[1], p[2]};
    curlMarch<<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(a, p[3], p[4], p[5], nx, ny, nz);
    for (int k = 3; k < 6; k++) show("curlMarch", p[k], n * 4);
    for (int k = 0; k < 6; k++) cudaFree(p[k]);
  }
  {
    int nx = 3000, ny = 2400, n = nx * ny;
    float *p[6];
    for (int k = 0; k < 6; k++) p[k] = mk<float>(n);
    swe_lax<<<dim3((nx + 31) / 32, (ny + 7) / 8), 256>>>(p[0], p[1], p[2], p[3], p[4], p[5], nx, ny, 0.02f);
    for (int k = 3; k < 6; k++) show("swe_lax", p[k], n * 4ul);
    for (int k = 0; k < 6; k++) cudaFree(p[k]);
  }
  {
    int nc = 150, nf = 2 * nc + 1;
    double *f = mk<double>((size_t)nf * nf * nf), *c = mk<double>((size_t)nc * nc * nc);
    restrict_fw<<<dim3((nc + 15) / 16, (nc + 3) / 4, (nc + 3) / 4), dim3(16, 4, 4)>>>(f, c, nc);
    show("restrict_fw", c, (size_t)nc * nc * nc * 8);
  }
  return 0;
}
