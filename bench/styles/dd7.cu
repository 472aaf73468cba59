// Particles, gravitation, Monte Carlo, random generators, ordinary differential equations.
#include <cmath>
#include <cstdint>
#include "shown.h"

// ===== 1. direct gravitation, bodies in tiles of float4, tile length is the block ========================
static __device__ __forceinline__ float3 pull(float3 acc, const float4 me, const float4 other, float eps2)
{
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float r2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, eps2)));
    float inv = rsqrtf(r2);
    float s = other.w * inv * inv * inv;
    acc.x = fmaf(dx, s, acc.x);
    acc.y = fmaf(dy, s, acc.y);
    acc.z = fmaf(dz, s, acc.z);
    return acc;
}

__global__ void nbodyForces(const float4 *__restrict__ pos, float4 *__restrict__ acc, int n, float eps2)
{
    extern __shared__ float4 others[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 me = pos[min(i, n - 1)];
    float3 a = {0.f, 0.f, 0.f};
    for (int t = 0; t < n; t += blockDim.x) {
        const int j = t + threadIdx.x;
        others[threadIdx.x] = j < n ? pos[j] : make_float4(0.f, 0.f, 0.f, 0.f);     // massless filler
        __syncthreads();
#pragma unroll 8
        for (unsigned k = 0; k < blockDim.x; k++) a = pull(a, me, others[k], eps2);
        __syncthreads();
    }
    if (i < n) acc[i] = make_float4(a.x, a.y, a.z, 0.f);
}

// ===== 2. Lennard-Jones in cells: a block is a cell, neighbours staged one cell at a time ==================
#define CELL_CAP 32
__global__ void ljCells(const float *px, const float *py, const float *pz, const int *count, float *fx, float *fy, float *fz, float *ener,
                        int nc, float box, float rc2)
{
    __shared__ float sx[CELL_CAP], sy[CELL_CAP], sz[CELL_CAP];
    __shared__ int sn;
    const int cx = blockIdx.x, cy = blockIdx.y, cz = blockIdx.z;
    const int home = (cz * nc + cy) * nc + cx;
    const int nh = min(count[home] + 14, CELL_CAP);
    const int me = home * CELL_CAP + threadIdx.x;
    const bool act = (int)threadIdx.x < nh;
    const float x = px[me], y = py[me], z = pz[me];
    float ax = 0, ay = 0, az = 0, e = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const int ox = (cx + dx + nc) % nc, oy = (cy + dy + nc) % nc, oz = (cz + dz + nc) % nc;
                const int other = (oz * nc + oy) * nc + ox;
                __syncthreads();
                if (threadIdx.x == 0) sn = min(count[other] + 14, CELL_CAP);
                sx[threadIdx.x] = px[other * CELL_CAP + threadIdx.x] + (cx + dx < 0 ? -box : cx + dx >= nc ? box : 0.f);
                sy[threadIdx.x] = py[other * CELL_CAP + threadIdx.x] + (cy + dy < 0 ? -box : cy + dy >= nc ? box : 0.f);
                sz[threadIdx.x] = pz[other * CELL_CAP + threadIdx.x] + (cz + dz < 0 ? -box : cz + dz >= nc ? box : 0.f);
                __syncthreads();
                if (!act) continue;
                for (int j = 0; j < sn; j++) {
                    float rx = x - sx[j], ry = y - sy[j], rz = z - sz[j];
                    float r2 = rx * rx + ry * ry + rz * rz;
                    if (r2 >= rc2 || r2 < 1e-8f) continue;
                    r2 = fmaxf(r2, 0.25f);
                    float i2 = 1.f / r2, i6 = i2 * i2 * i2;
                    float f = 24.f * i6 * (2.f * i6 - 1.f) * i2;
                    ax += f * rx; ay += f * ry; az += f * rz;
                    e += 2.f * i6 * (i6 - 1.f);
                }
            }
    if (act) { fx[me] = ax; fy[me] = ay; fz[me] = az; ener[me] = e; }
}

// ===== 3. additive lagged Fibonacci generator: state ring in a private array, pi by rejection ================
template <int LAG, int SHORTLAG>
struct LaggedFib {
    uint32_t s[LAG];
    int p;
    __device__ explicit LaggedFib(uint32_t seed) : p(0) {
        for (int i = 0; i < LAG; i++) {
            seed = seed * 1664525u + 1013904223u;
            s[i] = seed ^ (seed >> 15);
        }
        s[0] |= 1u;
    }
    __device__ uint32_t operator()() {
        int q = p - SHORTLAG;
        if (q < 0) q += LAG;
        uint32_t v = s[p] + s[q];
        s[p] = v;
        if (++p == LAG) p = 0;
        return v;
    }
};

__global__ void lfgPi(unsigned *inside, uint32_t *tail, unsigned nthreads, int trials)
{
    const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= nthreads) return;
    LaggedFib<17, 5> rng(id * 747796405u + 2891336453u);
    for (int i = 0; i < 34; i++) rng();
    unsigned c = 0;
    for (int i = 0; i < trials; i++) {
        float x = (rng() >> 8) * (1.f / 16777216.f), y = (rng() >> 8) * (1.f / 16777216.f);
        c += x * x + y * y < 1.f;
    }
    inside[id] = c;
    tail[id] = rng();
}

// ===== 4. embedded Runge-Kutta (Dormand-Prince) of a driven oscillator pair, stages by table =================
namespace ode {
constexpr int S = 7, DIM = 4;
__constant__ double A[S][S] = {
    {0, 0, 0, 0, 0, 0, 0},
    {1. / 5, 0, 0, 0, 0, 0, 0},
    {3. / 40, 9. / 40, 0, 0, 0, 0, 0},
    {44. / 45, -56. / 15, 32. / 9, 0, 0, 0, 0},
    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729, 0, 0, 0},
    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656, 0, 0},
    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84, 0}};
__constant__ double E[S] = {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
__constant__ double C[S] = {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};

template <class F>
__device__ int integrate(F f, double *y, double t, double tend, double tol)
{
    double k[S][DIM], w[DIM];
    double h = 0.05;
    int steps = 0;
    while (t < tend && steps < 400) {
        if (t + h > tend) h = tend - t;
        for (int s = 0; s < S; s++) {
            for (int d = 0; d < DIM; d++) {
                double v = 0;
                for (int j = 0; j < s; j++) v += A[s][j] * k[j][d];
                w[d] = y[d] + h * v;
            }
            f(t + C[s] * h, w, k[s]);
        }
        double err = 0;
        for (int d = 0; d < DIM; d++) {
            double v = 0;
            for (int s = 0; s < S; s++) v += E[s] * k[s][d];
            err = fmax(err, fabs(h * v));
        }
        if (err <= tol) {
            t += h;
            for (int d = 0; d < DIM; d++) y[d] = w[d];          // first same as last
        }
        h *= err > 32 * tol ? 0.5 : (err < tol / 64 ? 2.0 : 0.9);
        ++steps;
    }
    return steps;
}

__global__ void dormandPrince(const double *freq, double *out, int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double om = 1.0 + 0.1 * freq[i];
    double y[DIM] = {1.0, 0.0, 0.001 * (i % 1000), 0.1};
    auto rhs = [om](double t, const double *q, double *dq) {
        dq[0] = q[1];
        dq[1] = -om * q[0] + 0.2 * (q[2] - q[0]) + 0.1 * t;
        dq[2] = q[3];
        dq[3] = -q[2] * q[2] * q[2] + 0.2 * (q[0] - q[2]) - 0.05 * q[3];
    };
    steps[i] = integrate(rhs, y, 0.0, 3.0, 1e-7);
    for (int d = 0; d < DIM; d++) out[(size_t)d * n + i] = y[d];
}
} // namespace ode

// ===== 5. Ising spins of a tile, checkerboard Metropolis in shared memory, Philox numbers =======================
__device__ uint4 philox4x32(uint4 c, uint2 k)
{
#pragma unroll
    for (int r = 0; r < 10; r++) {
        uint32_t h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
        uint32_t h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
        k.x += 0x9E3779B9u;
        k.y += 0xBB67AE85u;
    }
    return c;
}

__global__ void isingTiles(const unsigned char *init, signed char *spins, int L, int sweeps, float beta, unsigned seed)
{
    __shared__ signed char s[18][66];                       // tile 64 x 16 with a frozen rim
    __shared__ unsigned thresh[9];
    const int t = threadIdx.y * 32 + threadIdx.x;            // 32 x 16 threads, two sites each
    const int x0 = blockIdx.x * 64, y0 = blockIdx.y * 16;
    for (int i = t; i < 18 * 66; i += 512) {
        int y = (y0 + i / 66 - 1 + L) % L, x = (x0 + i % 66 - 1 + L) % L;
        (&s[0][0])[i] = (init[(size_t)y * L + x] * 5 + x + 3 * y) % 7 < 3 ? -1 : 1;
    }
    if (t < 9) {
        int de = 2 * (t - 4);
        thresh[t] = de <= 0 ? 0xffffffffu : (unsigned)(4294967040.f * expf(-beta * de));
    }
    __syncthreads();
    const int y = threadIdx.y + 1;
    const bool ok0 = y0 + (int)threadIdx.y < L;
    for (int sw = 0; sw < sweeps; sw++) {
        uint4 r = philox4x32(make_uint4(blockIdx.x, blockIdx.y, t, sw), make_uint2(seed, 0x5eedu));
        for (int colour = 0; colour < 2; colour++) {
            int x = 2 * threadIdx.x + ((threadIdx.y + colour) & 1) + 1;
            if (ok0 && x0 + x - 1 < L) {
                int sum = s[y - 1][x] + s[y + 1][x] + s[y][x - 1] + s[y][x + 1];
                int de = s[y][x] * sum;                      // -4 .. 4
                if ((colour ? r.y : r.x) <= thresh[de + 4]) s[y][x] = -s[y][x];
            }
            __syncthreads();
        }
    }
    for (int i = t; i < 64 * 16; i += 512) {
        int yy = i / 64, xx = i % 64;
        if (y0 + yy < L && x0 + xx < L) spins[(size_t)(y0 + yy) * L + x0 + xx] = s[yy + 1][xx + 1];
    }
}

// ===== 6. particle in cell: charge deposited as fixed point into a shared grid of the block's slab ==============
__global__ void picDeposit(const float2 *part, const int *slabStart, unsigned long long *rho, int cellsPerSlab, float cellsPerUnit)
{
    extern __shared__ unsigned long long grid[];              // cellsPerSlab + 1
    for (int c = threadIdx.x; c <= cellsPerSlab; c += blockDim.x) grid[c] = 0;
    __syncthreads();
    for (int p = slabStart[blockIdx.x] + threadIdx.x; p < slabStart[blockIdx.x + 1]; p += blockDim.x) {
        float2 q = part[p];                                   // position in the slab, weight
        float x = fminf(q.x * cellsPerUnit, cellsPerSlab - 1e-3f);
        int c = (int)x;
        float f = x - c;
        unsigned long long w = (unsigned long long)(q.y * 1048576.f), hi = (unsigned long long)(q.y * f * 1048576.f);
        atomicAdd(&grid[c], w - hi);
        atomicAdd(&grid[c + 1], hi);
    }
    __syncthreads();
    for (int c = threadIdx.x; c <= cellsPerSlab; c += blockDim.x) rho[(size_t)blockIdx.x * (cellsPerSlab + 1) + c] = grid[c];
}

// ===== 7. photon random walk in a layered slab; absorption tallied in shared integer bins ========================
struct Layer { float muA, muS, g, zEnd; };

__global__ void photonWalk(const Layer *layers, int nl, unsigned *tally, unsigned *escaped, int photons, float binWidth)
{
    __shared__ Layer lay[8];
    __shared__ unsigned bin[100];
    __shared__ unsigned out;
    for (int i = threadIdx.x; i < 100; i += blockDim.x) bin[i] = 0;
    if ((int)threadIdx.x < nl) lay[threadIdx.x] = layers[threadIdx.x];
    if (threadIdx.x == 0) out = 0;
    __syncthreads();
    uint64_t st = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) * 0x9E3779B97F4A7C15ull + 0x1234567ull;
    auto rnd = [&st]() {
        st = st * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t x = (uint32_t)(((st >> 18) ^ st) >> 27), rot = (uint32_t)(st >> 59);
        x = (x >> rot) | (x << ((32 - rot) & 31));
        return (x >> 8) * (1.f / 16777216.f) + 2e-8f;
    };
    for (int p = 0; p < photons; p++) {
        float z = 0.f, uz = 1.f;
        int l = 0;
        for (int step = 0; step < 200; step++) {
            const Layer &m = lay[l];
            float mt = m.muA + m.muS;
            z += uz * (-__logf(rnd()) / mt);
            if (z < 0.f || z >= lay[nl - 1].zEnd) { atomicAdd(&out, z < 0.f ? 1u : 65536u); break; }
            while (l > 0 && z < lay[l - 1].zEnd) --l;
            while (z >= lay[l].zEnd) ++l;
            if (rnd() * mt < m.muA) {
                atomicAdd(&bin[min((int)(z / binWidth), 99)], 1u);
                break;
            }
            float g = lay[l].g, q = (1.f - g * g) / (1.f - g + 2.f * g * rnd());
            float ct = (1.f + g * g - q * q) / (2.f * g);
            float stn = sqrtf(fmaxf(0.f, 1.f - ct * ct)) * sqrtf(fmaxf(0.f, 1.f - uz * uz));
            uz = uz * ct + stn * __cosf(6.2831853f * rnd());
            uz = fminf(1.f, fmaxf(-1.f, uz));
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 100; i += blockDim.x)
        if (bin[i]) atomicAdd(&tally[i], bin[i]);
    if (threadIdx.x == 0) escaped[blockIdx.x] = out;
}

// ===== 8. few-body systems, symplectic steps, positions and pair order in private arrays ===========================
template <int MAXB>
__global__ void planetSystems(const float *__restrict__ mass, const float *__restrict__ state, float *__restrict__ outPos, float *__restrict__ energy,
                              unsigned systems, unsigned nb, int steps, float dt)
{
    unsigned sys = threadIdx.x + blockDim.x * blockIdx.x;
    if (sys >= systems) return;
    float3 r[MAXB], v[MAXB];
    float m[MAXB];
    for (unsigned b = 0; b < nb; ++b) {
        const float *s = state + (size_t)b * 6 * systems + sys;
        float spread = 3.f * (b + 1);
        r[b] = make_float3(spread + 0.1f * s[0], 0.1f * s[systems], 0.05f * s[2 * (size_t)systems]);
        v[b] = make_float3(0.01f * s[3 * (size_t)systems], 0.5f / (b + 1), 0.01f * s[5 * (size_t)systems]);
        m[b] = 0.1f + mass[(size_t)b * systems + sys] * (b == 0 ? 1.f : 0.01f);
    }
    float e = 0.f;
    for (int t = 0; t <= steps; t++) {
        e = 0.f;
        for (unsigned i = 0; i < nb; i++)
            for (unsigned j = 0; j < i; j++) {
                float3 d = make_float3(r[j].x - r[i].x, r[j].y - r[i].y, r[j].z - r[i].z);
                float inv = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + 1e-2f);
                float f = dt * inv * inv * inv;
                v[i].x += f * m[j] * d.x; v[i].y += f * m[j] * d.y; v[i].z += f * m[j] * d.z;
                v[j].x -= f * m[i] * d.x; v[j].y -= f * m[i] * d.y; v[j].z -= f * m[i] * d.z;
                e -= m[i] * m[j] * inv;
            }
        if (t == steps) break;
        for (unsigned i = 0; i < nb; i++) {
            r[i].x += dt * v[i].x;
            r[i].y += dt * v[i].y;
            r[i].z += dt * v[i].z;
        }
    }
    for (unsigned b = 0; b < nb; b++) {
        e += 0.5f * m[b] * (v[b].x * v[b].x + v[b].y * v[b].y + v[b].z * v[b].z);
        outPos[((size_t)b * 3 + 0) * systems + sys] = r[b].x;
        outPos[((size_t)b * 3 + 1) * systems + sys] = r[b].y;
        outPos[((size_t)b * 3 + 2) * systems + sys] = r[b].z;
    }
    energy[sys] = e;
}

int main()
{
    {
        int n = 20011;
        float4 *p = (float4 *)mk<float>((size_t)n * 4), *a = (float4 *)mk<float>((size_t)n * 4);
        nbodyForces<<<(n + 159) / 160, 160, 160 * sizeof(float4)>>>(p, a, n, 0.01f);
        show("nbodyForces", a, (size_t)n * 16);
        cudaFree(p); cudaFree(a);
    }
    {
        int nc = 27; size_t cells = (size_t)nc * nc * nc, n = cells * CELL_CAP;
        float *hp[3], *dp[3], *f[4];
        for (int d = 0; d < 3; d++) {
            hp[d] = (float *)malloc(n * 4);
            for (size_t i = 0; i < n; i++) {
                size_t c = i / CELL_CAP;
                size_t cd = d == 0 ? c % nc : d == 1 ? c / nc % nc : c / nc / nc;
                hp[d][i] = 2.5f * ((float)cd + ((i * 2654435761u + d * 40503u * i) >> 7 & 1023) / 1024.f);
            }
            cudaMalloc(&dp[d], n * 4);
            cudaMemcpy(dp[d], hp[d], n * 4, cudaMemcpyHostToDevice);
            free(hp[d]);
        }
        for (int d = 0; d < 4; d++) f[d] = mk<float>(n);
        int *cnt = mk<int>(cells);
        ljCells<<<dim3(nc, nc, nc), CELL_CAP>>>(dp[0], dp[1], dp[2], cnt, f[0], f[1], f[2], f[3], nc, 2.5f * nc, 6.25f);
        for (int d = 0; d < 4; d++) show("ljCells", f[d], n * 4);
        for (int d = 0; d < 3; d++) cudaFree(dp[d]);
        for (int d = 0; d < 4; d++) cudaFree(f[d]);
    }
    {
        unsigned n = 100003;
        unsigned *in = mk<unsigned>(n); uint32_t *tl = mk<uint32_t>(n);
        lfgPi<<<(n + 127) / 128, 128>>>(in, tl, n, 80);
        show("lfgPi", in, n * 4);
        show("lfgPi", tl, n * 4);
    }
    {
        int n = 60001;
        double *f = mk<double>(n), *o = mk<double>((size_t)n * 4); int *s = mk<int>(n);
        ode::dormandPrince<<<(n + 127) / 128, 128>>>(f, o, s, n);
        show("dormandPrince", o, (size_t)n * 32);
        show("dormandPrince", s, (size_t)n * 4);
    }
    {
        int L = 2050;
        unsigned char *in = mk<unsigned char>((size_t)L * L); signed char *s = mk<signed char>((size_t)L * L);
        isingTiles<<<dim3((L + 63) / 64, (L + 15) / 16), dim3(32, 16)>>>(in, s, L, 6, 0.42f, 99u);
        show("isingTiles", s, (size_t)L * L);
        cudaFree(in); cudaFree(s);
    }
    {
        int slabs = 1500, cps = 301; int *h = (int *)malloc((slabs + 1) * 4), *d;
        h[0] = 0;
        for (int i = 0; i < slabs; i++) h[i + 1] = h[i] + 2000 + (i * 977) % 1999;
        cudaMalloc(&d, (slabs + 1) * 4);
        cudaMemcpy(d, h, (slabs + 1) * 4, cudaMemcpyHostToDevice);
        float2 *p = (float2 *)mk<float>((size_t)h[slabs] * 2);
        unsigned long long *r = mk<unsigned long long>((size_t)slabs * (cps + 1));
        picDeposit<<<slabs, 256, (cps + 1) * 8>>>(p, d, r, cps, 23.7f);
        show("picDeposit", r, (size_t)slabs * (cps + 1) * 8);
        cudaFree(p); cudaFree(r);
    }
    {
        Layer l[4] = {{0.4f, 9.f, 0.8f, 0.2f}, {0.9f, 4.f, 0.7f, 0.5f}, {0.3f, 20.f, 0.9f, 1.1f}, {2.f, 5.f, 0.5f, 2.0f}}, *d;
        cudaMalloc(&d, sizeof l);
        cudaMemcpy(d, l, sizeof l, cudaMemcpyHostToDevice);
        int blocks = 700; unsigned *t = mk<unsigned>(100), *e = mk<unsigned>(blocks);
        photonWalk<<<blocks, 192>>>(d, 4, t, e, 4, 0.02f);
        show("photonWalk", t, 400);
        show("photonWalk", e, blocks * 4);
    }
    {
        unsigned sys = 30011, nb = 6; const size_t n = (size_t)sys * nb;
        float *m = mk<float>(n), *s = mk<float>(n * 6), *o = mk<float>(n * 3), *e = mk<float>(sys);
        planetSystems<9><<<(sys + 63) / 64, 64>>>(m, s, o, e, sys, nb, 30, 0.01f);
        show("planetSystems", o, n * 12);
        show("planetSystems", e, (size_t)sys * 4);
    }
    return 0;
}
