// Finite differences and explicit / implicit time steps in one to three dimensions.
#include <cmath>
#include "shown.h"

typedef float real;

/* ------------------------------------------------------------------ 2-D heat, several steps a launch */
// Block of BX x BY, the outer ring shrinks by one cell a step.
template <int BX, int BY, int STEPS>
__global__ void heatTemporal(const real *__restrict__ u, real *__restrict__ un, int nx, int ny, real lambda)
{
    __shared__ real a[2][BY][BX];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int gx = blockIdx.x * (BX - 2 * STEPS) + tx - STEPS;
    const int gy = blockIdx.y * (BY - 2 * STEPS) + ty - STEPS;
    const bool inside = gx >= 0 && gx < nx && gy >= 0 && gy < ny;
    const bool rim = gx <= 0 || gx >= nx - 1 || gy <= 0 || gy >= ny - 1;   // Dirichlet cells keep their value
    a[0][ty][tx] = inside ? u[gy * nx + gx] : 0;
    int cur = 0;
#pragma unroll
    for (int s = 1; s <= STEPS; s++) {
        __syncthreads();
        real c = a[cur][ty][tx];
        if (tx >= s && tx < BX - s && ty >= s && ty < BY - s && !rim)
            c += lambda * (a[cur][ty][tx - 1] + a[cur][ty][tx + 1] + a[cur][ty - 1][tx] + a[cur][ty + 1][tx] - 4 * c);
        a[cur ^ 1][ty][tx] = c;
        cur ^= 1;
    }
    if (inside && tx >= STEPS && tx < BX - STEPS && ty >= STEPS && ty < BY - STEPS)
        un[gy * nx + gx] = a[cur][ty][tx];
}

/* ------------------------------------------------------------------ 3-D acoustic wave, 8th order, marching in z */
#define RAD 4
__constant__ float c_fd[RAD + 1];

__global__ void __launch_bounds__(32 * 16) wave3d_z(const float *p, const float *pold, const float *vel2, float *pnew,
                                                   int nx, int ny, int nz)
{
    __shared__ float plane[16 + 2 * RAD][32 + 2 * RAD];
    int ix = blockIdx.x * 32 + threadIdx.x;
    int iy = blockIdx.y * 16 + threadIdx.y;
    int lx = threadIdx.x + RAD, ly = threadIdx.y + RAD;
    bool ok = ix < nx && iy < ny;
    const size_t slab = (size_t)nx * ny;
    size_t at = ok ? (size_t)iy * nx + ix : 0;
    float q[2 * RAD + 1];                 // column around the current plane
    for (int k = 0; k < RAD; k++) q[k] = 0.f;
    for (int k = 0; k <= RAD; k++) q[RAD + k] = (ok && k < nz) ? p[at + k * slab] : 0.f;

    for (int z = 0; z < nz; z++) {
        __syncthreads();
        plane[ly][lx] = q[RAD];
        if (threadIdx.x < RAD) {
            plane[ly][threadIdx.x] = (iy < ny && ix >= RAD && ix - RAD < nx) ? p[z * slab + (size_t)iy * nx + ix - RAD] : 0.f;
            plane[ly][lx + 32] = (iy < ny && ix + 32 < nx) ? p[z * slab + (size_t)iy * nx + ix + 32] : 0.f;
        }
        if (threadIdx.y < RAD) {
            plane[threadIdx.y][lx] = (ix < nx && iy >= RAD && iy - RAD < ny) ? p[z * slab + (size_t)(iy - RAD) * nx + ix] : 0.f;
            plane[ly + 16][lx] = (ix < nx && iy + 16 < ny) ? p[z * slab + (size_t)(iy + 16) * nx + ix] : 0.f;
        }
        __syncthreads();
        if (ok) {
            float lap = 3.f * c_fd[0] * q[RAD];
#pragma unroll
            for (int k = 1; k <= RAD; k++)
                lap += c_fd[k] * (plane[ly][lx - k] + plane[ly][lx + k] + plane[ly - k][lx] + plane[ly + k][lx] + q[RAD - k] + q[RAD + k]);
            size_t g = at + z * slab;
            pnew[g] = 2.f * q[RAD] - pold[g] + vel2[g] * lap;
        }
#pragma unroll
        for (int k = 0; k < 2 * RAD; k++) q[k] = q[k + 1];
        q[2 * RAD] = (ok && z + RAD + 1 < nz) ? p[at + (z + RAD + 1) * slab] : 0.f;
    }
}

/* ------------------------------------------------------------------ 1-D Burgers, MUSCL with a limiter functor */
struct MinMod  { __device__ double operator()(double a, double b) const { return a * b <= 0 ? 0. : (fabs(a) < fabs(b) ? a : b); } };
struct VanLeer { __device__ double operator()(double a, double b) const { double ab = a * b; return ab <= 0 ? 0. : 2 * ab / (a + b); } };

template <class Limiter, int N>
__global__ void burgersMuscl(const double *u, double *out, size_t n, double dtdx, Limiter lim)
{
    __shared__ double cell[N + 4], flux[N + 1];
    const size_t base = (size_t)blockIdx.x * N;
    // periodic ghost cells
    for (int k = threadIdx.x; k < N + 4; k += N) cell[k] = u[(base + k + n - 2) % n];
    __syncthreads();
    for (int f = threadIdx.x; f <= N; f += N) {
        const double *c = cell + f;             // c[1] | c[2] is the face
        double ul = c[1] + 0.5 * lim(c[1] - c[0], c[2] - c[1]);
        double ur = c[2] - 0.5 * lim(c[2] - c[1], c[3] - c[2]);
        double s = 0.5 * (ul + ur);
        double fl = 0.5 * ul * ul, fr = 0.5 * ur * ur;
        flux[f] = ul > ur ? (s > 0 ? fl : fr) : (ul > 0 ? fl : (ur < 0 ? fr : 0.));
    }
    __syncthreads();
    size_t i = base + threadIdx.x;
    if (i < n) out[i] = cell[threadIdx.x + 2] - dtdx * (flux[threadIdx.x + 1] - flux[threadIdx.x]);
}

/* ------------------------------------------------------------------ implicit sweep: one Thomas solve a thread */
template <typename T, int MAXN>
__global__ void adiThomas(const T *__restrict__ rhs, T *__restrict__ x, int nlines, int n, T r)
{
    for (int line = blockIdx.x * blockDim.x + threadIdx.x; line < nlines; line += gridDim.x * blockDim.x) {
        T cp[MAXN];
        T dp[MAXN];
        T diag = 1 + 2 * r;
        cp[0] = -r / diag;
        dp[0] = rhs[line] / diag;
        for (int i = 1; i < n; ++i) {
            T m = T(1) / (diag + r * cp[i - 1]);
            cp[i] = -r * m;
            dp[i] = (rhs[(size_t)i * nlines + line] + r * dp[i - 1]) * m;
        }
        T v = dp[n - 1];
        x[(size_t)(n - 1) * nlines + line] = v;
        for (int i = n - 2; i >= 0; --i) {
            v = dp[i] - cp[i] * v;
            x[(size_t)i * nlines + line] = v;
        }
    }
}

/* ------------------------------------------------------------------ parallel cyclic reduction, one system a block */
__global__ void pcrBatch(const float *lo, const float *di, const float *up, const float *rhs, float *x, int n)
{
    extern __shared__ float s[];
    float *a = s, *b = a + n, *c = b + n, *d = c + n;
    int i = threadIdx.x;
    int g = blockIdx.x * n + i;
    bool live = i < n;
    if (live) {
        a[i] = i == 0 ? 0.f : -0.1f - 0.01f * lo[g];
        c[i] = i == n - 1 ? 0.f : -0.1f - 0.01f * up[g];
        b[i] = 2.f + 0.1f * di[g];
        d[i] = rhs[g];
    }
    __syncthreads();
    for (int st = 1; st < n; st <<= 1) {
        float na = 0.f, nb = 1.f, nc = 0.f, nd = 0.f;
        if (live) {
            nb = b[i];
            nd = d[i];
            if (i >= st) {
                float k = a[i] / b[i - st];
                na = -a[i - st] * k;
                nb -= c[i - st] * k;
                nd -= d[i - st] * k;
            }
            if (i + st < n) {
                float k = c[i] / b[i + st];
                nc = -c[i + st] * k;
                nb -= a[i + st] * k;
                nd -= d[i + st] * k;
            }
        }
        __syncthreads();
        if (live) { a[i] = na; b[i] = nb; c[i] = nc; d[i] = nd; }
        __syncthreads();
    }
    if (live) x[g] = d[i] / b[i];
}

/* ------------------------------------------------------------------ shallow water, Rusanov fluxes between cells of a tile */
struct SWState { float h, hu, hv; };

__device__ SWState rusanovX(const SWState &l, const SWState &r)
{
    const float g = 9.81f;
    float ul = l.hu / l.h, ur = r.hu / r.h;
    float s = fmaxf(fabsf(ul) + sqrtf(g * l.h), fabsf(ur) + sqrtf(g * r.h));
    SWState f;
    f.h  = 0.5f * (l.hu + r.hu) - 0.5f * s * (r.h - l.h);
    f.hu = 0.5f * (l.hu * ul + 0.5f * g * l.h * l.h + r.hu * ur + 0.5f * g * r.h * r.h) - 0.5f * s * (r.hu - l.hu);
    f.hv = 0.5f * (l.hv * ul + r.hv * ur) - 0.5f * s * (r.hv - l.hv);
    return f;
}
__device__ SWState turned(const SWState &a) { SWState b = {a.h, a.hv, a.hu}; return b; }

__global__ void shallowWater(const float *H, const float *HU, const float *HV, float *H1, float *HU1, float *HV1, unsigned nx, unsigned ny, float k)
{
    __shared__ SWState tile[10][34];
    const int bx = blockIdx.x * 32, by = blockIdx.y * 8;
    for (unsigned t = threadIdx.y * 32 + threadIdx.x; t < 340; t += 256) {
        int j = t / 34, i = t % 34;
        int x = bx + i - 1, y = by + j - 1;
        float sx = 1.f, sy = 1.f;                         // mirrored momenta at the walls
        if (x < 0) { x = 0; sx = -1.f; }
        if (y < 0) { y = 0; sy = -1.f; }
        if (x >= (int)nx) { x = nx - 1; sx = -1.f; }
        if (y >= (int)ny) { y = ny - 1; sy = -1.f; }
        size_t g = (size_t)y * nx + x;
        SWState &c = tile[j][i];
        c.h = 5.f + H[g];
        c.hu = sx * HU[g];
        c.hv = sy * HV[g];
    }
    __syncthreads();
    unsigned x = bx + threadIdx.x, y = by + threadIdx.y;
    if (x >= nx || y >= ny) return;
    const unsigned i = threadIdx.x + 1, j = threadIdx.y + 1;
    SWState c = tile[j][i];
    SWState fw = rusanovX(tile[j][i - 1], c), fe = rusanovX(c, tile[j][i + 1]);
    SWState fs = turned(rusanovX(turned(tile[j - 1][i]), turned(c)));
    SWState fn = turned(rusanovX(turned(c), turned(tile[j + 1][i])));
    size_t g = (size_t)y * nx + x;
    H1[g] = c.h - k * (fe.h - fw.h + fn.h - fs.h);
    HU1[g] = c.hu - k * (fe.hu - fw.hu + fn.hu - fs.hu);
    HV1[g] = c.hv - k * (fe.hv - fw.hv + fn.hv - fs.hv);
}

/* ------------------------------------------------------------------ red-black SOR inside each block, old halo (Schwarz step) */
#define SB 16
__global__ void sorSchwarz(const double *phi, const double *f, double *phiNew, int n, double omega, int sweeps)
{
    __shared__ double v[SB + 2][SB + 2 + 1];
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    int x = blockIdx.x * SB + lx, y = blockIdx.y * SB + ly;    // n includes the boundary ring
    bool act = x < n - 1 && y < n - 1;
    #define AT(X, Y) (((X) < n && (Y) < n) ? phi[(size_t)(Y) * n + (X)] : 0.0)
    v[ly][lx] = AT(x, y);
    if (lx == 1)  v[ly][0] = AT(x - 1, y);
    if (lx == SB) v[ly][SB + 1] = AT(x + 1, y);
    if (ly == 1)  v[0][lx] = AT(x, y - 1);
    if (ly == SB) v[SB + 1][lx] = AT(x, y + 1);
    #undef AT
    double b = act ? f[(size_t)y * n + x] : 0.0;
    int colour = (x + y) & 1;
    for (int s = 0; s < 2 * sweeps; s++) {
        __syncthreads();
        if (act && colour == (s & 1)) {
            double gs = 0.25 * (v[ly][lx - 1] + v[ly][lx + 1] + v[ly - 1][lx] + v[ly + 1][lx] - b);
            v[ly][lx] += omega * (gs - v[ly][lx]);
        }
    }
    if (act) phiNew[(size_t)y * n + x] = v[ly][lx];
}

/* ------------------------------------------------------------------ lattice Boltzmann D2Q9, bounce back by opposite index */
namespace lbm {
__constant__ int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ int opp[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant__ float wi[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

__global__ void streamCollide(const float *__restrict__ fin, float *__restrict__ fout, const unsigned char *__restrict__ wall,
                              int nx, int ny, float omega)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= nx || y >= ny) return;
    const size_t N = (size_t)nx * ny;
    float f[9];
    float rho = 0.f, ux = 0.f, uy = 0.f;
    for (int q = 0; q < 9; q++) {
        int sx = x - ex[q], sy = y - ey[q];
        sx += sx < 0 ? nx : (sx >= nx ? -nx : 0);
        sy += sy < 0 ? ny : (sy >= ny ? -ny : 0);
        f[q] = 0.1f + wi[q] * fin[q * N + (size_t)sy * nx + sx];
    }
    size_t me = (size_t)y * nx + x;
    if (wall[me] == 5) {
        for (int q = 0; q < 9; q++) fout[q * N + me] = f[opp[q]];
        return;
    }
    for (int q = 0; q < 9; q++) {
        rho += f[q];
        ux += f[q] * ex[q];
        uy += f[q] * ey[q];
    }
    ux /= rho;
    uy /= rho;
    float uu = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < 9; q++) {
        float eu = 3.f * (ex[q] * ux + ey[q] * uy);
        float eq = wi[q] * rho * (1.f + eu + 0.5f * eu * eu - uu);
        fout[q * N + me] = f[q] + omega * (eq - f[q]);
    }
}
} // namespace lbm

int main()
{
    {
        int nx = 3001, ny = 2777;
        float *a = mk<float>((size_t)nx * ny), *b = mk<float>((size_t)nx * ny);
        const int ix = 32 - 6, iy = 16 - 6;
        heatTemporal<32, 16, 3><<<dim3((nx + ix - 1) / ix, (ny + iy - 1) / iy), dim3(32, 16)>>>(a, b, nx, ny, 0.2f);
        show("heatTemporal", b, (size_t)nx * ny * 4);
        cudaFree(a); cudaFree(b);
    }
    {
        float c[RAD + 1] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
        cudaMemcpyToSymbol(c_fd, c, sizeof c);
        int nx = 250, ny = 199, nz = 170; size_t n = (size_t)nx * ny * nz;
        float *p = mk<float>(n), *o = mk<float>(n), *v = mk<float>(n), *w = mk<float>(n);
        wave3d_z<<<dim3((nx + 31) / 32, (ny + 15) / 16), dim3(32, 16)>>>(p, o, v, w, nx, ny, nz);
        show("wave3d_z", w, n * 4);
        cudaFree(p); cudaFree(o); cudaFree(v); cudaFree(w);
    }
    {
        size_t n = 7000003;
        double *u = mk<double>(n), *o = mk<double>(n);
        burgersMuscl<VanLeer, 224><<<(unsigned)((n + 223) / 224), 224>>>(u, o, n, 0.03, VanLeer());
        show("burgersMuscl", o, n * 8);
        burgersMuscl<MinMod, 128><<<(unsigned)((n + 127) / 128), 128>>>(u, o, n, 0.03, MinMod());
        show("burgersMuscl", o, n * 8);
        cudaFree(u); cudaFree(o);
    }
    {
        int nlines = 100001, n = 90;
        float *a = mk<float>((size_t)nlines * n), *b = mk<float>((size_t)nlines * n);
        adiThomas<float, 96><<<500, 128>>>(a, b, nlines, n, 0.4f);
        show("adiThomas", b, (size_t)nlines * n * 4);
        cudaFree(a); cudaFree(b);
    }
    {
        int n = 300, sys = 15001; size_t t = (size_t)n * sys;
        float *a = mk<float>(t), *b = mk<float>(t), *c = mk<float>(t), *d = mk<float>(t), *x = mk<float>(t);
        pcrBatch<<<sys, 320, 4 * n * sizeof(float)>>>(a, b, c, d, x, n);
        show("pcrBatch", x, t * 4);
        cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d); cudaFree(x);
    }
    {
        unsigned nx = 2050, ny = 2501; size_t n = (size_t)nx * ny;
        float *a = mk<float>(n), *b = mk<float>(n), *c = mk<float>(n), *d = mk<float>(n), *e = mk<float>(n), *f = mk<float>(n);
        shallowWater<<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(a, b, c, d, e, f, nx, ny, 0.01f);
        show("shallowWater", d, n * 4);
        show("shallowWater", e, n * 4);
        show("shallowWater", f, n * 4);
        cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d); cudaFree(e); cudaFree(f);
    }
    {
        int n = 2303; size_t t = (size_t)n * n;
        double *a = mk<double>(t), *b = mk<double>(t), *c = mk<double>(t);
        int nb = (n - 2 + SB - 1) / SB;
        sorSchwarz<<<dim3(nb, nb), dim3(SB, SB)>>>(a, b, c, n, 1.4, 5);
        show("sorSchwarz", c, t * 8);
        cudaFree(a); cudaFree(b); cudaFree(c);
    }
    {
        int nx = 1001, ny = 777; size_t n = (size_t)nx * ny;
        float *a = mk<float>(n * 9), *b = mk<float>(n * 9);
        unsigned char *w = mk<unsigned char>(n);
        lbm::streamCollide<<<dim3((nx + 63) / 64, (ny + 3) / 4), dim3(64, 4)>>>(a, b, w, nx, ny, 1.2f);
        show("streamCollide", b, n * 9 * 4);
    }
    return 0;
}
