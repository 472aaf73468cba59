#include "h.h"
#include <cstring>
static void show(const char *name, const void *dev, size_t bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  unsigned char *h = (unsigned char *)malloc(bytes);
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    unsigned long long w;
    memcpy(&w, h + i, 8);
    f = (f ^ w) * 1099511628211ull;
  }
  for (; i < bytes; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016llx%s%s\n", name, f, e ? " " : "", e ? cudaGetErrorString(e) : "");
  free(h);
}
// ---- D2Q9 lattice Boltzmann, pull with shifted rows staged in shared memory
#define LBX 128
__global__ void lbm_d2q9(const float *__restrict__ f, float *__restrict__ g, int nx, int ny, float omega) {
  __shared__ float e[3][LBX + 2];   // 1, 5, 8 travel in +x
  __shared__ float w[3][LBX + 2];   // 3, 6, 7 travel in -x
  const size_t N = (size_t)nx * ny;
  int tx = threadIdx.x, x = blockIdx.x * LBX + tx, y = blockIdx.y;
  int ym = (y + ny - 1) % ny, yp = (y + 1) % ny;
  int s = tx + 1;
  // rows that the population comes from
  e[0][s] = f[1 * N + (size_t)y * nx + x];  e[1][s] = f[5 * N + (size_t)ym * nx + x];  e[2][s] = f[8 * N + (size_t)yp * nx + x];
  w[0][s] = f[3 * N + (size_t)y * nx + x];  w[1][s] = f[6 * N + (size_t)ym * nx + x];  w[2][s] = f[7 * N + (size_t)yp * nx + x];
  if (tx == 0) {
    int xl = (x + nx - 1) % nx;
    e[0][0] = f[1 * N + (size_t)y * nx + xl]; e[1][0] = f[5 * N + (size_t)ym * nx + xl]; e[2][0] = f[8 * N + (size_t)yp * nx + xl];
  }
  if (tx == LBX - 1) {
    int xr = (x + 1) % nx;
    w[0][LBX + 1] = f[3 * N + (size_t)y * nx + xr]; w[1][LBX + 1] = f[6 * N + (size_t)ym * nx + xr]; w[2][LBX + 1] = f[7 * N + (size_t)yp * nx + xr];
  }
  __syncthreads();
  float f0 = f[(size_t)y * nx + x], f2 = f[2 * N + (size_t)ym * nx + x], f4 = f[4 * N + (size_t)yp * nx + x];
  float f1 = e[0][s - 1], f5 = e[1][s - 1], f8 = e[2][s - 1];
  float f3 = w[0][s + 1], f6 = w[1][s + 1], f7 = w[2][s + 1];
  float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + 1.0f;
  float ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho, uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho;
  float u2 = 1.5f * (ux * ux + uy * uy);
  const float w0 = 4.f / 9, w1 = 1.f / 9, w2 = 1.f / 36;
#define EQ(wt, cu) ((wt) * rho * (1.f + 3.f * (cu) + 4.5f * (cu) * (cu) - u2))
  size_t o = (size_t)y * nx + x;
  g[o] = f0 + omega * (EQ(w0, 0.f) - f0);
  g[1 * N + o] = f1 + omega * (EQ(w1, ux) - f1);
  g[2 * N + o] = f2 + omega * (EQ(w1, uy) - f2);
  g[3 * N + o] = f3 + omega * (EQ(w1, -ux) - f3);
  g[4 * N + o] = f4 + omega * (EQ(w1, -uy) - f4);
  g[5 * N + o] = f5 + omega * (EQ(w2, ux + uy) - f5);
  g[6 * N + o] = f6 + omega * (EQ(w2, uy - ux) - f6);
  g[7 * N + o] = f7 + omega * (EQ(w2, -ux - uy) - f7);
  g[8 * N + o] = f8 + omega * (EQ(w2, ux - uy) - f8);
}

// ---- MD: cells of up to 64 atoms (LavaMD style)
#define PER_BOX 64
typedef struct { double v, x, y, z; } FOUR;
typedef struct { int nn; int nei[26]; } Box;
__global__ void md_boxes(const Box *boxes, const FOUR *rv, const double *qv, FOUR *fv, double a2) {
  __shared__ FOUR rA[PER_BOX], rB[PER_BOX];
  __shared__ double qB[PER_BOX];
  int b = blockIdx.x, t = threadIdx.x;
  FOUR acc = {0, 0, 0, 0};
  rA[t] = rv[b * PER_BOX + t];
  __syncthreads();
  for (int k = 0; k < 1 + boxes[b].nn; k++) {
    int p = k == 0 ? b : boxes[b].nei[k - 1];
    rB[t] = rv[p * PER_BOX + t];
    qB[t] = qv[p * PER_BOX + t];
    __syncthreads();
    for (int j = 0; j < PER_BOX; ++j) {
      double r2 = rA[t].v + rB[j].v - (rA[t].x * rB[j].x + rA[t].y * rB[j].y + rA[t].z * rB[j].z);
      double vij = exp(-a2 * fabs(r2));
      double fs = 2 * vij;
      acc.v += qB[j] * vij;
      acc.x += qB[j] * fs * (rA[t].x - rB[j].x);
      acc.y += qB[j] * fs * (rA[t].y - rB[j].y);
      acc.z += qB[j] * fs * (rA[t].z - rB[j].z);
    }
    __syncthreads();
  }
  fv[b * PER_BOX + t] = acc;
}

// ---- Arrhenius rates: reaction table in shared memory, concentrations in registers
struct Reaction { float A, n, Ea; int r0, r1, p0, p1; };
#define NSPEC 10
__global__ void chem_rates(const Reaction *tab, int nreac, const float *Temp, const float *Y, float *dY, int cells) {
  extern __shared__ Reaction rt[];
  for (int i = threadIdx.x; i < nreac; i += blockDim.x) rt[i] = tab[i];
  __syncthreads();
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  float y[NSPEC], d[NSPEC];
  for (int s = 0; s < NSPEC; ++s) { y[s] = Y[(size_t)s * cells + c]; d[s] = 0.f; }
  float T = 800.f + 50.f * Temp[c], lT = logf(T), iT = 1.f / T;
  for (int r = 0; r < nreac; ++r) {
    float k = rt[r].A * expf(rt[r].n * lT * 0.01f - rt[r].Ea * iT);
    float q = k * y[rt[r].r0] * y[rt[r].r1];
    d[rt[r].r0] -= q; d[rt[r].r1] -= q;
    d[rt[r].p0] += q; d[rt[r].p1] += q;
  }
  for (int s = 0; s < NSPEC; ++s) dY[(size_t)s * cells + c] = d[s];
}

// ---- rays against all triangles (Moeller-Trumbore), batches of triangles in shared memory
struct Tri { float3 a, e1, e2; };
__device__ __forceinline__ float3 cross3(float3 a, float3 b) { return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
__device__ __forceinline__ float dot3(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__global__ void trace(const Tri *tris, int nt, int *hit, float *depth, int w, int h) {
  __shared__ Tri st[64];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, lin = threadIdx.y * 16 + threadIdx.x;
  float3 o = make_float3(6.f, 6.f, -5.f), d = make_float3((x - 0.5f * w) / w, (y - 0.5f * h) / h, 0.7f);
  float best = 1e20f; int who = -1;
  for (int b = 0; b < nt; b += 64) {
    int m = nt - b < 64 ? nt - b : 64;
    if (lin < m) st[lin] = tris[b + lin];
    __syncthreads();
    for (int k = 0; k < m; ++k) {
      float3 p = cross3(d, st[k].e2);
      float det = dot3(st[k].e1, p);
      if (fabsf(det) < 1e-7f) continue;
      float inv = 1.f / det;
      float3 s = make_float3(o.x - st[k].a.x, o.y - st[k].a.y, o.z - st[k].a.z);
      float u = dot3(s, p) * inv;
      if (u < 0.f || u > 1.f) continue;
      float3 q = cross3(s, st[k].e1);
      float v = dot3(d, q) * inv;
      if (v < 0.f || u + v > 1.f) continue;
      float t = dot3(st[k].e2, q) * inv;
      if (t > 1e-4f && t < best) { best = t; who = b + k; }
    }
    __syncthreads();
  }
  if (x < w && y < h) { hit[y * w + x] = who; depth[y * w + x] = best; }
}

int main() {
  { int nx = 2048, ny = 1000; size_t n = (size_t)nx * ny * 9; float *f = mk<float>(n), *g = mk<float>(n);
    for (int i = 0; i < 2; ++i) { lbm_d2q9<<<dim3(nx / LBX, ny), LBX>>>(f, g, nx, ny, 0.9f); float *t = f; f = g; g = t; }
    show("lbm_d2q9", f, n * 4); }
  { int side = 12, nb = side * side * side; Box *hb = (Box *)calloc(nb, sizeof(Box)), *db;
    for (int z = 0; z < side; ++z) for (int y = 0; y < side; ++y) for (int x = 0; x < side; ++x) {
      Box &B = hb[(z * side + y) * side + x];
      for (int c = -1; c <= 1; ++c) for (int b = -1; b <= 1; ++b) for (int a = -1; a <= 1; ++a) {
        int X = x + a, Y = y + b, Z = z + c;
        if ((a || b || c) && X >= 0 && Y >= 0 && Z >= 0 && X < side && Y < side && Z < side) B.nei[B.nn++] = (Z * side + Y) * side + X;
      } }
    cudaMalloc(&db, nb * sizeof(Box)); cudaMemcpy(db, hb, nb * sizeof(Box), cudaMemcpyHostToDevice);
    FOUR *rv = (FOUR *)mk<double>(4 * nb * PER_BOX), *fv = (FOUR *)mk<double>(4 * nb * PER_BOX); double *q = mk<double>(nb * PER_BOX);
    md_boxes<<<nb, PER_BOX>>>(db, rv, q, fv, 0.5);
    show("md_boxes", fv, (size_t)nb * PER_BOX * 32); }
  { int nr = 40, cells = 2000001; Reaction h[40], *d;
    for (int i = 0; i < nr; ++i) { h[i].A = 1e-3f * (1 + i % 7); h[i].n = 0.5f * (i % 4); h[i].Ea = 100.f * (i % 11); h[i].r0 = i % 10; h[i].r1 = (i * 3 + 1) % 10; h[i].p0 = (i * 7 + 2) % 10; h[i].p1 = (i + 5) % 10; }
    cudaMalloc(&d, sizeof h); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    float *T = mk<float>(cells), *Y = mk<float>((size_t)cells * NSPEC), *dY = mk<float>((size_t)cells * NSPEC);
    chem_rates<<<(cells + 127) / 128, 128, nr * sizeof(Reaction)>>>(d, nr, T, Y, dY, cells);
    show("chem_rates", dY, (size_t)cells * NSPEC * 4); }
  { int nt = 500, w = 1900, hh = 1001; Tri *t = (Tri *)mk<float>(9 * nt); int *hit = mk<int>(w * hh); float *z = mk<float>(w * hh);
    trace<<<dim3((w + 15) / 16, (hh + 7) / 8), dim3(16, 8)>>>(t, nt, hit, z, w, hh);
    show("trace hit", hit, (size_t)w * hh * 4); show("trace depth", z, (size_t)w * hh * 4); }
  return 0;
}
