// Heavy arithmetic held in registers; no shared memory anywhere.
#include <cmath>
#include <cstdint>
#include "shown.h"

// ===== Lennard-Jones + damped Coulomb over a neighbour list (column-major), minimum image
struct PairCoef { float lj1, lj2, lj3, lj4; };
__constant__ PairCoef c_pair[9];
__global__ void md_force(const float4 *__restrict__ xyzq, const int *__restrict__ type, const int *__restrict__ neigh, int nmax,
                         float4 *force, float *virial, int natoms, float box, float rc2)
{
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= natoms) return;
    const float4 me = xyzq[a];
    const int ta = type[a] % 3;
    float fx = 0.f, fy = 0.f, fz = 0.f, e = 0.f, vir = 0.f;
    const float ibox = 1.f / box;
    for (int k = 0; k < nmax; ++k) {
        int b = neigh[(size_t)k * natoms + a];
        if (b == a) continue;
        float4 o = xyzq[b];
        float dx = me.x - o.x, dy = me.y - o.y, dz = me.z - o.z;
        dx -= box * rintf(dx * ibox);
        dy -= box * rintf(dy * ibox);
        dz -= box * rintf(dz * ibox);
        float r2 = dx * dx + dy * dy + dz * dz + 0.5f;
        if (r2 < rc2) {
            PairCoef p = c_pair[ta * 3 + type[b] % 3];
            float ir2 = 1.f / r2, ir6 = ir2 * ir2 * ir2, ir = rsqrtf(r2);
            float flj = ir6 * (p.lj1 * ir6 - p.lj2);
            float qq = (me.w - 6.f) * (o.w - 6.f);
            float damp = __expf(-0.1f * r2);
            float fc = qq * ir * damp * (1.f + 0.2f * r2);
            float f = (flj + fc) * ir2;
            fx += dx * f; fy += dy * f; fz += dz * f;
            e += 0.5f * (ir6 * (p.lj3 * ir6 - p.lj4) + qq * ir * damp);
            vir += r2 * f;
        }
    }
    force[a] = make_float4(fx, fy, fz, e);
    virial[a] = vir;
}

// ===== MD5 of one 64-byte block made out of a counter, macros as in the old sources
#define F1(x, y, z) (z ^ (x & (y ^ z)))
#define F2(x, y, z) F1(z, x, y)
#define F3(x, y, z) (x ^ y ^ z)
#define F4(x, y, z) (y ^ (x | ~z))
#define MD5STEP(f, w, x, y, z, data, s) (w += f(x, y, z) + (data), w = w << s | w >> (32 - s), w += x)
__global__ void md5_candidates(uint4 *digest, const uint32_t *salt, uint32_t first, uint32_t count)
{
    uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count) return;
    uint32_t in[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) in[i] = 0;
    uint32_t c = first + id;
    in[0] = 0x61616161u + (c & 0x0f0f0f0fu);
    in[1] = 0x61616161u + (c >> 4 & 0x0f0f0f0fu);
    in[2] = salt[0];
    in[3] = salt[1] ^ c;
    in[4] = 0x80;
    in[14] = 128;
    uint32_t a = 0x67452301, b = 0xefcdab89, cc = 0x98badcfe, d = 0x10325476;
#define R1(i, k0, k1, k2, k3) MD5STEP(F1, a, b, cc, d, in[i] + k0, 7); MD5STEP(F1, d, a, b, cc, in[i + 1] + k1, 12); \
    MD5STEP(F1, cc, d, a, b, in[i + 2] + k2, 17); MD5STEP(F1, b, cc, d, a, in[i + 3] + k3, 22);
    R1(0, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee)
    R1(4, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501)
    R1(8, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be)
    R1(12, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821)
#define R2(i, k0, k1, k2, k3) MD5STEP(F2, a, b, cc, d, in[(i) & 15] + k0, 5); MD5STEP(F2, d, a, b, cc, in[(i + 5) & 15] + k1, 9); \
    MD5STEP(F2, cc, d, a, b, in[(i + 10) & 15] + k2, 14); MD5STEP(F2, b, cc, d, a, in[(i + 15) & 15] + k3, 20);
    R2(1, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa)
    R2(5, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8)
    R2(9, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed)
    R2(13, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a)
#define R3(i, k0, k1, k2, k3) MD5STEP(F3, a, b, cc, d, in[(i) & 15] + k0, 4); MD5STEP(F3, d, a, b, cc, in[(i + 3) & 15] + k1, 11); \
    MD5STEP(F3, cc, d, a, b, in[(i + 6) & 15] + k2, 16); MD5STEP(F3, b, cc, d, a, in[(i + 9) & 15] + k3, 23);
    R3(5, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c)
    R3(1, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70)
    R3(13, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05)
    R3(9, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665)
#define R4(i, k0, k1, k2, k3) MD5STEP(F4, a, b, cc, d, in[(i) & 15] + k0, 6); MD5STEP(F4, d, a, b, cc, in[(i + 7) & 15] + k1, 10); \
    MD5STEP(F4, cc, d, a, b, in[(i + 14) & 15] + k2, 15); MD5STEP(F4, b, cc, d, a, in[(i + 21) & 15] + k3, 21);
    R4(0, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039)
    R4(12, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1)
    R4(8, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1)
    R4(4, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391)
    digest[id] = make_uint4(a + 0x67452301, b + 0xefcdab89, cc + 0x98badcfe, d + 0x10325476);
}

// ===== hydrogen-air like source terms: nine species, a dozen reversible reactions, sub-stepped
enum Species { H2, O2, H2O, H, O, OH, HO2, H2O2, N2, NSP };
__device__ __forceinline__ float arrh(float lnA, float b, float Ta, float lnT, float iT) { return expf(lnA + b * lnT - Ta * iT); }
__global__ void chemSource(const float *__restrict__ Y, const float *__restrict__ Temp, float *__restrict__ Yout, int cells, int substeps, float dt)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells) return;
    float y[NSP];
#pragma unroll
    for (int s = 0; s < NSP; ++s) y[s] = Y[(size_t)s * cells + c] * 0.01f;
    float T = 900.f + 60.f * Temp[c];
    for (int n = 0; n < substeps; ++n) {
        const float lnT = logf(T), iT = 1.f / T;
        float w[NSP];
#pragma unroll
        for (int s = 0; s < NSP; ++s) w[s] = 0.f;
        float q, M = 0.f;
#pragma unroll
        for (int s = 0; s < NSP; ++s) M += y[s] * (s == H2O ? 12.f : s == H2 ? 2.5f : 1.f);
#define RXN(r1, r2, p1, p2, A, b, Ta, Kr) \
        q = arrh(A, b, Ta, lnT, iT) * (y[r1] * y[r2] - Kr * y[p1] * y[p2]); w[r1] -= q; w[r2] -= q; w[p1] += q; w[p2] += q;
        RXN(H, O2, O, OH, 12.f, -0.4f, 8300.f, 0.3f)
        RXN(O, H2, H, OH, 7.f, 0.4f, 3150.f, 0.5f)
        RXN(H2, OH, H2O, H, 8.5f, 0.3f, 1730.f, 0.02f)
        RXN(O, H2O, OH, OH, 9.f, 0.1f, 6740.f, 1.5f)
        RXN(HO2, H, H2, O2, 6.f, 0.f, 410.f, 0.001f)
        RXN(HO2, H, OH, OH, 7.1f, 0.f, 150.f, 0.002f)
        RXN(HO2, O, OH, O2, 6.2f, 0.f, 0.f, 0.001f)
        RXN(HO2, OH, H2O, O2, 6.4f, 0.f, -250.f, 0.0005f)
        RXN(H2O2, H, H2O, OH, 5.5f, 0.f, 2000.f, 0.001f)
        RXN(H2O2, OH, HO2, H2O, 4.6f, 0.f, 500.f, 0.01f)
#undef RXN
        q = arrh(5.f, -0.8f, 0.f, lnT, iT) * y[H] * y[O2] * M;
        w[H] -= q; w[O2] -= q; w[HO2] += q;
        q = arrh(6.f, -1.f, 0.f, lnT, iT) * y[H] * y[OH] * M;
        w[H] -= q; w[OH] -= q; w[H2O] += q;
        float heat = 0.f;
#pragma unroll
        for (int s = 0; s < NSP; ++s) {
            y[s] = fmaxf(y[s] + dt * w[s], 0.f);
            heat -= w[s] * (s == H2O ? -242.f : s == H ? 218.f : s == O ? 249.f : s == OH ? 39.f : s == HO2 ? 10.f : s == H2O2 ? -136.f : 0.f);
        }
        T = fminf(fmaxf(T + dt * heat * 5.f, 300.f), 3500.f);
    }
#pragma unroll
    for (int s = 0; s < NSP; ++s) Yout[(size_t)s * cells + c] = y[s];
}

// ===== lattice Boltzmann D2Q9, pull, BGK, bounce-back on solid cells
template <typename T>
__global__ void lbmD2Q9(const T *f, T *g, const unsigned char *solid, int nx, int ny, T omega, T ax)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= nx || y >= ny) return;
    int xe = x == nx - 1 ? 0 : x + 1, xw = x == 0 ? nx - 1 : x - 1;
    int yn = y == ny - 1 ? 0 : y + 1, ys = y == 0 ? ny - 1 : y - 1;
    int N = nx * ny, me = y * nx + x;
    T f0 = f[me] + T(1);
    T f1 = f[N + y * nx + xw] + T(1), f2 = f[2 * N + ys * nx + x] + T(1), f3 = f[3 * N + y * nx + xe] + T(1), f4 = f[4 * N + yn * nx + x] + T(1);
    T f5 = f[5 * N + ys * nx + xw] + T(1), f6 = f[6 * N + ys * nx + xe] + T(1), f7 = f[7 * N + yn * nx + xe] + T(1), f8 = f[8 * N + yn * nx + xw] + T(1);
    if (solid[me] == 3) {
        T s;
        s = f1; f1 = f3; f3 = s;
        s = f2; f2 = f4; f4 = s;
        s = f5; f5 = f7; f7 = s;
        s = f6; f6 = f8; f8 = s;
    } else {
        T rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
        T ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho + ax, uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho;
        T base = T(1) - T(1.5) * (ux * ux + uy * uy);
        T a = rho * T(4. / 9), b = rho * T(1. / 9), c = rho * T(1. / 36);
        auto eq = [base](T w, T cu) { return w * (base + T(3) * cu + T(4.5) * cu * cu); };
        f0 += omega * (a * base - f0);
        f1 += omega * (eq(b, ux) - f1);
        f2 += omega * (eq(b, uy) - f2);
        f3 += omega * (eq(b, -ux) - f3);
        f4 += omega * (eq(b, -uy) - f4);
        f5 += omega * (eq(c, ux + uy) - f5);
        f6 += omega * (eq(c, uy - ux) - f6);
        f7 += omega * (eq(c, -ux - uy) - f7);
        f8 += omega * (eq(c, ux - uy) - f8);
    }
    g[me] = f0; g[N + me] = f1; g[2 * N + me] = f2; g[3 * N + me] = f3; g[4 * N + me] = f4;
    g[5 * N + me] = f5; g[6 * N + me] = f6; g[7 * N + me] = f7; g[8 * N + me] = f8;
}

// ===== complex FIR bank: a thread walks one channel with its delay line in registers
template <int TAPS>
__global__ void complexFirChannels(const float2 *x, const float2 *h, float2 *y, int channels, int samples)
{
    const int ch = blockIdx.x * blockDim.x + threadIdx.x;
    if (ch >= channels) return;
    float2 line[TAPS], tap[TAPS];
#pragma unroll
    for (int t = 0; t < TAPS; ++t) {
        line[t] = make_float2(0.f, 0.f);
        tap[t] = h[t * channels + ch];
    }
    const float2 *px = x + ch;
    float2 *py = y + ch;
    while (samples--) {
#pragma unroll
        for (int t = TAPS - 1; t > 0; --t) line[t] = line[t - 1];
        line[0] = *px;
        float re = 0.f, im = 0.f;
#pragma unroll
        for (int t = 0; t < TAPS; ++t) {
            re += line[t].x * tap[t].x - line[t].y * tap[t].y;
            im += line[t].x * tap[t].y + line[t].y * tap[t].x;
        }
        *py = make_float2(re, im);
        px += channels;
        py += channels;
    }
}

// ===== 6 x 6 Cholesky factor and solve for each point, packed storage, double
constexpr __host__ __device__ int tri(int r, int c) { return r * (r + 1) / 2 + c; }
__global__ void spd6Solve(const double *A, const double *b, double *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double L[21], v[6];
#pragma unroll
    for (int r = 0; r < 6; ++r) {
        v[r] = b[r * n + i];
#pragma unroll
        for (int c = 0; c <= r; ++c) L[tri(r, c)] = A[tri(r, c) * n + i] * 0.1 + (r == c ? 8.0 : 0.0);
    }
#pragma unroll
    for (int c = 0; c < 6; ++c) {
        double d = L[tri(c, c)];
#pragma unroll
        for (int k = 0; k < c; ++k) d -= L[tri(c, k)] * L[tri(c, k)];
        d = 1.0 / sqrt(d);
        L[tri(c, c)] = d;                      // reciprocal kept
#pragma unroll
        for (int r = c + 1; r < 6; ++r) {
            double s = L[tri(r, c)];
#pragma unroll
            for (int k = 0; k < c; ++k) s -= L[tri(r, k)] * L[tri(c, k)];
            L[tri(r, c)] = s * d;
        }
    }
#pragma unroll
    for (int r = 0; r < 6; ++r) {
#pragma unroll
        for (int k = 0; k < r; ++k) v[r] -= L[tri(r, k)] * v[k];
        v[r] *= L[tri(r, r)];
    }
#pragma unroll
    for (int r = 5; r >= 0; --r) {
#pragma unroll
        for (int k = r + 1; k < 6; ++k) v[r] -= L[tri(k, r)] * v[k];
        v[r] *= L[tri(r, r)];
        x[r * n + i] = v[r];
    }
}

// ===== nearest hit of camera rays among triangles (Moeller-Trumbore)
struct V3 { float x, y, z; };
__device__ inline V3 operator-(V3 a, V3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline V3 cross(V3 a, V3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
__device__ inline float dot(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
struct Triangle { V3 p, q, r; };
__global__ void castRays(const Triangle *__restrict__ tris, int ntri, float4 *hits, int w, int h)
{
    int px = blockIdx.x * 8 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
    if (px >= w || py >= h) return;
    V3 org = {6.f, 6.f, -20.f};
    V3 dir = {(px - 0.5f * w) / w, (py - 0.5f * h) / w, 1.f};
    float best = 1e30f, bu = 0.f, bv = 0.f;
    int id = -1;
    for (int k = 0; k < ntri; ++k) {
        Triangle t = tris[k];
        t.p.z += k & 7;
        V3 e1 = t.q - t.p, e2 = t.r - t.p;
        V3 pv = cross(dir, e2);
        float det = dot(e1, pv);
        if (fabsf(det) < 1e-6f) continue;
        float inv = 1.f / det;
        V3 tv = org - t.p;
        float u = dot(tv, pv) * inv;
        if (u < 0.f || u > 1.f) continue;
        V3 qv = cross(tv, e1);
        float v = dot(dir, qv) * inv;
        if (v < 0.f || u + v > 1.f) continue;
        float dist = dot(e2, qv) * inv;
        if (dist > 1e-3f && dist < best) { best = dist; bu = u; bv = v; id = k; }
    }
    hits[py * w + px] = make_float4(best, bu, bv, __int_as_float(id));
}

// ===== LSTM cell, pointwise part: four gates, peepholes, float4 across hidden units
__device__ __forceinline__ float sigm(float v) { return 1.f / (1.f + __expf(-v)); }
__device__ __forceinline__ float4 apply(float4 v, float (*fn)(float)) { return make_float4(fn(v.x), fn(v.y), fn(v.z), fn(v.w)); }
__global__ void lstmCell(const float4 *gates, const float4 *bias, const float4 *peep, float4 *c, float4 *h, int hidden4, int total4)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < total4; e += gridDim.x * blockDim.x) {
        int row = e / hidden4, u = e % hidden4;
        const float4 *g = gates + (size_t)row * 4 * hidden4 + u;
        float4 cp = c[e], gi = g[0], gf = g[hidden4], gg = g[2 * hidden4], go = g[3 * hidden4];
#define ADDB(t, k) { float4 b_ = bias[(k) * hidden4 + u]; t.x = (t.x - b_.x) * 0.3f; t.y = (t.y - b_.y) * 0.3f; t.z = (t.z - b_.z) * 0.3f; t.w = (t.w - b_.w) * 0.3f; }
#define PEEP(t, k, s) { float4 p_ = peep[(k) * hidden4 + u]; t.x += 0.01f * p_.x * s.x; t.y += 0.01f * p_.y * s.y; t.z += 0.01f * p_.z * s.z; t.w += 0.01f * p_.w * s.w; }
        ADDB(gi, 0) ADDB(gf, 1) ADDB(gg, 2) ADDB(go, 3)
        PEEP(gi, 0, cp)
        PEEP(gf, 1, cp)
        gi = apply(gi, sigm);
        gf = apply(gf, sigm);
        gg = apply(gg, tanhf);
        float4 cn;
        cn.x = gf.x * cp.x + gi.x * gg.x;
        cn.y = gf.y * cp.y + gi.y * gg.y;
        cn.z = gf.z * cp.z + gi.z * gg.z;
        cn.w = gf.w * cp.w + gi.w * gg.w;
        PEEP(go, 2, cn)
        go = apply(go, sigm);
        c[e] = cn;
        h[e] = make_float4(go.x * tanhf(cn.x), go.y * tanhf(cn.y), go.z * tanhf(cn.z), go.w * tanhf(cn.w));
    }
}

int main()
{
    {
        PairCoef p[9];
        for (int i = 0; i < 9; i++) p[i] = {48.f + i, 24.f - i, 4.f + i * 0.1f, 4.f - i * 0.1f};
        cudaMemcpyToSymbol(c_pair, p, sizeof p);
        int n = 120000, nm = 96;
        float4 *x = (float4 *)mk<float>(4 * n), *f = (float4 *)mk<float>(4 * n);
        int *t = mk<int>(n);
        int *hn = (int *)malloc((size_t)n * nm * 4), *nb;
        for (int k = 0; k < nm; k++)
            for (int a = 0; a < n; a++) hn[(size_t)k * n + a] = (a + (k - nm / 2) * (1 + k % 5) + n) % n;
        cudaMalloc(&nb, (size_t)n * nm * 4);
        cudaMemcpy(nb, hn, (size_t)n * nm * 4, cudaMemcpyHostToDevice);
        free(hn);
        float *v = mk<float>(n);
        md_force<<<(n + 127) / 128, 128>>>(x, t, nb, nm, f, v, n, 12.6f, 36.f);
        show("md_force", f, n * 16);
        show("md_force", v, n * 4);
        cudaFree(x); cudaFree(f); cudaFree(t); cudaFree(nb); cudaFree(v);
    }
    {
        uint32_t n = 9000001;
        uint4 *d = (uint4 *)mk<uint32_t>(4ull * n);
        uint32_t *s = mk<uint32_t>(2);
        md5_candidates<<<(n + 255) / 256, 256>>>(d, s, 1000u, n);
        show("md5_candidates", d, 16ull * n);
        cudaFree(d); cudaFree(s);
    }
    {
        int n = 500009;
        float *y = mk<float>((size_t)NSP * n), *t = mk<float>(n), *o = mk<float>((size_t)NSP * n);
        chemSource<<<(n + 127) / 128, 128>>>(y, t, o, n, 5, 1e-4f);
        show("chemSource", o, (size_t)NSP * n * 4);
        cudaFree(y); cudaFree(t); cudaFree(o);
    }
    {
        int nx = 2003, ny = 1501;
        size_t n = (size_t)nx * ny;
        float *f = mk<float>(9 * n), *g = mk<float>(9 * n);
        unsigned char *s = mk<unsigned char>(n);
        lbmD2Q9<float><<<dim3((nx + 63) / 64, (ny + 3) / 4), dim3(64, 4)>>>(f, g, s, nx, ny, 1.7f, 1e-4f);
        show("lbmD2Q9", g, 36 * n);
        cudaFree(f); cudaFree(g); cudaFree(s);
    }
    {
        int ch = 60000, ns = 100;
        float2 *x = (float2 *)mk<float>(2ull * ch * ns), *h = (float2 *)mk<float>(2ull * ch * 20), *y = (float2 *)mk<float>(2ull * ch * ns);
        complexFirChannels<20><<<(ch + 63) / 64, 64>>>(x, h, y, ch, ns);
        show("complexFirChannels", y, 8ull * ch * ns);
        cudaFree(x); cudaFree(h); cudaFree(y);
    }
    {
        int n = 2000003;
        double *a = mk<double>(21ull * n), *b = mk<double>(6ull * n), *x = mk<double>(6ull * n);
        spd6Solve<<<(n + 127) / 128, 128>>>(a, b, x, n);
        show("spd6Solve", x, 48ull * n);
        cudaFree(a); cudaFree(b); cudaFree(x);
    }
    {
        int w = 700, h = 500, nt = 700;
        Triangle *t = (Triangle *)mk<float>(9 * nt);
        float4 *hit = (float4 *)mk<float>(4 * w * h);
        castRays<<<dim3((w + 7) / 8, (h + 7) / 8), dim3(8, 8)>>>(t, nt, hit, w, h);
        show("castRays", hit, (size_t)w * h * 16);
        cudaFree(t); cudaFree(hit);
    }
    {
        int hid4 = 250, rows = 12000, tot = hid4 * rows;
        float4 *g = (float4 *)mk<float>(16ull * tot), *b = (float4 *)mk<float>(16 * hid4), *p = (float4 *)mk<float>(12 * hid4);
        float4 *c = (float4 *)mk<float>(4ull * tot), *h = (float4 *)mk<float>(4ull * tot);
        lstmCell<<<1320, 192>>>(g, b, p, c, h, hid4, tot);
        show("lstmCell", c, 16ull * tot);
        show("lstmCell", h, 16ull * tot);
        cudaFree(g); cudaFree(b); cudaFree(p); cudaFree(c); cudaFree(h);
    }
    return 0;
}
