// mini-app: structured grid kernels
#include "shown.h"
#include <cmath>

using Real = float;
#define IDX3(i, j, k) ((size_t)(k) * ny * nx + (size_t)(j) * nx + (i))
static inline int divUp(int a, int b) { return (a + b - 1) / b; }

// 7 point heat equation, march through k
constexpr int BX = 32, BY = 8;
__global__ void heat3d_march(const Real *__restrict__ u, Real *__restrict__ un, int nx, int ny, int nz, Real alpha)
{
    __shared__ Real plane[BY + 2][BX + 2];
    const int i = blockIdx.x * BX + threadIdx.x;
    const int j = blockIdx.y * BY + threadIdx.y;
    const int ti = threadIdx.x + 1, tj = threadIdx.y + 1;
    const bool inside = i < nx && j < ny;
    const bool interior = i > 0 && j > 0 && i < nx - 1 && j < ny - 1;
    Real below = 0, cur = 0, above = 0;
    if (inside) {
        cur = u[IDX3(i, j, 0)];
        above = u[IDX3(i, j, 1)];
        un[IDX3(i, j, 0)] = cur;
    }
    for (int k = 1; k < nz - 1; ++k) {
        below = cur;
        cur = above;
        if (inside) above = u[IDX3(i, j, k + 1)];
        __syncthreads();
        plane[tj][ti] = cur;
        if (inside) {
            if (threadIdx.x == 0 && i > 0) plane[tj][0] = u[IDX3(i - 1, j, k)];
            if (threadIdx.x == BX - 1 && i < nx - 1) plane[tj][BX + 1] = u[IDX3(i + 1, j, k)];
            if (threadIdx.y == 0 && j > 0) plane[0][ti] = u[IDX3(i, j - 1, k)];
            if (threadIdx.y == BY - 1 && j < ny - 1) plane[BY + 1][ti] = u[IDX3(i, j + 1, k)];
        }
        __syncthreads();
        if (inside) {
            Real r = cur;
            if (interior)
                r += alpha * (plane[tj][ti - 1] + plane[tj][ti + 1] + plane[tj - 1][ti] + plane[tj + 1][ti] + below + above - 6 * cur);
            un[IDX3(i, j, k)] = r;
        }
    }
    if (inside) un[IDX3(i, j, nz - 1)] = above;
}

// acoustic wave, 8th order in space, 2nd in time; nx,ny multiples of 16
#define HALO 4
__global__ void wave_iso_so8(const float *p0, const float *p1, const float *vel, float *p2, int nx, int ny, int nz)
{
    const float c0 = -2.847222222f, c1 = 1.6f, c2 = -0.2f, c3 = 0.02539682540f, c4 = -0.001785714286f;
    __shared__ float s[16 + 2 * HALO][16 + 2 * HALO + 1];
    int gx = blockIdx.x * 16 + threadIdx.x;
    int gy = blockIdx.y * 16 + threadIdx.y;
    size_t slice = (size_t)nx * ny;
    size_t pos = (size_t)gy * nx + gx;
    float zq[9];
#pragma unroll
    for (int q = 0; q < 8; q++) zq[q] = p1[pos + q * slice];
    for (int k = HALO; k < nz - HALO; k++) {
        zq[8] = p1[pos + (size_t)(k + HALO) * slice];
        const float *pl = p1 + (size_t)k * slice;
        s[threadIdx.y + HALO][threadIdx.x + HALO] = zq[4];
        if (threadIdx.x < HALO) {
            s[threadIdx.y + HALO][threadIdx.x] = gx >= HALO ? pl[pos - HALO] : 0.f;
            s[threadIdx.y + HALO][threadIdx.x + 16 + HALO] = gx + 16 < nx ? pl[pos + 16] : 0.f;
        }
        if (threadIdx.y < HALO) {
            s[threadIdx.y][threadIdx.x + HALO] = gy >= HALO ? pl[pos - (size_t)HALO * nx] : 0.f;
            s[threadIdx.y + 16 + HALO][threadIdx.x + HALO] = gy + 16 < ny ? pl[pos + (size_t)16 * nx] : 0.f;
        }
        __syncthreads();
        int tx = threadIdx.x + HALO, ty = threadIdx.y + HALO;
        float lap = 3.f * c0 * zq[4];
        lap += c1 * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] + zq[3] + zq[5]);
        lap += c2 * (s[ty][tx - 2] + s[ty][tx + 2] + s[ty - 2][tx] + s[ty + 2][tx] + zq[2] + zq[6]);
        lap += c3 * (s[ty][tx - 3] + s[ty][tx + 3] + s[ty - 3][tx] + s[ty + 3][tx] + zq[1] + zq[7]);
        lap += c4 * (s[ty][tx - 4] + s[ty][tx + 4] + s[ty - 4][tx] + s[ty + 4][tx] + zq[0] + zq[8]);
        size_t o = pos + (size_t)k * slice;
        p2[o] = 2.f * zq[4] - p0[o] + 1e-3f * vel[o] * lap;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 8; q++) zq[q] = zq[q + 1];
    }
}

// 27 points in a 3-D block, tile reloaded by linear index
template <int B>
__global__ void stencil27(const Real *__restrict__ in, Real *__restrict__ out, int nx, int ny, int nz)
{
    constexpr int T = B + 2;
    __shared__ Real cube[T * T * T];
    const int bx = blockIdx.x * B - 1, by = blockIdx.y * B - 1, bz = blockIdx.z * B - 1;
    int lin = (threadIdx.z * B + threadIdx.y) * B + threadIdx.x;
    for (int t = lin; t < T * T * T; t += B * B * B) {
        int lx = t % T, ly = (t / T) % T, lz = t / (T * T);
        int x = bx + lx, y = by + ly, z = bz + lz;
        bool ok = x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz;
        cube[t] = ok ? in[IDX3(x, y, z)] : Real(0);
    }
    __syncthreads();
    const int x = bx + 1 + threadIdx.x, y = by + 1 + threadIdx.y, z = bz + 1 + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    Real acc = 0;
    for (int dz = 0; dz < 3; ++dz)
        for (int dy = 0; dy < 3; ++dy)
            for (int dx = 0; dx < 3; ++dx) {
                int m = (dx == 1) + (dy == 1) + (dz == 1);
                Real wgt = m == 3 ? Real(0.5) : m == 2 ? Real(0.04) : m == 1 ? Real(0.015) : Real(0.01);
                acc += wgt * cube[((threadIdx.z + dz) * T + threadIdx.y + dy) * T + threadIdx.x + dx];
            }
    out[IDX3(x, y, z)] = acc;
}

// ghost-zone temporal blocking, several Jacobi sweeps in the tile
#define TSTEPS 4
#define TB 32
__global__ void jacobi2d_temporal(const float *a, float *b, int nx, int ny)
{
    __shared__ float cur[TB][TB];
    __shared__ float nxt[TB][TB];
    const int useful = TB - 2 * TSTEPS;
    int x = blockIdx.x * useful + threadIdx.x - TSTEPS;
    int y = blockIdx.y * useful + threadIdx.y - TSTEPS;
    int cx = min(max(x, 0), nx - 1), cy = min(max(y, 0), ny - 1);
    int tx = threadIdx.x, ty = threadIdx.y;
    cur[ty][tx] = a[(size_t)cy * nx + cx];
    __syncthreads();
    bool dom = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
    for (int s = 1; s <= TSTEPS; s++) {
        float v = cur[ty][tx];
        if (dom && tx >= s && tx < TB - s && ty >= s && ty < TB - s)
            v = 0.25f * (cur[ty][tx - 1] + cur[ty][tx + 1] + cur[ty - 1][tx] + cur[ty + 1][tx]);
        nxt[ty][tx] = v;
        __syncthreads();
        cur[ty][tx] = nxt[ty][tx];
        __syncthreads();
    }
    if (tx >= TSTEPS && tx < TB - TSTEPS && ty >= TSTEPS && ty < TB - TSTEPS && x < nx && y < ny)
        b[(size_t)y * nx + x] = cur[ty][tx];
}

// block-local red-black relaxation (additive Schwarz), out of place
__global__ void redblack_tile(const float *in, const float *rhs, float *out, int nx, int ny, float omega)
{
    __shared__ float t[18][34];
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    for (int jj = threadIdx.y; jj < 18; jj += 16)
        for (int ii = threadIdx.x; ii < 34; ii += 32) {
            int gi = (int)blockIdx.x * 32 + ii - 1, gj = (int)blockIdx.y * 16 + jj - 1;
            t[jj][ii] = (gi >= 0 && gi < nx && gj >= 0 && gj < ny) ? in[(size_t)gj * nx + gi] : 0.f;
        }
    bool ok = i < nx && j < ny;
    float f = ok ? rhs[(size_t)j * nx + i] : 0.f;
    int li = threadIdx.x + 1, lj = threadIdx.y + 1;
    for (int sweep = 0; sweep < 3; sweep++)
        for (int color = 0; color < 2; color++) {
            __syncthreads();
            if (ok && ((i + j) & 1) == color) {
                float gs = 0.25f * (t[lj][li - 1] + t[lj][li + 1] + t[lj - 1][li] + t[lj + 1][li] - f);
                t[lj][li] += omega * (gs - t[lj][li]);
            }
        }
    if (ok) out[(size_t)j * nx + i] = t[lj][li];
}

int main(void)
{
    const size_t N = 256ull * 256 * 256;
    Real *u = mk<Real>(N), *v = mk<Real>(N), *w;
    cudaMalloc(&w, 320ull * 320 * 320 * sizeof(Real));
    Real *big = mk<Real>(320ull * 320 * 320);
    heat3d_march<<<dim3(divUp(320, BX), divUp(318, BY)), dim3(BX, BY)>>>(big, w, 320, 318, 320, 0.1f);
    show("heat3d_march", w, 320ull * 318 * 320 * sizeof(Real));
    cudaMemset(w, 0, N * sizeof(Real));
    wave_iso_so8<<<dim3(16, 16), dim3(16, 16)>>>(u, big, v, w, 256, 256, 256);
    show("wave_iso_so8", w, N * sizeof(Real));
    stencil27<8><<<dim3(divUp(250, 8), divUp(255, 8), divUp(254, 8)), dim3(8, 8, 8)>>>(u, w, 250, 255, 254);
    show("stencil27", w, 250ull * 255 * 254 * sizeof(Real));
    jacobi2d_temporal<<<dim3(divUp(4096, TB - 2 * TSTEPS), divUp(4000, TB - 2 * TSTEPS)), dim3(TB, TB)>>>(u, w, 4096, 4000);
    show("jacobi2d_temporal", w, 4096ull * 4000 * sizeof(Real));
    redblack_tile<<<dim3(divUp(4090, 32), divUp(4090, 16)), dim3(32, 16)>>>(u, v, w, 4090, 4090, 1.2f);
    show("redblack_tile", w, 4090ull * 4090 * sizeof(Real));
}
