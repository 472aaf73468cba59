// Particles, clusters, geometry: everything against everything in tiles.
#include <cfloat>
#include <cmath>
#include "shown.h"

// [1] Hermite N-body: acceleration and jerk, two shared tiles -----------------------------
template <int P>
__global__ void __launch_bounds__(P)
hermiteForce(const float4 *__restrict__ posm, const float4 *__restrict__ vel, float4 *__restrict__ acc,
             float4 *__restrict__ jerk, int n, float eps2) {
  __shared__ float4 sp[P];
  __shared__ float4 sv[P];
  const int i = blockIdx.x * P + threadIdx.x;
  float4 pi = posm[min(i, n - 1)], vi = vel[min(i, n - 1)];
  float ax = 0, ay = 0, az = 0, jx = 0, jy = 0, jz = 0, pot = 0;
  for (int base = 0; base < n; base += P) {
    int j = base + threadIdx.x;
    sp[threadIdx.x] = j < n ? posm[j] : make_float4(0, 0, 0, 0);
    sv[threadIdx.x] = j < n ? vel[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < P; ++k) {
      float4 p = sp[k], v = sv[k];
      float dx = p.x - pi.x, dy = p.y - pi.y, dz = p.z - pi.z;
      float ux = v.x - vi.x, uy = v.y - vi.y, uz = v.z - vi.z;
      float r2 = dx * dx + dy * dy + dz * dz + eps2;
      float rv = dx * ux + dy * uy + dz * uz;
      float ri = rsqrtf(r2);
      float r2i = ri * ri;
      float mr3 = p.w * ri * r2i;
      float q = 3.f * rv * r2i;
      ax += mr3 * dx; ay += mr3 * dy; az += mr3 * dz;
      jx += mr3 * (ux - q * dx); jy += mr3 * (uy - q * dy); jz += mr3 * (uz - q * dz);
      pot -= p.w * ri;
    }
    __syncthreads();
  }
  if (i < n) {
    acc[i] = make_float4(ax, ay, az, pot);
    jerk[i] = make_float4(jx, jy, jz, 0.f);
  }
}

// [2] Canberra distance matrix between two sets, 16 x 16 tiles over the dimensions ------------
#define CT 16
__global__ void canberra_dist(const float *X, const float *Y, float *D, unsigned nx, unsigned ny, unsigned dim)
{
  __shared__ float xs[CT][CT], ys[CT][CT + 1];
  unsigned tx = threadIdx.x, ty = threadIdx.y;
  unsigned r = blockIdx.y * CT + ty, c = blockIdx.x * CT + tx;
  unsigned cy = blockIdx.x * CT + ty;
  float d = 0.f;
  for (unsigned k0 = 0; k0 < dim; k0 += CT) {
    xs[ty][tx] = (r < nx && k0 + tx < dim) ? X[r * dim + k0 + tx] : 0.f;
    ys[ty][tx] = (cy < ny && k0 + tx < dim) ? Y[cy * dim + k0 + tx] : 0.f;
    __syncthreads();
    for (unsigned k = 0; k < CT; k++) {
      float a = xs[ty][k], b = ys[tx][k];
      d += fabsf(a - b) / (fabsf(a) + fabsf(b) + 1e-6f);
    }
    __syncthreads();
  }
  if (r < nx && c < ny) D[(size_t)r * ny + c] = d;
}

// [3] k-means labels; the centroids pass through dynamic shared memory in chunks ----------------
template <int DIM>
__global__ void kmAssign(const float *__restrict__ pts, const float *__restrict__ cent, int *__restrict__ label,
                         float *__restrict__ dmin, size_t n, int K, int chunk)
{
  extern __shared__ float sc[];
  const size_t p = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  float x[DIM];
#pragma unroll
  for (int d = 0; d < DIM; d++) x[d] = p < n ? pts[d * n + p] : 0.f;
  float best = FLT_MAX;
  int who = -1;
  for (int c0 = 0; c0 < K; c0 += chunk) {
    int m = min(chunk, K - c0);
    for (int e = threadIdx.x; e < m * DIM; e += blockDim.x) sc[e] = cent[c0 * DIM + e];
    __syncthreads();
    for (int c = 0; c < m; c++) {
      float d2 = 0.f;
#pragma unroll
      for (int d = 0; d < DIM; d++) {
        float t = x[d] - sc[c * DIM + d];
        d2 = fmaf(t, t, d2);
      }
      if (d2 < best) { best = d2; who = c0 + c; }
    }
    __syncthreads();
  }
  if (p < n) { label[p] = who; dmin[p] = best; }
}

// [4] mean shift step in colour space with a truncated quadratic kernel ---------------------------
struct Lab { float l, a, b; };
__global__ void meanShiftStep(const Lab *modes, const Lab *samples, Lab *moved, int nm, int ns, float h2)
{
  __shared__ Lab s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Lab me = {0.f, 0.f, 0.f};
  if (i < nm) me = modes[i];
  float wl = 0.f, wa = 0.f, wb = 0.f, w = 1e-6f;
  for (int t = 0; t * 64 < ns; t++) {
    if (threadIdx.x < 64) {
      int j = t * 64 + threadIdx.x;
      if (j < ns) s[threadIdx.x] = samples[j];
      else { s[threadIdx.x].l = 1e9f; s[threadIdx.x].a = 1e9f; s[threadIdx.x].b = 1e9f; }
    }
    __syncthreads();
    for (int k = 0; k < 64; k++) {
      float dl = s[k].l - me.l, da = s[k].a - me.a, db = s[k].b - me.b;
      float u = 1.f - (dl * dl + da * da + db * db) / h2;
      if (u > 0.f) { w += u; wl += u * s[k].l; wa += u * s[k].a; wb += u * s[k].b; }
    }
    __syncthreads();
  }
  if (i < nm) {
    Lab o;
    o.l = wl / w; o.a = wa / w; o.b = wb / w;
    moved[i] = o;
  }
}

// [5] SPH density: a cell a block, the 27 neighbour cells staged one after the other -----------------
#define CAP 32
__device__ static int cellCount(int c) { return 20 + (c * 7) % 13; }   // occupied slots of a cell
__global__ void sphDensityCells(const float4 *__restrict__ part, float *__restrict__ rho, int nx, int ny, int nz, float h, float cell)
{
  __shared__ float4 nb[CAP];
  __shared__ int cnt;
  const int cx = blockIdx.x, cy = blockIdx.y, cz = blockIdx.z;
  const int me = (cz * ny + cy) * nx + cx;
  const int mine = cellCount(me);
  float4 p = make_float4(0.f, 0.f, 0.f, 0.f);
  if ((int)threadIdx.x < mine) {
    p = part[(size_t)me * CAP + threadIdx.x];
    p.x = p.x * 0.08f * cell + cx * cell;
    p.y = p.y * 0.08f * cell + cy * cell;
    p.z = p.z * 0.08f * cell + cz * cell;
  }
  float sum = 0.f;
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        int x = cx + dx, y = cy + dy, z = cz + dz;
        if (x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz) continue;   // same for the whole block
        int c = (z * ny + y) * nx + x;
        if (threadIdx.x == 0) cnt = cellCount(c);
        float4 q = part[(size_t)c * CAP + threadIdx.x];
        nb[threadIdx.x] = make_float4(q.x * 0.08f * cell + x * cell, q.y * 0.08f * cell + y * cell, q.z * 0.08f * cell + z * cell, q.w);
        __syncthreads();
        for (int k = 0; k < cnt; k++) {
          float ex = nb[k].x - p.x, ey = nb[k].y - p.y, ez = nb[k].z - p.z;
          float u = h * h - (ex * ex + ey * ey + ez * ez);
          if (u > 0.f) sum += nb[k].w * u * u * u;
        }
        __syncthreads();
      }
  float h3 = h * h * h;
  if ((int)threadIdx.x < mine) rho[(size_t)me * CAP + threadIdx.x] = 315.f / (64.f * 3.14159265f * h3 * h3 * h3) * sum;
}

// [6] nearest hit of camera rays among triangles (Moeller-Trumbore), triangles by tiles ----------------
struct Tri { float3 v0, e1, e2; };
__device__ __forceinline__ float3 cross3(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__device__ __forceinline__ float dot3(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__global__ void traceNearest(const Tri *__restrict__ tris, int ntri, float *__restrict__ depth, int *__restrict__ hitId, int w, int h) {
  __shared__ Tri st[64];
  int px = blockIdx.x * 8 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
  int lid = threadIdx.y * 8 + threadIdx.x;
  float3 o = make_float3(6.f, 6.f, -20.f);
  float3 d = make_float3((px + .5f) / w - .5f, (py + .5f) / h - .5f, 1.2f);
  float best = 1e20f;
  int id = -1;
  for (int t0 = 0; t0 < ntri; t0 += 64) {
    int lim = min(64, ntri - t0);
    if (lid < lim) st[lid] = tris[t0 + lid];
    __syncthreads();
    for (int k = 0; k < lim; k++) {
      const Tri &T = st[k];
      float3 e1 = make_float3(T.e1.x - 6.f, T.e1.y - 4.f, T.e1.z - 6.f);
      float3 e2 = make_float3(T.e2.x - 5.f, T.e2.y - 7.f, T.e2.z - 6.f);
      float3 pv = cross3(d, e2);
      float det = dot3(e1, pv);
      if (fabsf(det) < 1e-7f) continue;
      float inv = 1.f / det;
      float3 tv = make_float3(o.x - T.v0.x, o.y - T.v0.y, o.z - T.v0.z);
      float u = dot3(tv, pv) * inv;
      if (u < 0.f || u > 1.f) continue;
      float3 qv = cross3(tv, e1);
      float v = dot3(d, qv) * inv;
      if (v < 0.f || u + v > 1.f) continue;
      float t = dot3(e2, qv) * inv;
      if (t > 1e-4f && t < best) { best = t; id = t0 + k; }
    }
    __syncthreads();
  }
  if (px < w && py < h) { depth[py * w + px] = best; hitId[py * w + px] = id; }
}

// [7] winding of points around one closed polygon, edges by tiles with one vertex of overlap -----------
__global__ void windingNumber(const double2 *poly, unsigned nv, const double2 *pt, int *wn, unsigned np) {
  __shared__ double2 v[129];
  unsigned i = blockIdx.x * 128u + threadIdx.x;
  double2 q = pt[i < np ? i : np - 1];
  int w = 0;
  for (unsigned b = 0; b < nv; b += 128) {
    unsigned m = nv - b < 128 ? nv - b : 128;
    if (threadIdx.x < m) v[threadIdx.x] = poly[b + threadIdx.x];
    if (threadIdx.x == 0) v[m] = poly[b + m == nv ? 0 : b + m];
    __syncthreads();
    for (unsigned k = 0; k < m; k++) {
      double2 A = v[k], B = v[k + 1];
      double side = (B.x - A.x) * (q.y - A.y) - (q.x - A.x) * (B.y - A.y);
      if (A.y <= q.y) { if (B.y > q.y && side > 0.0) ++w; }
      else            { if (B.y <= q.y && side < 0.0) --w; }
    }
    __syncthreads();
  }
  if (i < np) wn[i] = w;
}

// [8] stack walk of an implicit interval tree: how many boxes does a query meet --------------------------
#define STACK_DEPTH 32
__global__ void treeStab(const float2 *__restrict__ node, int levels, const float *__restrict__ query, int *__restrict__ count,
                         float *__restrict__ nearest, int nq)
{
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= nq) return;
  float x = query[q] * 80.f + (float)(q % 977);
  int stack[STACK_DEPTH];
  int sp = 0;
  stack[sp++] = 1;
  const int leaf0 = 1 << (levels - 1);
  int met = 0;
  float near_ = 1e30f;
  while (sp > 0) {
    int n = stack[--sp];
    // a node of depth d covers an interval of 1024 / 2^d, stretched by its data
    int depth = 31 - __clz(n);
    float width = 1024.f / (float)(1 << depth);
    float lo = (n - (1 << depth)) * width;
    float2 b = node[n];
    float a0 = lo - 0.05f * b.x * (width / 12.f), a1 = lo + width + 0.05f * b.y * (width / 12.f);
    if (x < a0 || x > a1) continue;
    if (n >= leaf0) {
      met++;
      near_ = fminf(near_, fabsf(x - 0.5f * (a0 + a1)));
    } else {
      stack[sp++] = 2 * n;
      stack[sp++] = 2 * n + 1;
    }
  }
  count[q] = met;
  nearest[q] = near_;
}

int main() {
  {
    int n = 20000;
    float4 *p = (float4 *)mk<float>(4 * n + 64), *v = (float4 *)mk<float>(4 * n), *a = (float4 *)mk<float>(4 * n), *j = (float4 *)mk<float>(4 * n);
    hermiteForce<128><<<(n + 127) / 128, 128>>>(p + 5, v, a, j, n, 0.05f);
    show("hermiteForce", a, n * 16);
    show("hermiteForce", j, n * 16);
  }
  {
    unsigned nx = 2000, ny = 1801, dim = 70;
    float *X = mk<float>(nx * dim), *Y = mk<float>(ny * dim), *D = mk<float>((size_t)nx * ny);
    canberra_dist<<<dim3((ny + CT - 1) / CT, (nx + CT - 1) / CT), dim3(CT, CT)>>>(X, Y, D, nx, ny, dim);
    show("canberra_dist", D, (size_t)nx * ny * 4);
    cudaFree(D);
  }
  {
    size_t n = 1000001;
    int K = 300, chunk = 128;
    float *p = mk<float>(n * 6), *c = mk<float>(K * 6), *d = mk<float>(n);
    int *l = mk<int>(n);
    kmAssign<6><<<(unsigned)((n + 255) / 256), 256, chunk * 6 * sizeof(float)>>>(p, c, l, d, n, K, chunk);
    show("kmAssign", l, n * 4);
    show("kmAssign", d, n * 4);
    cudaFree(p);
  }
  {
    int nm = 60000, ns = 1500;
    Lab *m = (Lab *)mk<float>(nm * 3), *s = (Lab *)mk<float>(ns * 3 + 2), *o = (Lab *)mk<float>(nm * 3);
    meanShiftStep<<<(nm + 95) / 96, 96>>>(m, s, o, nm, ns, 9.f);
    show("meanShiftStep", o, nm * sizeof(Lab));
  }
  {
    int nx = 40, ny = 36, nz = 30, n = nx * ny * nz;
    float4 *p = (float4 *)mk<float>((size_t)n * CAP * 4);
    float *r = mk<float>((size_t)n * CAP);
    sphDensityCells<<<dim3(nx, ny, nz), CAP>>>(p, r, nx, ny, nz, 1.0f, 1.1f);
    show("sphDensityCells", r, (size_t)n * CAP * 4);
    cudaFree(p);
  }
  {
    int w = 1000, h = 700, nt = 500;
    Tri *t = (Tri *)mk<float>(nt * 9);
    float *d = mk<float>(w * h);
    int *id = mk<int>(w * h);
    traceNearest<<<dim3((w + 7) / 8, (h + 7) / 8), dim3(8, 8)>>>(t, nt, d, id, w, h);
    show("traceNearest", d, w * h * 4);
    show("traceNearest", id, w * h * 4);
  }
  {
    unsigned nv = 901, np = 400000;
    double2 *poly = (double2 *)mk<double>(2 * nv), *pt = (double2 *)mk<double>(2 * np);
    int *wn = mk<int>(np);
    windingNumber<<<(np + 127) / 128, 128>>>(poly, nv, pt, wn, np);
    show("windingNumber", wn, np * 4);
  }
  {
    int levels = 15, nq = 1 << 20;
    float2 *node = (float2 *)mk<float>(2 << levels);
    float *q = mk<float>(nq), *nr = mk<float>(nq);
    int *c = mk<int>(nq);
    treeStab<<<(nq + 255) / 256, 256>>>(node, levels, q, c, nr, nq);
    show("treeStab", c, nq * 4);
    show("treeStab", nr, nq * 4);
  }
  return 0;
}
