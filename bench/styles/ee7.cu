// Volumes: explicit stencils and friends.
#include <cmath>
#include "shown.h"

// ---------------------------------------------------------------- 7-point heat step, marching in z
#define HX 32
#define HY 8
__global__ void heat7(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz, float ce, float cw)
{
    __shared__ float pl[HY + 2][HX + 2];
    const int i = blockIdx.x * HX + threadIdx.x + 1;      // interior points only
    const int j = blockIdx.y * HY + threadIdx.y + 1;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const size_t slab = (size_t)nx * ny;
    const bool live = i < nx - 1 && j < ny - 1;
    const int ic = min(i, nx - 1), jc = min(j, ny - 1);
    const float *p = in + (size_t)jc * nx + ic;
    float below = p[0], here = p[slab];
    for (int k = 1; k < nz - 1; ++k) {
        const float above = p[(k + 1) * slab];
        __syncthreads();
        pl[ty][tx] = here;
        if (threadIdx.x == 0) pl[ty][0] = p[k * slab - 1];
        if (threadIdx.x == HX - 1 && ic < nx - 1) pl[ty][HX + 1] = p[k * slab + 1];
        if (threadIdx.y == 0) pl[0][tx] = p[k * slab - nx];
        if (threadIdx.y == HY - 1 && jc < ny - 1) pl[HY + 1][tx] = p[k * slab + nx];
        __syncthreads();
        if (live)
            out[k * slab + (size_t)j * nx + i] =
                ce * here + cw * (pl[ty][tx - 1] + pl[ty][tx + 1] + pl[ty - 1][tx] + pl[ty + 1][tx] + below + above);
        below = here;
        here = above;
    }
}

// ---------------------------------------------------------------- 25-point acoustic wave, radius 4, register queue
constexpr int R4 = 4;
__constant__ float c_fd[R4 + 1];
struct Volume3 { int nx, ny, nz; };
template <int BX, int BY>
__global__ __launch_bounds__(BX * BY) void wave25(float *__restrict__ next, const float *__restrict__ cur, const float *__restrict__ vel2dt2, Volume3 v)
{
    // arrays carry a frame of R4 points on all sides
    __shared__ float t[BY + 2 * R4][BX + 2 * R4];
    const int sy = v.nx + 2 * R4;
    const long sz = (long)sy * (v.ny + 2 * R4);
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    const int lx = threadIdx.x + R4, ly = threadIdx.y + R4;
    long at = (long)(y + R4) * sy + x + R4;
    float q[2 * R4 + 1];
#pragma unroll
    for (int m = 0; m < 2 * R4; ++m) q[m] = cur[at + m * sz];
    at += R4 * sz;
    for (int z = 0; z < v.nz; ++z) {
        q[2 * R4] = cur[at + R4 * sz];
        __syncthreads();
        t[ly][lx] = q[R4];
        if (threadIdx.x < R4) {
            t[ly][threadIdx.x] = cur[at - R4];
            t[ly][lx + BX] = cur[at + BX];
        }
        if (threadIdx.y < R4) {
            t[threadIdx.y][lx] = cur[at - (long)R4 * sy];
            t[ly + BY][lx] = cur[at + (long)BY * sy];
        }
        __syncthreads();
        float lap = 3.f * c_fd[0] * q[R4];
#pragma unroll
        for (int r = 1; r <= R4; ++r)
            lap += c_fd[r] * (t[ly][lx - r] + t[ly][lx + r] + t[ly - r][lx] + t[ly + r][lx] + q[R4 - r] + q[R4 + r]);
        next[at] = 2.f * q[R4] - next[at] + vel2dt2[at] * lap;
#pragma unroll
        for (int m = 0; m < 2 * R4; ++m) q[m] = q[m + 1];
        at += sz;
    }
}

// ---------------------------------------------------------------- 13-point biharmonic-like, double, clamped, 3-D tile
#define T13 8
__global__ void lap13(const double *u, double *r, int3 n, double3 w)
{
    __shared__ double s[T13 + 4][T13 + 4][T13 + 4];
    int3 b = make_int3(blockIdx.x * T13, blockIdx.y * T13, blockIdx.z * T13);
    int lin = (threadIdx.z * T13 + threadIdx.y) * T13 + threadIdx.x;
    const int E = T13 + 4;
    for (int e = lin; e < E * E * E; e += T13 * T13 * T13) {
        int ex = e % E, ey = e / E % E, ez = e / (E * E);
        int gx = min(max(b.x + ex - 2, 0), n.x - 1);
        int gy = min(max(b.y + ey - 2, 0), n.y - 1);
        int gz = min(max(b.z + ez - 2, 0), n.z - 1);
        s[ez][ey][ex] = u[((size_t)gz * n.y + gy) * n.x + gx];
    }
    __syncthreads();
    int x = threadIdx.x + 2, y = threadIdx.y + 2, z = threadIdx.z + 2;
    double c = s[z][y][x];
    double dx = -s[z][y][x - 2] + 16 * s[z][y][x - 1] - 30 * c + 16 * s[z][y][x + 1] - s[z][y][x + 2];
    double dy = -s[z][y - 2][x] + 16 * s[z][y - 1][x] - 30 * c + 16 * s[z][y + 1][x] - s[z][y + 2][x];
    double dz = -s[z - 2][y][x] + 16 * s[z - 1][y][x] - 30 * c + 16 * s[z + 1][y][x] - s[z + 2][y][x];
    b.x += threadIdx.x;
    b.y += threadIdx.y;
    b.z += threadIdx.z;
    if (b.x < n.x && b.y < n.y && b.z < n.z)
        r[((size_t)b.z * n.y + b.y) * n.x + b.x] = (w.x * dx + w.y * dy + w.z * dz) / 12.0;
}

// ---------------------------------------------------------------- FDTD: H from E, three fields in shared planes
#define IDX3(i, j, k) (((size_t)(k) * NY + (j)) * NX + (i))
__global__ void updateH(float *Hx, float *Hy, float *Hz, const float *Ex, const float *Ey, const float *Ez,
                        int NX, int NY, int NZ, float dt_mu)
{
    __shared__ float ex[9][17], ey[9][17], ez[9][17];      // [y][x], one extra row and column
    int i = blockIdx.x * 16 + threadIdx.x;
    int j = blockIdx.y * 8 + threadIdx.y;
    int i0 = i < NX ? i : NX - 1, j0 = j < NY ? j : NY - 1;
    int i1 = i + 1 < NX ? i + 1 : NX - 1, j1 = j + 1 < NY ? j + 1 : NY - 1;
    int tx = threadIdx.x, ty = threadIdx.y;
    int kz0 = blockIdx.z * 16;
    int kz1 = kz0 + 16 < NZ - 1 ? kz0 + 16 : NZ - 1;
    for (int k = kz0; k < kz1; k++) {
        ex[ty][tx] = Ex[IDX3(i0, j0, k)];
        ey[ty][tx] = Ey[IDX3(i0, j0, k)];
        ez[ty][tx] = Ez[IDX3(i0, j0, k)];
        if (tx == 15) { ey[ty][16] = Ey[IDX3(i1, j0, k)]; ez[ty][16] = Ez[IDX3(i1, j0, k)]; }
        if (ty == 7) { ex[8][tx] = Ex[IDX3(i0, j1, k)]; ez[8][tx] = Ez[IDX3(i0, j1, k)]; }
        __syncthreads();
        if (i < NX - 1 && j < NY - 1) {
            size_t c = IDX3(i, j, k);
            float exUp = Ex[IDX3(i, j, k + 1)], eyUp = Ey[IDX3(i, j, k + 1)];
            Hx[c] += dt_mu * ((eyUp - ey[ty][tx]) - (ez[ty + 1][tx] - ez[ty][tx]));
            Hy[c] += dt_mu * ((ez[ty][tx + 1] - ez[ty][tx]) - (exUp - ex[ty][tx]));
            Hz[c] += dt_mu * ((ex[ty + 1][tx] - ex[ty][tx]) - (ey[ty][tx + 1] - ey[ty][tx]));
        }
        __syncthreads();
    }
}

// ---------------------------------------------------------------- first-order upwind advection, velocity per cell, no staging
template <typename real>
struct Field {
    real *d; int nx, ny, nz;
    __device__ real &operator()(int x, int y, int z) const { return d[(size_t(z) * ny + y) * nx + x]; }
    __device__ real clamped(int x, int y, int z) const {
        x = x < 0 ? 0 : x >= nx ? nx - 1 : x;
        y = y < 0 ? 0 : y >= ny ? ny - 1 : y;
        z = z < 0 ? 0 : z >= nz ? nz - 1 : z;
        return (*this)(x, y, z);
    }
};
template <typename real>
__global__ void upwind(Field<real> q, Field<real> qn, const float4 *vel, real dtdx)
{
    int x = blockDim.x * blockIdx.x + threadIdx.x;
    int y = blockDim.y * blockIdx.y + threadIdx.y;
    int z = blockDim.z * blockIdx.z + threadIdx.z;
    if (x >= q.nx || y >= q.ny || z >= q.nz) return;
    float4 v = vel[(size_t(z) * q.ny + y) * q.nx + x];
    v.x -= 6.f; v.y -= 5.f; v.z -= 7.f;
    real c = q(x, y, z), f = 0;
    f += v.x > 0 ? v.x * (c - q.clamped(x - 1, y, z)) : v.x * (q.clamped(x + 1, y, z) - c);
    f += v.y > 0 ? v.y * (c - q.clamped(x, y - 1, z)) : v.y * (q.clamped(x, y + 1, z) - c);
    f += v.z > 0 ? v.z * (c - q.clamped(x, y, z - 1)) : v.z * (q.clamped(x, y, z + 1) - c);
    qn(x, y, z) = c - dtdx * f + v.w * real(1e-3);
}

// ---------------------------------------------------------------- gradient of a short CT volume, packed into char4
__global__ void ctGradient(const short *vol, char4 *grad, int w, int h, int d)
{
    __shared__ short b[6][6][34];
    int tid = threadIdx.x + 32 * (threadIdx.y + 4 * threadIdx.z);
    int ox = blockIdx.x * 32 - 1, oy = blockIdx.y * 4 - 1, oz = blockIdx.z * 4 - 1;
    short *flat = &b[0][0][0];
    while (tid < 6 * 6 * 34) {
        int x = ox + tid % 34, y = oy + (tid / 34) % 6, z = oz + tid / 204;
        short v = 0;
        if (x >= 0 && x < w && y >= 0 && y < h && z >= 0 && z < d) v = vol[((size_t)z * h + y) * w + x];
        flat[tid] = v;
        tid += 512;
    }
    __syncthreads();
    int x = ox + 1 + threadIdx.x, y = oy + 1 + threadIdx.y, z = oz + 1 + threadIdx.z;
    if (x >= w || y >= h || z >= d) return;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, tz = threadIdx.z + 1;
    float gx = b[tz][ty][tx + 1] - b[tz][ty][tx - 1];
    float gy = b[tz][ty + 1][tx] - b[tz][ty - 1][tx];
    float gz = b[tz + 1][ty][tx] - b[tz - 1][ty][tx];
    float len = sqrtf(gx * gx + gy * gy + gz * gz);
    float s = len > 0.f ? 100.f / len : 0.f;
    grad[((size_t)z * h + y) * w + x] = make_char4((char)(gx * s), (char)(gy * s), (char)(gz * s), (char)fminf(len * 4.f, 120.f));
}

// ---------------------------------------------------------------- anisotropic diffusion: conductivity between cells, two staged fields
__global__ void anisoDiffuse(const float *T, const float *kappa, float *Tn, int nx, int ny, int nz, float az, float dt)
{
    extern __shared__ float ad[];
    const int P = blockDim.x + 2;
    float *st = ad, *sk = ad + P * (blockDim.y + 2);
    const int gx = blockIdx.x * blockDim.x + threadIdx.x, gy = blockIdx.y * blockDim.y + threadIdx.y;
    const int me = (threadIdx.y + 1) * P + threadIdx.x + 1;
    const int nthreads = blockDim.x * blockDim.y, rank = threadIdx.y * blockDim.x + threadIdx.x;
    const size_t plane = (size_t)nx * ny;
    for (int z = blockIdx.z; z < nz; z += gridDim.z) {
        const float *Tz = T + z * plane, *kz = kappa + z * plane;
        for (int e = rank; e < P * ((int)blockDim.y + 2); e += nthreads) {
            int x = (int)(blockIdx.x * blockDim.x) + e % P - 1, y = (int)(blockIdx.y * blockDim.y) + e / P - 1;
            x = max(0, min(nx - 1, x));
            y = max(0, min(ny - 1, y));
            st[e] = Tz[(size_t)y * nx + x];
            sk[e] = kz[(size_t)y * nx + x];
        }
        __syncthreads();
        if (gx < nx && gy < ny) {
            size_t o = (size_t)gy * nx + gx;
            size_t up = z + 1 < nz ? plane : 0, dn = z > 0 ? plane : 0;
            float tc = st[me], kc = sk[me];
            float flux = 0.f;
            flux += (kc + sk[me - 1]) * (st[me - 1] - tc);
            flux += (kc + sk[me + 1]) * (st[me + 1] - tc);
            flux += (kc + sk[me - P]) * (st[me - P] - tc);
            flux += (kc + sk[me + P]) * (st[me + P] - tc);
            flux += az * ((kc + kz[o + up]) * (Tz[o + up] - tc) + (kc + *(kz + o - dn)) * (*(Tz + o - dn) - tc));
            Tn[z * plane + o] = tc + 0.5f * dt * flux;
        }
        __syncthreads();
    }
}

// ---------------------------------------------------------------- 27-point smoother, periodic, three planes in a ring
template <int BX, int BY>
struct PlaneRing {
    float p[3][BY + 2][BX + 2];
    __device__ void load(int slot, const float *src, int n, int x0, int y0) {
        for (int e = threadIdx.x; e < (BX + 2) * (BY + 2); e += BX * BY) {
            int ly = e / (BX + 2), lx = e - ly * (BX + 2);
            int x = (x0 + lx - 1 + n) % n, y = (y0 + ly - 1 + n) % n;
            p[slot][ly][lx] = src[(size_t)y * n + x];
        }
    }
};
template <int BX, int BY>
__global__ void smooth27(const float *src, float *dst, int n, float w0, float w1, float w2, float w3)
{
    __shared__ PlaneRing<BX, BY> ring;
    const int x0 = blockIdx.x * BX, y0 = blockIdx.y * BY;
    const int tx = threadIdx.x % BX, ty = threadIdx.x / BX;
    const size_t pl = (size_t)n * n;
    ring.load(0, src + (n - 1) * pl, n, x0, y0);
    ring.load(1, src, n, x0, y0);
    int oldest = 0;
    for (int z = 0; z < n; ++z) {
        int freshest = (oldest + 2) % 3;
        ring.load(freshest, src + ((z + 1) % n) * pl, n, x0, y0);
        __syncthreads();
        float cls[4] = {0.f, 0.f, 0.f, 0.f};
#pragma unroll
        for (int dz = 0; dz < 3; ++dz) {
            int s = (oldest + dz) % 3;
#pragma unroll
            for (int dy = 0; dy < 3; ++dy)
#pragma unroll
                for (int dx = 0; dx < 3; ++dx)
                    cls[(dz != 1) + (dy != 1) + (dx != 1)] += ring.p[s][ty + dy][tx + dx];
        }
        if (x0 + tx < n && y0 + ty < n)
            dst[z * pl + (size_t)(y0 + ty) * n + x0 + tx] = w0 * cls[0] + w1 * cls[1] + w2 * cls[2] + w3 * cls[3];
        __syncthreads();
        oldest = (oldest + 1) % 3;
    }
}

static int cdiv(int a, int b) { return (a + b - 1) / b; }

int main()
{
    {
        int nx = 401, ny = 299, nz = 200;
        size_t n = (size_t)nx * ny * nz;
        float *a = mk<float>(n), *b = mk<float>(n);
        heat7<<<dim3(cdiv(nx - 2, HX), cdiv(ny - 2, HY)), dim3(HX, HY)>>>(a, b, nx, ny, nz, 0.4f, 0.1f);
        show("heat7", b, n * 4);
        cudaFree(a); cudaFree(b);
    }
    {
        float c[R4 + 1] = {-2.847222f, 1.6f, -0.2f, 0.025397f, -0.001786f};
        cudaMemcpyToSymbol(c_fd, c, sizeof c);
        Volume3 v = {384, 320, 150};
        size_t n = (size_t)(v.nx + 8) * (v.ny + 8) * (v.nz + 8);
        float *a = mk<float>(n), *b = mk<float>(n), *c2 = mk<float>(n);
        wave25<32, 16><<<dim3(v.nx / 32, v.ny / 16), dim3(32, 16)>>>(a, b, c2, v);
        show("wave25", a, n * 4);
        cudaFree(a); cudaFree(b); cudaFree(c2);
    }
    {
        int3 d = {251, 203, 199};
        size_t n = (size_t)d.x * d.y * d.z;
        double *a = mk<double>(n), *b = mk<double>(n);
        lap13<<<dim3(cdiv(d.x, T13), cdiv(d.y, T13), cdiv(d.z, T13)), dim3(T13, T13, T13)>>>(a, b, d, make_double3(1.0, 0.5, 2.0));
        show("lap13", b, n * 8);
        cudaFree(a); cudaFree(b);
    }
    {
        int nx = 301, ny = 250, nz = 130;
        size_t n = (size_t)nx * ny * nz;
        float *f[6];
        for (int k = 0; k < 6; k++) f[k] = mk<float>(n);
        updateH<<<dim3(cdiv(nx, 16), cdiv(ny, 8), cdiv(nz, 16)), dim3(16, 8)>>>(f[0], f[1], f[2], f[3], f[4], f[5], nx, ny, nz, 0.3f);
        for (int k = 0; k < 3; k++) show("updateH", f[k], n * 4);
        for (int k = 0; k < 6; k++) cudaFree(f[k]);
    }
    {
        int nx = 300, ny = 221, nz = 180;
        size_t n = (size_t)nx * ny * nz;
        Field<float> q = {mk<float>(n), nx, ny, nz}, r = {mk<float>(n), nx, ny, nz};
        float4 *v = (float4 *)mk<float>(4 * n);
        upwind<float><<<dim3(cdiv(nx, 32), cdiv(ny, 4), cdiv(nz, 2)), dim3(32, 4, 2)>>>(q, r, v, 0.02f);
        show("upwind", r.d, n * 4);
        cudaFree(q.d); cudaFree(r.d); cudaFree(v);
    }
    {
        int w = 400, h = 390, d = 145;
        size_t n = (size_t)w * h * d;
        short *a = mk<short>(n);
        char4 *g = (char4 *)mk<int>(n);
        ctGradient<<<dim3(cdiv(w, 32), cdiv(h, 4), cdiv(d, 4)), dim3(32, 4, 4)>>>(a, g, w, h, d);
        show("ctGradient", g, n * 4);
        cudaFree(a); cudaFree(g);
    }
    {
        int nx = 333, ny = 277, nz = 150;
        size_t n = (size_t)nx * ny * nz;
        float *t = mk<float>(n), *k = mk<float>(n), *u = mk<float>(n);
        dim3 b(40, 6);
        anisoDiffuse<<<dim3(cdiv(nx, 40), cdiv(ny, 6), 10), b, 2 * 42 * 8 * sizeof(float)>>>(t, k, u, nx, ny, nz, 0.3f, 0.01f);
        show("anisoDiffuse", u, n * 4);
        cudaFree(t); cudaFree(k); cudaFree(u);
    }
    {
        int n = 255;
        size_t m = (size_t)n * n * n;
        float *a = mk<float>(m), *b = mk<float>(m);
        smooth27<16, 8><<<dim3(cdiv(n, 16), cdiv(n, 8)), 128>>>(a, b, n, 0.3f, 0.06f, 0.02f, 0.0125f);
        show("smooth27", b, m * 4);
        cudaFree(a); cudaFree(b);
    }
    return 0;
}
