// number crunching mostly in registers
#include "shown.h"
#include <stdint.h>

#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))
#define CHX(x, y, z) (((x) & (y)) ^ (~(x) & (z)))
#define MAJ(x, y, z) (((x) & (y)) ^ ((x) & (z)) ^ ((y) & (z)))
#define S0(x) (ROTR(x, 2) ^ ROTR(x, 13) ^ ROTR(x, 22))
#define S1(x) (ROTR(x, 6) ^ ROTR(x, 11) ^ ROTR(x, 25))
#define s0(x) (ROTR(x, 7) ^ ROTR(x, 18) ^ ((x) >> 3))
#define s1(x) (ROTR(x, 17) ^ ROTR(x, 19) ^ ((x) >> 10))
__constant__ uint32_t Kc[16] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
                                0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174};

// SHA-256-like compression, rolling schedule W[i & 15], not unrolled
__global__ void sha_like(const uint32_t *msg, uint32_t *digest, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    uint32_t W[16];
#pragma unroll 1
    for (int i = 0; i < 16; i++) W[i] = msg[(size_t)i * count + t] * 0x01010101u + i;
    uint32_t a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
#pragma unroll 1
    for (int i = 0; i < 64; i++) {
        if (i >= 16) W[i & 15] += s1(W[(i - 2) & 15]) + W[(i - 7) & 15] + s0(W[(i - 15) & 15]);
        uint32_t t1 = h + S1(e) + CHX(e, f, g) + (Kc[i & 15] ^ i) + W[i & 15];
        uint32_t t2 = S0(a) + MAJ(a, b, c);
        h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
    }
    digest[t] = a ^ e;
    digest[count + t] = b ^ f;
    digest[2 * count + t] = c ^ g;
    digest[3 * count + t] = d ^ h;
}

// Runge-Kutta 4 for the Lorenz system
__device__ __forceinline__ void lorenz(double x, double y, double z, double &dx, double &dy, double &dz)
{
    dx = 10.0 * (y - x);
    dy = x * (28.0 - z) - y;
    dz = x * y - 8.0 / 3.0 * z;
}
__global__ void rk4_lorenz(double *X, double *Y, double *Z, int n, int steps, double h)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double x = X[i], y = Y[i], z = Z[i];
        for (int s = 0; s < steps; ++s) {
            double k1x, k1y, k1z, k2x, k2y, k2z, k3x, k3y, k3z, k4x, k4y, k4z;
            lorenz(x, y, z, k1x, k1y, k1z);
            lorenz(x + 0.5 * h * k1x, y + 0.5 * h * k1y, z + 0.5 * h * k1z, k2x, k2y, k2z);
            lorenz(x + 0.5 * h * k2x, y + 0.5 * h * k2y, z + 0.5 * h * k2z, k3x, k3y, k3z);
            lorenz(x + h * k3x, y + h * k3y, z + h * k3z, k4x, k4y, k4z);
            x += h / 6.0 * (k1x + 2 * k2x + 2 * k3x + k4x);
            y += h / 6.0 * (k1y + 2 * k2y + 2 * k3y + k4y);
            z += h / 6.0 * (k1z + 2 * k2z + 2 * k3z + k4z);
        }
        X[i] = x; Y[i] = y; Z[i] = z;
    }
}

// Mandelbrot, four points a thread
__global__ void mandel4(uchar4 *img, int w4, int h, float x0, float y0, float dx, float dy, int maxIter)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w4 || py >= h) return;
    float ci = y0 + py * dy;
    float c0 = x0 + (4 * px) * dx, c1 = c0 + dx, c2 = c1 + dx, c3 = c2 + dx;
    float r0 = 0, i0 = 0, r1 = 0, i1 = 0, r2 = 0, i2 = 0, r3 = 0, i3 = 0;
    int n0 = 0, n1 = 0, n2 = 0, n3 = 0;
    for (int k = 0; k < maxIter; k++) {
        bool any = false;
        if (r0 * r0 + i0 * i0 < 4.f) { float t = r0 * r0 - i0 * i0 + c0; i0 = 2 * r0 * i0 + ci; r0 = t; n0++; any = true; }
        if (r1 * r1 + i1 * i1 < 4.f) { float t = r1 * r1 - i1 * i1 + c1; i1 = 2 * r1 * i1 + ci; r1 = t; n1++; any = true; }
        if (r2 * r2 + i2 * i2 < 4.f) { float t = r2 * r2 - i2 * i2 + c2; i2 = 2 * r2 * i2 + ci; r2 = t; n2++; any = true; }
        if (r3 * r3 + i3 * i3 < 4.f) { float t = r3 * r3 - i3 * i3 + c3; i3 = 2 * r3 * i3 + ci; r3 = t; n3++; any = true; }
        if (!any) break;
    }
    img[py * w4 + px] = make_uchar4(n0, n1, n2, n3);
}

// 8x8 DCT, 8 blocks per thread block, rows in registers, columns through shared memory
#define C_a 1.387039845322148f
#define C_b 1.306562964876377f
#define C_c 1.175875602419359f
#define C_d 0.785694958387102f
#define C_e 0.541196100146197f
#define C_f 0.275899379282943f
#define C_norm 0.3535533905932737f
__device__ void dct8(float *v, int stride)
{
    float X07P = v[0] + v[7 * stride], X16P = v[stride] + v[6 * stride], X25P = v[2 * stride] + v[5 * stride], X34P = v[3 * stride] + v[4 * stride];
    float X07M = v[0] - v[7 * stride], X61M = v[6 * stride] - v[stride], X25M = v[2 * stride] - v[5 * stride], X43M = v[4 * stride] - v[3 * stride];
    float X07P34PP = X07P + X34P, X07P34PM = X07P - X34P, X16P25PP = X16P + X25P, X16P25PM = X16P - X25P;
    v[0] = C_norm * (X07P34PP + X16P25PP);
    v[2 * stride] = C_norm * (C_b * X07P34PM + C_e * X16P25PM);
    v[4 * stride] = C_norm * (X07P34PP - X16P25PP);
    v[6 * stride] = C_norm * (C_e * X07P34PM - C_b * X16P25PM);
    v[stride] = C_norm * (C_a * X07M - C_c * X61M + C_d * X25M - C_f * X43M);
    v[3 * stride] = C_norm * (C_c * X07M + C_f * X61M - C_a * X25M + C_d * X43M);
    v[5 * stride] = C_norm * (C_d * X07M + C_a * X61M + C_f * X25M - C_c * X43M);
    v[7 * stride] = C_norm * (C_f * X07M + C_d * X61M + C_c * X25M + C_a * X43M);
}
__global__ void dct8x8(float *dst, const float *src, int stride)
{
    __shared__ float blk[8 * 65];   // a strip of 8 rows x 64 columns
    int bx = blockIdx.x * 64, by = blockIdx.y * 8, t = threadIdx.x;
    for (int r = 0; r < 8; r++) blk[r * 65 + t] = src[(by + r) * stride + bx + t];
    __syncthreads();
    dct8(blk + (t % 8) * 65 + (t / 8) * 8, 1);
    __syncthreads();
    dct8(blk + t, 65);
    __syncthreads();
    for (int r = 0; r < 8; r++) dst[(by + r) * stride + bx + t] = blk[r * 65 + t];
}

// ray / sphere: closest hit and a few bounces
struct Vec { float x, y, z; };
__device__ inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline Vec operator*(Vec a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ inline float dotv(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__constant__ float4 c_sph[12];
__global__ void trace(float *lum, int w, int h, int bounces)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    Vec o = {0.f, 0.f, -8.f};
    Vec d = {(x - w * 0.5f) / w, (y - h * 0.5f) / w, 1.f};
    d = d * rsqrtf(dotv(d, d));
    float att = 1.f, L = 0.f;
    for (int b = 0; b < bounces; ++b) {
        float tb = 1e20f;
        int hit = -1;
        for (int s = 0; s < 12; ++s) {
            Vec c = {c_sph[s].x, c_sph[s].y, c_sph[s].z};
            Vec oc = o - c;
            float B = dotv(oc, d), C = dotv(oc, oc) - c_sph[s].w * c_sph[s].w, disc = B * B - C;
            if (disc > 0.f) {
                float t = -B - sqrtf(disc);
                if (t > 1e-3f && t < tb) { tb = t; hit = s; }
            }
        }
        if (hit < 0) { L += att * (0.5f + 0.5f * d.y); break; }
        Vec c = {c_sph[hit].x, c_sph[hit].y, c_sph[hit].z};
        o = o + d * tb;
        Vec nrm = (o - c) * (1.f / c_sph[hit].w);
        L += att * 0.1f * fmaxf(0.f, nrm.y - 0.5f * nrm.z);
        d = d - nrm * (2.f * dotv(d, nrm));
        att *= 0.7f;
    }
    lum[y * w + x] = L;
}

int main()
{
    int cnt = 1 << 19;
    uint32_t *m = mk<uint32_t>(16 * cnt), *dg;
    cudaMalloc(&dg, sizeof(uint32_t) * 4 * cnt);
    sha_like<<<cnt / 128, 128>>>(m, dg, cnt);
    show("sha_like", dg, sizeof(uint32_t) * 4 * cnt);

    int n = 250000;
    double *st = mk<double>(3 * n);
    rk4_lorenz<<<(n + 191) / 192, 192>>>(st, st + n, st + 2 * n, n, 40, 0.005);
    show("rk4_lorenz", st, sizeof(double) * 3 * n);

    float *img, *src = mk<float>(4096 * 4096);
    cudaMalloc(&img, sizeof(float) * 4096 * 4096);
    mandel4<<<dim3((1000 + 31) / 32, (3000 + 7) / 8), dim3(32, 8)>>>((uchar4 *)img, 1000, 3000, -2.f, -1.2f, 0.00075f, 0.0008f, 120);
    show("mandel4", img, 4 * 1000 * 3000);
    dct8x8<<<dim3(4096 / 64, 4096 / 8), 64>>>(img, src, 4096);
    show("dct8x8", img, sizeof(float) * 4096 * 4096);
    float4 sp[12];
    for (int i = 0; i < 12; i++) { sp[i].x = (i % 4) * 1.5f - 2.2f; sp[i].y = (i / 4) * 1.4f - 1.4f; sp[i].z = (i * 5 % 7) * 0.6f; sp[i].w = 0.5f + 0.03f * i; }
    cudaMemcpyToSymbol(c_sph, sp, sizeof(sp));
    trace<<<dim3((2560 + 15) / 16, (1440 + 7) / 8), dim3(16, 8)>>>(img, 2560, 1440, 5);
    show("trace", img, sizeof(float) * 2560 * 1440);
    return 0;
}
