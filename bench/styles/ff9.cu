// kernels limited by registers
#include "shown.h"

// 1. SHA-256 of one block per thread, rolling schedule
typedef unsigned int u32;
__constant__ u32 K256[64];
#define ROTR(x, n) __funnelshift_r((x), (x), (n))
#define S0(x) (ROTR(x, 2) ^ ROTR(x, 13) ^ ROTR(x, 22))
#define S1(x) (ROTR(x, 6) ^ ROTR(x, 11) ^ ROTR(x, 25))
#define s0(x) (ROTR(x, 7) ^ ROTR(x, 18) ^ ((x) >> 3))
#define s1(x) (ROTR(x, 17) ^ ROTR(x, 19) ^ ((x) >> 10))
__global__ void sha256_nonce(const u32 *__restrict__ midstate, const u32 *__restrict__ tail, u32 *__restrict__ out, u32 count) {
  u32 nonce = blockIdx.x * blockDim.x + threadIdx.x;
  if (nonce >= count) return;
  u32 w[16];
#pragma unroll
  for (int i = 0; i < 16; i++) w[i] = tail[i];
  w[3] = nonce;
  u32 a = midstate[0], b = midstate[1], c = midstate[2], d = midstate[3], e = midstate[4], f = midstate[5], g = midstate[6], h = midstate[7];
#pragma unroll
  for (int r = 0; r < 64; r++) {
    if (r >= 16) w[r & 15] += s1(w[(r + 14) & 15]) + w[(r + 9) & 15] + s0(w[(r + 1) & 15]);
    u32 t1 = h + S1(e) + ((e & f) ^ (~e & g)) + K256[r] + w[r & 15];
    u32 t2 = S0(a) + ((a & b) ^ (a & c) ^ (b & c));
    h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
  }
  out[nonce] = (a + midstate[0]) ^ (h + midstate[7]);
}
#undef S0
#undef S1
#undef s0
#undef s1

// 2. chemistry: rates and source terms of a 9-species mechanism
#define NSP 9
#define NREAC 12
template <typename R>
__device__ __forceinline__ R arrh(R A, R n, R Ea, R logT, R invT) { return A * exp(n * logT - Ea * invT); }
__global__ void chem_source_h2(const double *__restrict__ T, const double *__restrict__ conc, double *__restrict__ wdot, int ncell) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= ncell) return;
  double t = 900.0 + 40.0 * T[i], lt = log(t), it = 1.0 / t;
  double c[NSP], w[NSP];
#pragma unroll
  for (int k = 0; k < NSP; k++) { c[k] = conc[(size_t)k * ncell + i] * 1e-3; w[k] = 0.0; }
  enum { H2, O2, H2O, H, O, OH, HO2, H2O2, N2 };
  double M = 0;
#pragma unroll
  for (int k = 0; k < NSP; k++) M += c[k] * (k == H2 ? 2.5 : k == H2O ? 12.0 : 1.0);
  double q;
#define RX(A, n, E, a1, a2, b1, b2, Kc) \
  q = arrh<double>(A, n, E, lt, it) * (c[a1] * c[a2] - c[b1] * c[b2] / (Kc)); \
  w[a1] -= q; w[a2] -= q; w[b1] += q; w[b2] += q;
  RX(3.5e6, -0.41, 8353.0, H, O2, O, OH, 2.0 + 1e-3 * t)
  RX(5.1e1, 0.67, 3166.0, O, H2, H, OH, 1.5)
  RX(2.2e3, 0.51, 1726.0, H2, OH, H2O, H, 7.0)
  RX(3.0e3, 0.02, 6751.0, O, H2O, OH, OH, 0.1 + 1e-4 * t)
  RX(1.7e4, 0.0, 414.0, HO2, H, H2, O2, 30.0)
  RX(7.1e4, 0.0, 148.0, HO2, H, OH, OH, 22.0)
  RX(3.3e4, 0.0, 0.0, HO2, O, O2, OH, 19.0)
  RX(2.9e4, 0.0, -250.0, HO2, OH, H2O, O2, 41.0)
  RX(4.2e4, 0.0, 6030.0, HO2, HO2, H2O2, O2, 5.0)
  RX(2.4e4, 0.0, 1998.0, H2O2, H, H2O, OH, 60.0)
  RX(4.8e4, 0.0, 4000.0, H2O2, H, HO2, H2, 9.0)
  RX(9.6e1, 0.2, 1998.0, H2O2, O, OH, HO2, 4.0)
#undef RX
  q = arrh<double>(6e3, -0.3, 0.0, lt, it) * M * (c[H] * c[O2]);
  w[H] -= q; w[O2] -= q; w[HO2] += q;
#pragma unroll
  for (int k = 0; k < NSP; k++) wdot[(size_t)k * ncell + i] = w[k];
}

// 3. Lennard-Jones + damped Coulomb with a fixed-width neighbour list
struct MdParams { float lj1, lj2, cut2, kappa, box; };
__global__ void mdForces(const float4 *__restrict__ xyzq, const int *__restrict__ neigh, float4 *__restrict__ force, int natom, int maxneigh, MdParams p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= natom) return;
  const float4 me = xyzq[i];
  float fx = 0, fy = 0, fz = 0, pe = 0;
  const float ib = 1.f / p.box;
#pragma unroll 4
  for (int k = 0; k < maxneigh; ++k) {
    int j = (i + neigh[(size_t)k * natom + i] * 97 + k * k + 1) % natom;
    const float4 o = xyzq[j];
    float dx = me.x - o.x, dy = me.y - o.y, dz = me.z - o.z;
    dx -= p.box * rintf(dx * ib);
    dy -= p.box * rintf(dy * ib);
    dz -= p.box * rintf(dz * ib);
    float r2 = dx * dx + dy * dy + dz * dz + 0.5f;
    if (r2 < p.cut2) {
      float inv2 = 1.f / r2, inv6 = inv2 * inv2 * inv2, r = sqrtf(r2);
      float el = me.w * o.w * expf(-p.kappa * r) / r;
      float f = inv6 * (p.lj1 * inv6 - p.lj2) * inv2 + el * (p.kappa + 1.f / r) / r;
      fx += dx * f; fy += dy * f; fz += dz * f;
      pe += el;
    }
  }
  force[i] = make_float4(fx, fy, fz, pe);
}

// 4. Moeller-Trumbore against a small triangle list in constant memory
struct V3 { float x, y, z; };
__host__ __device__ inline V3 sub(V3 a, V3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__host__ __device__ inline V3 cross(V3 a, V3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
__host__ __device__ inline float dot(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
struct Tri { V3 a, b, c; };
__constant__ Tri scene[48];
template <int UNROLL>
__global__ void rayTriangles(float *tHit, int *prim, int w, int h, int ntri) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  V3 org = {0.f, 0.f, -5.f};
  V3 dir = {(x - 0.5f * w) / w, (y - 0.5f * h) / h, 1.f};
  float best = 1e30f;
  int id = -1;
#pragma unroll UNROLL
  for (int k = 0; k < ntri; ++k) {
    V3 e1 = sub(scene[k].b, scene[k].a), e2 = sub(scene[k].c, scene[k].a);
    V3 pv = cross(dir, e2);
    float det = dot(e1, pv);
    if (fabsf(det) < 1e-7f) continue;
    float inv = 1.f / det;
    V3 tv = sub(org, scene[k].a);
    float u = dot(tv, pv) * inv;
    if (u < 0.f || u > 1.f) continue;
    V3 qv = cross(tv, e1);
    float v = dot(dir, qv) * inv;
    if (v < 0.f || u + v > 1.f) continue;
    float t = dot(e2, qv) * inv;
    if (t > 1e-4f && t < best) { best = t; id = k; }
  }
  tHit[(size_t)y * w + x] = best;
  prim[(size_t)y * w + x] = id;
}

// 5. complex FIR, outputs blocked in registers
template <int TAPS, int OUT>
__global__ void __launch_bounds__(128) complexFirRegs(const float2 *__restrict__ x, const float2 *__restrict__ h, float2 *__restrict__ y, size_t n) {
  size_t o = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * OUT;
  if (o >= n) return;
  float2 acc[OUT], win[OUT + TAPS - 1];
#pragma unroll
  for (int k = 0; k < OUT + TAPS - 1; k++) {
    long long g = (long long)o + k - (TAPS - 1);
    win[k] = g >= 0 && g < (long long)n ? x[g] : make_float2(0.f, 0.f);
  }
#pragma unroll
  for (int j = 0; j < OUT; j++) acc[j] = make_float2(0.f, 0.f);
#pragma unroll
  for (int t = 0; t < TAPS; t++) {
    float2 c = h[t];
#pragma unroll
    for (int j = 0; j < OUT; j++) {
      float2 v = win[j + TAPS - 1 - t];
      acc[j].x += c.x * v.x - c.y * v.y;
      acc[j].y += c.x * v.y + c.y * v.x;
    }
  }
#pragma unroll
  for (int j = 0; j < OUT; j++)
    if (o + j < n) y[o + j] = acc[j];
}

// 6. Cholesky solve 8x8 per thread, packed lower triangle in registers
template <class T, int N>
struct Packed {
  T v[N * (N + 1) / 2];
  __device__ __forceinline__ T &operator()(int r, int c) { return v[r * (r + 1) / 2 + c]; }
};
template <class T, int N>
__global__ void cholSolvePerThread(const T *__restrict__ A, const T *__restrict__ rhs, T *__restrict__ sol, unsigned batch) {
  unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= batch) return;
  Packed<T, N> L;
  T x[N];
#pragma unroll
  for (int k = 0; k < N * (N + 1) / 2; k++) L.v[k] = A[(size_t)k * batch + b];
#pragma unroll
  for (int r = 0; r < N; r++) { L(r, r) += T(N * 13); x[r] = rhs[(size_t)r * batch + b]; }
#pragma unroll
  for (int j = 0; j < N; j++) {
#pragma unroll
    for (int k = 0; k < j; k++) L(j, j) -= L(j, k) * L(j, k);
    T inv = rsqrt(L(j, j));
    L(j, j) = inv;
#pragma unroll
    for (int i = j + 1; i < N; i++) {
#pragma unroll
      for (int k = 0; k < j; k++) L(i, j) -= L(i, k) * L(j, k);
      L(i, j) *= inv;
    }
  }
#pragma unroll
  for (int i = 0; i < N; i++) {
#pragma unroll
    for (int k = 0; k < i; k++) x[i] -= L(i, k) * x[k];
    x[i] *= L(i, i);
  }
#pragma unroll
  for (int i = N - 1; i >= 0; i--) {
#pragma unroll
    for (int k = i + 1; k < N; k++) x[i] -= L(k, i) * x[k];
    x[i] *= L(i, i);
  }
#pragma unroll
  for (int r = 0; r < N; r++) sol[(size_t)r * batch + b] = x[r];
}

// 7. D3Q19 collision with Smagorinsky-like relaxation, in place
namespace lbm {
#define Q19 19
__device__ const signed char CX[Q19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
__device__ const signed char CY[Q19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
__device__ const signed char CZ[Q19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
__device__ __forceinline__ float weight(int q) { return q == 0 ? 1.f / 3.f : q < 7 ? 1.f / 18.f : 1.f / 36.f; }
__global__ void collideD3Q19(float *f, long n, float tau, float cs) {
  long c = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n) return;
  float p[Q19], rho = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
  for (int q = 0; q < Q19; q++) {
    p[q] = f[q * n + c] * 0.01f + weight(q);
    rho += p[q];
    ux += CX[q] * p[q];
    uy += CY[q] * p[q];
    uz += CZ[q] * p[q];
  }
  float ir = 1.f / rho;
  ux *= ir; uy *= ir; uz *= ir;
  float usq = 1.5f * (ux * ux + uy * uy + uz * uz);
  float ne[Q19], pxx = 0, pxy = 0, pyz = 0, pzz = 0;
#pragma unroll
  for (int q = 0; q < Q19; q++) {
    float cu = 3.f * (CX[q] * ux + CY[q] * uy + CZ[q] * uz);
    ne[q] = p[q] - weight(q) * rho * (1.f + cu + 0.5f * cu * cu - usq);
    pxx += CX[q] * CX[q] * ne[q];
    pxy += CX[q] * CY[q] * ne[q];
    pyz += CY[q] * CZ[q] * ne[q];
    pzz += CZ[q] * CZ[q] * ne[q];
  }
  float S = sqrtf(pxx * pxx + pzz * pzz + 2.f * (pxy * pxy + pyz * pyz));
  float t = 0.5f * (tau + sqrtf(tau * tau + 18.f * cs * cs * S * ir));
  float om = 1.f / t;
#pragma unroll
  for (int q = 0; q < Q19; q++) f[q * n + c] = p[q] - om * ne[q];
}
}  // namespace lbm

// 8. LSTM cell, 4 hidden units vectorised a thread, fused bias and peephole
__device__ __forceinline__ float sigm(float x) { return 1.f / (1.f + expf(-x)); }
__global__ void lstm_pointwise4(const float4 *gates_x, const float4 *gates_h, const float4 *bias, const float4 *peep, const float4 *c_prev, float4 *c_out, float4 *h_out, int batch, int hidden4) {
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < batch * hidden4; idx += gridDim.x * blockDim.x) {
    const int b = idx / hidden4, u = idx - b * hidden4;
    float4 g[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      float4 x = gates_x[((size_t)b * 4 + k) * hidden4 + u], h = gates_h[((size_t)b * 4 + k) * hidden4 + u], bb = bias[k * hidden4 + u];
      g[k] = make_float4(x.x - h.x + bb.x - 6.f, x.y - h.y + bb.y - 6.f, x.z - h.z + bb.z - 6.f, x.w - h.w + bb.w - 6.f);
    }
    float4 c = c_prev[idx], pi = peep[u], pf = peep[hidden4 + u], po = peep[2 * hidden4 + u], cn, hn;
#define CELL(m) { \
      float ig = sigm(g[0].m + pi.m * c.m), fg = sigm(g[1].m + pf.m * c.m), gg = tanhf(g[2].m); \
      cn.m = fg * c.m + ig * gg; \
      hn.m = sigm(g[3].m + po.m * cn.m) * tanhf(cn.m); }
    CELL(x) CELL(y) CELL(z) CELL(w)
#undef CELL
    c_out[idx] = cn;
    h_out[idx] = hn;
  }
}

int main() {
  {
    u32 k[64];
    for (int i = 0; i < 64; i++) k[i] = 0x428a2f98u * (2 * i + 1) ^ 0x71374491u;
    cudaMemcpyToSymbol(K256, k, sizeof k);
    u32 n = (1u << 22) + 19;
    u32 *ms = mk<u32>(8), *tl = mk<u32>(16), *o = mk<u32>(n);
    sha256_nonce<<<(n + 255) / 256, 256>>>(ms, tl, o, n);
    show("sha256_nonce", o, (size_t)n * 4);
  }
  {
    int n = 300007;
    double *T = mk<double>(n), *c = mk<double>((size_t)n * NSP), *w = mk<double>((size_t)n * NSP);
    chem_source_h2<<<(n + 127) / 128, 128>>>(T, c, w, n);
    show("chem_source_h2", w, (size_t)n * NSP * 8);
  }
  {
    int n = 300017, mn = 64;
    float4 *x = (float4 *)mk<float>((size_t)n * 4), *f = (float4 *)mk<float>((size_t)n * 4);
    int *nb = mk<int>((size_t)n * mn);
    MdParams p = {4.f, 2.f, 30.f, 0.3f, 11.f};
    mdForces<<<(n + 127) / 128, 128>>>(x, nb, f, n, mn, p);
    show("mdForces", f, (size_t)n * 16);
    cudaFree(nb);
  }
  {
    Tri t[48];
    for (int i = 0; i < 48; i++) {
      float s = (i * 37 % 29) * 0.1f - 1.4f, r = (i * 17 % 23) * 0.1f - 1.1f;
      t[i] = {{s, r, i * 0.05f}, {s + 0.6f, r + 0.1f, i * 0.07f}, {s + 0.2f, r + 0.7f, i * 0.03f + 0.1f}};
    }
    cudaMemcpyToSymbol(scene, t, sizeof t);
    int w = 2561, h = 1443;
    float *d = mk<float>((size_t)w * h);
    int *p = mk<int>((size_t)w * h);
    rayTriangles<4><<<dim3((w + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(d, p, w, h, 48);
    show("rayTriangles", d, (size_t)w * h * 4);
  }
  {
    size_t n = (1u << 23) + 3;
    float2 *x = (float2 *)mk<float>(2 * n), *y = (float2 *)mk<float>(2 * n), *h = (float2 *)mk<float>(32);
    complexFirRegs<16, 8><<<(n + 1023) / 1024, 128>>>(x, h, y, n);
    show("complexFirRegs", y, n * 8);
    cudaFree(x); cudaFree(y);
  }
  {
    unsigned b = 600011;
    float *A = mk<float>((size_t)b * 36), *r = mk<float>((size_t)b * 8), *s = mk<float>((size_t)b * 8);
    cholSolvePerThread<float, 8><<<(b + 63) / 64, 64>>>(A, r, s, b);
    show("cholSolvePerThread", s, (size_t)b * 32);
    cudaFree(A);
  }
  {
    long n = 2000003;
    float *f = mk<float>((size_t)n * Q19);
    lbm::collideD3Q19<<<(n + 127) / 128, 128>>>(f, n, 0.6f, 0.17f);
    show("collideD3Q19", f, (size_t)n * Q19 * 4);
    cudaFree(f);
  }
  {
    int batch = 4099, h4 = 250;
    size_t n = (size_t)batch * h4 * 4;
    float4 *gx = (float4 *)mk<float>(n * 4), *gh = (float4 *)mk<float>(n * 4 + 4), *b = (float4 *)mk<float>(h4 * 16), *p = (float4 *)mk<float>(h4 * 12);
    float4 *c = (float4 *)mk<float>(n), *co = (float4 *)mk<float>(n), *ho = (float4 *)mk<float>(n);
    lstm_pointwise4<<<132 * 6, 256>>>(gx, gh + 1, b, p, c, co, ho, batch, h4);
    show("lstm_pointwise4", ho, n * 4);
  }
  return 0;
}
