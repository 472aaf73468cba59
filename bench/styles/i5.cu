#include "shown.h"
#include <utility>

// ======================= 3D finite differences =======================

typedef float Real;
#define IDX(i, j, k) ((i) + nx * ((j) + (size_t)ny * (k)))

// order 8 in space: xy plane in shared memory, z column in registers
#define RAD 4
#define BX 32
#define BY 8
__constant__ Real cf[RAD + 1];

__global__ void fd8_wave(const Real *__restrict__ u, const Real *__restrict__ um, const Real *__restrict__ vel, Real *__restrict__ up, int nx, int ny, int nz)
{
    __shared__ Real s[BY + 2 * RAD][BX + 2 * RAD];
    const int i = blockIdx.x * BX + threadIdx.x + RAD;
    const int j = blockIdx.y * BY + threadIdx.y + RAD;
    const int lx = threadIdx.x + RAD, ly = threadIdx.y + RAD;
    Real behind[RAD], front[RAD], cur;
    const bool in = i < nx - RAD && j < ny - RAD;
    const int ic = min(i, nx - 1), jc = min(j, ny - 1);

    for (int r = 0; r < RAD; r++) behind[r] = u[IDX(ic, jc, RAD - 1 - r)];
    cur = u[IDX(ic, jc, RAD)];
    for (int r = 0; r < RAD; r++) front[r] = u[IDX(ic, jc, RAD + 1 + r)];

    for (int k = RAD; k < nz - RAD; k++) {
        __syncthreads();
        if (threadIdx.x < RAD) {
            s[ly][threadIdx.x] = u[IDX(ic - RAD, jc, k)];
            s[ly][lx + BX] = u[IDX(min(i + BX, nx - 1), jc, k)];
        }
        if (threadIdx.y < RAD) {
            s[threadIdx.y][lx] = u[IDX(ic, jc - RAD, k)];
            s[ly + BY][lx] = u[IDX(ic, min(j + BY, ny - 1), k)];
        }
        s[ly][lx] = cur;
        __syncthreads();
        Real lap = 3 * cf[0] * cur;
#pragma unroll
        for (int r = 1; r <= RAD; r++)
            lap += cf[r] * (front[r - 1] + behind[r - 1] + s[ly][lx - r] + s[ly][lx + r] + s[ly - r][lx] + s[ly + r][lx]);
        if (in) {
            size_t p = IDX(i, j, k);
            up[p] = 2 * cur - um[p] + vel[p] * lap;
        }
#pragma unroll
        for (int r = RAD - 1; r > 0; r--) behind[r] = behind[r - 1];
        behind[0] = cur;
        cur = front[0];
#pragma unroll
        for (int r = 0; r < RAD - 1; r++) front[r] = front[r + 1];
        if (k + RAD + 1 < nz) front[RAD - 1] = u[IDX(ic, jc, k + RAD + 1)];
    }
}

// 27 point box: whole 3D brick plus halo in shared
struct W27 { Real c, f, e, v; };
template <int X, int Y, int Z>
__global__ void box27(const Real *in, Real *out, int nx, int ny, int nz, W27 w)
{
    __shared__ Real b[Z + 2][Y + 2][X + 2];
    const int nt = X * Y * Z;
    int tid = (threadIdx.z * Y + threadIdx.y) * X + threadIdx.x;
    for (int e = tid; e < (X + 2) * (Y + 2) * (Z + 2); e += nt) {
        int x = e % (X + 2), y = e / (X + 2) % (Y + 2), z = e / ((X + 2) * (Y + 2));
        int gx = (int)blockIdx.x * X + x - 1, gy = (int)blockIdx.y * Y + y - 1, gz = (int)blockIdx.z * Z + z - 1;
        Real v = 0;
        if (gx >= 0 && gx < nx && gy >= 0 && gy < ny && gz >= 0 && gz < nz) v = in[IDX(gx, gy, gz)];
        b[z][y][x] = v;
    }
    __syncthreads();
    int gx = blockIdx.x * X + threadIdx.x, gy = blockIdx.y * Y + threadIdx.y, gz = blockIdx.z * Z + threadIdx.z;
    if (gx < nx && gy < ny && gz < nz) {
        Real acc = 0;
        for (int dz = 0; dz < 3; dz++)
            for (int dy = 0; dy < 3; dy++)
                for (int dx = 0; dx < 3; dx++) {
                    int m = (dz != 1) + (dy != 1) + (dx != 1);
                    Real c = m == 0 ? w.c : m == 1 ? w.f : m == 2 ? w.e : w.v;
                    acc += c * b[threadIdx.z + dz][threadIdx.y + dy][threadIdx.x + dx];
                }
        out[IDX(gx, gy, gz)] = acc;
    }
}

// jacobi with variable coefficients, three rotating planes
template <class T>
__global__ void varcoef_planes(const T *u, const T *kappa, const T *rhs, T *un, int nx, int ny, int nz)
{
    __shared__ T pl[3][10][34];
    int tx = threadIdx.x, ty = threadIdx.y;
    int gx = blockIdx.x * 32 + tx - 1, gy = blockIdx.y * 8 + ty - 1;
    bool valid = gx >= 0 && gx < nx && gy >= 0 && gy < ny;
    bool inner = tx > 0 && tx < 33 && ty > 0 && ty < 9 && gx > 0 && gx < nx - 1 && gy > 0 && gy < ny - 1;
    int lo = 0, mid = 1, hi = 2;
    pl[lo][ty][tx] = valid ? u[IDX(gx, gy, 0)] : T(0);
    pl[mid][ty][tx] = valid ? u[IDX(gx, gy, 1)] : T(0);
    for (int k = 1; k < nz - 1; ++k) {
        pl[hi][ty][tx] = valid ? u[IDX(gx, gy, k + 1)] : T(0);
        __syncthreads();
        if (inner) {
            size_t p = IDX(gx, gy, k);
            T kc = kappa[p] + T(1);
            T s = pl[lo][ty][tx] + pl[hi][ty][tx] + pl[mid][ty - 1][tx] + pl[mid][ty + 1][tx] + pl[mid][ty][tx - 1] + pl[mid][ty][tx + 1];
            un[p] = (kc * s - rhs[p]) / (T(6) * kc);
        }
        __syncthreads();
        int t = lo; lo = mid; mid = hi; hi = t;
    }
}

// lattice Boltzmann D2Q9, pull scheme, distributions in a private array
__device__ const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__device__ const int ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__global__ void lbm_d2q9(const Real *fin, Real *fout, int nx, int ny, Real omega)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= nx) return;
    const size_t n = (size_t)nx * ny;
    const Real w[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
    Real f[9], rho = 0, ux = 0, uy = 0;
    for (int q = 0; q < 9; q++) {
        int sx = (x - ex[q] + nx) % nx, sy = (y - ey[q] + ny) % ny;
        f[q] = fin[q * n + (size_t)sy * nx + sx] + 0.1f;
        rho += f[q];
        ux += f[q] * ex[q];
        uy += f[q] * ey[q];
    }
    ux /= rho;
    uy /= rho;
    Real u2 = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < 9; q++) {
        Real eu = 3.f * (ex[q] * ux + ey[q] * uy);
        Real feq = w[q] * rho * (1.f + eu + 0.5f * eu * eu - u2);
        fout[q * n + (size_t)y * nx + x] = f[q] + omega * (feq - f[q]);
    }
}

// temporal blocking: STEPS sweeps of a 1D three-point rule inside shared memory, shrinking trapezoid
template <int TILE, int STEPS>
__global__ void heat1d_temporal(const double *in, double *out, int n, double r)
{
    __shared__ double ping[TILE + 2 * STEPS], pong[TILE + 2 * STEPS];
    double *a = ping, *b = pong;
    const int W = TILE + 2 * STEPS, base = blockIdx.x * TILE - STEPS;
    for (int t = threadIdx.x; t < W; t += blockDim.x) a[t] = in[min(max(base + t, 0), n - 1)];
    __syncthreads();
    for (int s = 1; s <= STEPS; ++s) {
        for (int t = threadIdx.x + s; t < W - s; t += blockDim.x) {
            int g = base + t;
            b[t] = (g <= 0 || g >= n - 1) ? a[t] : a[t] + r * (a[t - 1] - 2 * a[t] + a[t + 1]);
        }
        __syncthreads();
        double *x = a; a = b; b = x;
    }
    for (int t = threadIdx.x; t < TILE; t += blockDim.x)
        if (base + STEPS + t < n) out[base + STEPS + t] = a[STEPS + t];
}

// red-black gauss seidel 2D in place
__global__ void rbgs(float *p, const float *f, int n, int m, int colour, float h2)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int j = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + ((i + colour) & 1);
    if (i < n - 1 && j < m - 1) {
        float *q = p + (size_t)i * m + j;
        *q = 0.25f * (q[-m] + q[m] + q[-1] + q[1] - h2 * f[(size_t)i * m + j]);
    }
}

// game of life, bit packed rows; a word and its neighbours
__global__ void life_bits(const unsigned *g, unsigned *o, int wpr, int rows)
{
    extern __shared__ unsigned row3[];          // 3 lines of wpr words
    int y = blockIdx.x;
    for (int r = 0; r < 3; r++) {
        const unsigned *src = g + (size_t)((y + r - 1 + rows) % rows) * wpr;
        for (int w = threadIdx.x; w < wpr; w += blockDim.x) row3[r * wpr + w] = src[w];
    }
    __syncthreads();
    for (int w = threadIdx.x; w < wpr; w += blockDim.x) {
        unsigned s0 = 0, s1 = 0, s2 = 0, self = 0;
        for (int r = 0; r < 3; r++) {
            unsigned c = row3[r * wpr + w], l = row3[r * wpr + (w + wpr - 1) % wpr], n = row3[r * wpr + (w + 1) % wpr];
            unsigned v[3] = {(c << 1) | (l >> 31), c, (c >> 1) | (n << 31)};
            for (int d = 0; d < 3; d++) {
                if (r == 1 && d == 1) { self = c; continue; }
                unsigned k0 = s0 & v[d];
                s0 ^= v[d];
                unsigned k1 = s1 & k0;
                s1 ^= k0;
                s2 |= k1;
            }
        }
        o[(size_t)y * wpr + w] = ~s2 & s1 & (s0 | self);
    }
}

int main()
{
    Real c[RAD + 1] = {-2.84722f, 1.6f, -0.2f, 0.025397f, -0.001786f};
    cudaMemcpyToSymbol(cf, c, sizeof c);
    const int nx = 300, ny = 260, nz = 200;
    const size_t n = (size_t)nx * ny * nz;
    Real *a = mk<Real>(n), *b = mk<Real>(n), *v = mk<Real>(n), *o = mk<Real>(n);
    fd8_wave<<<dim3((nx - 2 * RAD + BX - 1) / BX, (ny - 2 * RAD + BY - 1) / BY), dim3(BX, BY)>>>(a, b, v, o, nx, ny, nz);
    show("fd8_wave", o, n * 4);
    W27 w = {0.5f, 0.05f, 0.015f, 0.0025f};
    box27<16, 4, 4><<<dim3((nx + 15) / 16, (ny + 3) / 4, (nz + 3) / 4), dim3(16, 4, 4)>>>(a, o, nx, ny, nz, w);
    show("box27", o, n * 4);
    double *da = mk<double>(n), *db = mk<double>(n), *dc = mk<double>(n), *dd = mk<double>(n);
    varcoef_planes<double><<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(34, 10)>>>(da, db, dc, dd, nx, ny, nz);
    show("varcoef_planes", dd, n * 8);
    const int lx = 1500, ly = 900;
    Real *f0 = mk<Real>(9ull * lx * ly), *f1 = mk<Real>(9ull * lx * ly);
    for (int t = 0; t < 2; t++) { lbm_d2q9<<<dim3((lx + 127) / 128, ly), 128>>>(f0, f1, lx, ly, 1.2f); std::swap(f0, f1); }
    show("lbm_d2q9", f0, 36ull * lx * ly);
    heat1d_temporal<512, 16><<<((int)n + 511) / 512, 256>>>(da, db, (int)n, 0.2);
    show("heat1d_temporal", db, n * 8);
    for (int s = 0; s < 4; s++) rbgs<<<dim3(47, 325), dim3(32, 8)>>>(a, b, 2600, 3001, s & 1, 0.01f);
    show("rbgs", a, n * 4);
    life_bits<<<12000, 128, 3 * 300 * 4>>>((unsigned *)a, (unsigned *)o, 300, 12000);
    show("life_bits", o, n * 4);
    return 0;
}
