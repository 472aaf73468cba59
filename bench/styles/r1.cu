// structured-grid solvers: heat, wave, FDTD, LBM, shallow water, WENO, ...
#include "shown.h"

#define IDX2(i, j, ld) ((size_t)(j) * (ld) + (i))

/* ------------------------------------------------------------------ 1: explicit heat step on a torus */
#define TX 40
#define TY 6

__global__ void heat_torus_step(const double *__restrict__ u, double *__restrict__ unew, int nx, int ny, double lam)
{
    __shared__ double su[TY + 2][TX + 2];
    int i = blockIdx.x * TX + threadIdx.x;
    int j = blockIdx.y * TY + threadIdx.y;
    int li = threadIdx.x + 1, lj = threadIdx.y + 1;

    int ic = i < nx ? i : i - nx;   // grid overhang wraps as well
    int jc = j < ny ? j : j - ny;
    int im = ic == 0 ? nx - 1 : ic - 1;
    int ip = ic == nx - 1 ? 0 : ic + 1;
    int jm = jc == 0 ? ny - 1 : jc - 1;
    int jp = jc == ny - 1 ? 0 : jc + 1;

    su[lj][li] = u[IDX2(ic, jc, nx)];
    if (threadIdx.x == 0)      su[lj][0]      = u[IDX2(im, jc, nx)];
    if (threadIdx.x == TX - 1) su[lj][TX + 1] = u[IDX2(ip, jc, nx)];
    if (threadIdx.y == 0)      su[0][li]      = u[IDX2(ic, jm, nx)];
    if (threadIdx.y == TY - 1) su[TY + 1][li] = u[IDX2(ic, jp, nx)];
    __syncthreads();

    if (i < nx && j < ny) {
        double lap = su[lj][li - 1] + su[lj][li + 1] + su[lj - 1][li] + su[lj + 1][li] - 4.0 * su[lj][li];
        unew[IDX2(i, j, nx)] = su[lj][li] + lam * lap;
    }
}

/* ------------------------------------------------------------------ 2: acoustic wave, 8th order, 2.5D blocking */
#define RADIUS 4
#define DIMX 32
#define DIMY 16
__constant__ float stencil_c[RADIUS + 1];

__global__ void wave8_forward_3d(const float *g_input, float *g_output, const float *g_vsq, int dimx, int dimy, int dimz)
{
    __shared__ float s_data[DIMY + 2 * RADIUS][DIMX + 2 * RADIUS];

    int ix = blockIdx.x * blockDim.x + threadIdx.x;     // interior coordinates
    int iy = blockIdx.y * blockDim.y + threadIdx.y;
    int ldx = dimx + 2 * RADIUS;
    int stride = ldx * (dimy + 2 * RADIUS);
    int in_idx = (iy + RADIUS) * ldx + ix + RADIUS;
    int out_idx = 0;

    int tx = threadIdx.x + RADIUS;
    int ty = threadIdx.y + RADIUS;

    float infront1, infront2, infront3, infront4;
    float behind1, behind2, behind3, behind4;
    float current;

    // dimx, dimy are multiples of the block here
    behind3 = g_input[in_idx]; in_idx += stride;
    behind2 = g_input[in_idx]; in_idx += stride;
    behind1 = g_input[in_idx]; in_idx += stride;
    current = g_input[in_idx]; out_idx = in_idx; in_idx += stride;
    infront1 = g_input[in_idx]; in_idx += stride;
    infront2 = g_input[in_idx]; in_idx += stride;
    infront3 = g_input[in_idx]; in_idx += stride;
    infront4 = g_input[in_idx]; in_idx += stride;
    behind4 = 0.f;

    for (int i = RADIUS; i < dimz - RADIUS; i++) {
        if (i > RADIUS) {
            behind4 = behind3;
            behind3 = behind2;
            behind2 = behind1;
            behind1 = current;
            current = infront1;
            infront1 = infront2;
            infront2 = infront3;
            infront3 = infront4;
            infront4 = g_input[in_idx];
            in_idx += stride;
            out_idx += stride;
        } else {
            behind4 = behind3;     // first plane sees a reflecting wall
        }
        __syncthreads();

        if (threadIdx.y < RADIUS) {     // halo above/below
            s_data[threadIdx.y][tx] = g_input[out_idx - RADIUS * ldx];
            s_data[threadIdx.y + DIMY + RADIUS][tx] = g_input[out_idx + DIMY * ldx];
        }
        if (threadIdx.x < RADIUS) {     // halo left/right
            s_data[ty][threadIdx.x] = g_input[out_idx - RADIUS];
            s_data[ty][threadIdx.x + DIMX + RADIUS] = g_input[out_idx + DIMX];
        }
        s_data[ty][tx] = current;
        __syncthreads();

        float div = stencil_c[0] * current;
        div += stencil_c[1] * (infront1 + behind1 + s_data[ty - 1][tx] + s_data[ty + 1][tx] + s_data[ty][tx - 1] + s_data[ty][tx + 1]);
        div += stencil_c[2] * (infront2 + behind2 + s_data[ty - 2][tx] + s_data[ty + 2][tx] + s_data[ty][tx - 2] + s_data[ty][tx + 2]);
        div += stencil_c[3] * (infront3 + behind3 + s_data[ty - 3][tx] + s_data[ty + 3][tx] + s_data[ty][tx - 3] + s_data[ty][tx + 3]);
        div += stencil_c[4] * (infront4 + behind4 + s_data[ty - 4][tx] + s_data[ty + 4][tx] + s_data[ty][tx - 4] + s_data[ty][tx + 4]);
        g_output[out_idx] = current + current - g_output[out_idx] + div * g_vsq[out_idx];
    }
}

/* ------------------------------------------------------------------ 3: 7-point Jacobi, three rotating planes */
#define BX 32
#define BY 8
#define PLANE ((BX + 2) * (BY + 2))

__global__ void jacobi7_rotating_planes(const float *a, float *b, int nx, int ny, int nz, float c0, float c1)
{
    extern __shared__ float planes[];
    const int nthreads = BX * BY;
    const int tid = threadIdx.y * BX + threadIdx.x;
    const int gx0 = blockIdx.x * BX, gy0 = blockIdx.y * BY;
    const size_t slice = (size_t)nx * ny;

    auto fetch = [&](int slot, int k) {
        for (int p = tid; p < PLANE; p += nthreads) {
            int x = gx0 + p % (BX + 2) - 1, y = gy0 + p / (BX + 2) - 1;
            float v = 0.0f;
            if (x >= 0 && x < nx && y >= 0 && y < ny && k >= 0 && k < nz) v = a[k * slice + (size_t)y * nx + x];
            planes[slot * PLANE + p] = v;
        }
    };
    int lo = 0, mid = 1, hi = 2;
    fetch(lo, -1);
    fetch(mid, 0);
    const int me = (threadIdx.y + 1) * (BX + 2) + threadIdx.x + 1;
    const int x = gx0 + threadIdx.x, y = gy0 + threadIdx.y;
    const bool active = x < nx && y < ny;
    for (int k = 0; k < nz; ++k) {
        fetch(hi, k + 1);
        __syncthreads();
        if (active) {
            const float *pl = planes + mid * PLANE;
            float s = planes[lo * PLANE + me] + planes[hi * PLANE + me];
            s += pl[me - 1] + pl[me + 1] + pl[me - (BX + 2)] + pl[me + (BX + 2)];
            b[k * slice + (size_t)y * nx + x] = c0 * pl[me] + c1 * s;
        }
        __syncthreads();
        int t = lo;
        lo = mid;
        mid = hi;
        hi = t;
    }
}

/* ------------------------------------------------------------------ 4: FDTD TMz, E update */
template <int NTX, int NTY>
__global__ void fdtd_update_ez(float *ez, const float *hx, const float *hy, const float *cb, int nx, int ny)
{
    __shared__ float shx[NTY + 1][NTX];
    __shared__ float shy[NTY][NTX + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * NTX + tx;
    const int y = blockIdx.y * NTY + ty;
    const bool in = (x < nx) & (y < ny);

    shx[ty + 1][tx] = in ? hx[y * nx + x] : 0.f;
    shy[ty][tx + 1] = in ? hy[y * nx + x] : 0.f;
    if (ty == 0) shx[0][tx] = (y > 0 && x < nx) ? hx[(y - 1) * nx + x] : 0.f;
    if (tx == 0) shy[ty][0] = (x > 0 && y < ny) ? hy[y * nx + x - 1] : 0.f;
    __syncthreads();
    if (!in) return;
    if (x == 0 || y == 0) return;       // PEC wall
    ez[y * nx + x] += cb[y * nx + x] * ((shy[ty][tx + 1] - shy[ty][tx]) - (shx[ty + 1][tx] - shx[ty][tx]));
}

/* ------------------------------------------------------------------ 5: LBM D2Q9, pull + BGK */
#define LBM_T 128
__constant__ int   lbm_cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int   lbm_cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float lbm_w[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

__global__ void lbm_d2q9_pull(const float *fin, float *fout, int nx, int ny, float omega)
{
    __shared__ float row[9][LBM_T + 2];
    const int n = nx * ny;
    const int x = blockIdx.x * LBM_T + threadIdx.x;
    const int y = blockIdx.y;
    for (int q = 0; q < 9; q++) {
        int ys = y - lbm_cy[q];
        ys = (ys + ny) % ny;
        for (int s = threadIdx.x; s < LBM_T + 2; s += LBM_T) {
            int xs = (blockIdx.x * LBM_T + s - 1 + nx) % nx;
            row[q][s] = fin[q * n + ys * nx + xs];
        }
    }
    __syncthreads();
    if (x < nx) {
        float f[9], rho = 0.f, ux = 0.f, uy = 0.f;
        for (int q = 0; q < 9; q++) {
            f[q] = row[q][threadIdx.x + 1 - lbm_cx[q]] + 0.05f;
            rho += f[q];
            ux += f[q] * lbm_cx[q];
            uy += f[q] * lbm_cy[q];
        }
        ux /= rho;
        uy /= rho;
        float usq = 1.5f * (ux * ux + uy * uy);
        for (int q = 0; q < 9; q++) {
            float cu = 3.f * (lbm_cx[q] * ux + lbm_cy[q] * uy);
            float feq = lbm_w[q] * rho * (1.f + cu + 0.5f * cu * cu - usq);
            fout[q * n + y * nx + x] = f[q] - omega * (f[q] - feq);
        }
    }
}

/* ------------------------------------------------------------------ 6: shallow water, Lax-Friedrichs */
struct Cell { float h, hu, hv; };

__device__ inline Cell flux_x(const Cell &q)
{
    float u = q.hu / q.h;
    Cell f = {q.hu, q.hu * u + 4.905f * q.h * q.h, q.hv * u};
    return f;
}
__device__ inline Cell flux_y(const Cell &q)
{
    float v = q.hv / q.h;
    Cell f = {q.hv, q.hu * v, q.hv * v + 4.905f * q.h * q.h};
    return f;
}

__global__ void swe_lax_friedrichs(const Cell *q, Cell *qn, int W, int H, float dtdx)
{
    __shared__ Cell tile[18][18];
    int bx = blockIdx.x * 16, by = blockIdx.y * 16;
    int lin = threadIdx.x + 16 * threadIdx.y;
    while (lin < 18 * 18) {
        int r = lin / 18, c = lin - 18 * r;
        int x = bx + c - 1, y = by + r - 1;
        bool flipx = false, flipy = false;
        if (x < 0) { x = 0; flipx = true; }
        else if (x >= W) { x = W - 1; flipx = true; }
        if (y < 0) { y = 0; flipy = true; }
        else if (y >= H) { y = H - 1; flipy = true; }
        Cell v = q[(size_t)y * W + x];
        v.h += 1.0f;
        if (flipx) v.hu = -v.hu;       // solid wall
        if (flipy) v.hv = -v.hv;
        tile[r][c] = v;
        lin += 256;
    }
    __syncthreads();
    int x = bx + threadIdx.x, y = by + threadIdx.y;
    if (x >= W || y >= H) return;
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    const Cell &e = tile[j][i + 1], &w = tile[j][i - 1], &n = tile[j + 1][i], &s = tile[j - 1][i];
    Cell fe = flux_x(e), fw = flux_x(w), gn = flux_y(n), gs = flux_y(s);
    Cell r;
    r.h  = 0.25f * (e.h + w.h + n.h + s.h)     - 0.5f * dtdx * (fe.h - fw.h + gn.h - gs.h);
    r.hu = 0.25f * (e.hu + w.hu + n.hu + s.hu) - 0.5f * dtdx * (fe.hu - fw.hu + gn.hu - gs.hu);
    r.hv = 0.25f * (e.hv + w.hv + n.hv + s.hv) - 0.5f * dtdx * (fe.hv - fw.hv + gn.hv - gs.hv);
    qn[(size_t)y * W + x] = r;
}

/* ------------------------------------------------------------------ 7: 1-D diffusion, overlapped temporal tiling */
template <int TILE, int STEPS>
__global__ void heat1d_time_tiled(const float *in, float *out, int n, float alpha)
{
    __shared__ float buf[2][TILE];
    constexpr int VALID = TILE - 2 * STEPS;
    int g = blockIdx.x * VALID + (int)threadIdx.x - STEPS;
    int gc = g < 0 ? 0 : (g > n - 1 ? n - 1 : g);
    buf[0][threadIdx.x] = in[gc];
    int cur = 0;
    for (int s = 1; s <= STEPS; ++s) {
        __syncthreads();
        float v = buf[cur][threadIdx.x];
        if ((int)threadIdx.x >= s && (int)threadIdx.x < TILE - s) {
            float l = g > 0 ? buf[cur][threadIdx.x - 1] : v;
            float r = g < n - 1 ? buf[cur][threadIdx.x + 1] : v;
            v = v + alpha * (l - 2.f * v + r);
        }
        buf[cur ^ 1][threadIdx.x] = v;
        cur ^= 1;
    }
    __syncthreads();
    if (threadIdx.x < STEPS || threadIdx.x >= TILE - STEPS || g >= n) return;
    out[g] = buf[cur][threadIdx.x];
}

/* ------------------------------------------------------------------ 8: WENO5 advection along x */
#define WG 3
__device__ double weno5(double a, double b, double c, double d, double e)
{
    double b0 = 13.0 / 12.0 * (a - 2 * b + c) * (a - 2 * b + c) + 0.25 * (a - 4 * b + 3 * c) * (a - 4 * b + 3 * c);
    double b1 = 13.0 / 12.0 * (b - 2 * c + d) * (b - 2 * c + d) + 0.25 * (b - d) * (b - d);
    double b2 = 13.0 / 12.0 * (c - 2 * d + e) * (c - 2 * d + e) + 0.25 * (3 * c - 4 * d + e) * (3 * c - 4 * d + e);
    double w0 = 0.1 / ((1e-6 + b0) * (1e-6 + b0));
    double w1 = 0.6 / ((1e-6 + b1) * (1e-6 + b1));
    double w2 = 0.3 / ((1e-6 + b2) * (1e-6 + b2));
    double s = w0 + w1 + w2;
    return (w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e)) / (6.0 * s);
}

__global__ void weno5_advect_rows(const double *u, double *du, int nx, int ny, double cdx)
{
    __shared__ double line[2][192 + 2 * WG];
    __shared__ double fl[2][192 + 1];
    const int r = threadIdx.y;
    const int y = blockIdx.y * 2 + r;
    const int xbase = blockIdx.x * 192;
    const int yy = y < ny ? y : ny - 1;

    for (int k = threadIdx.x; k < 192 + 2 * WG; k += blockDim.x) {
        int x = xbase + k - WG;
        if (x < 0) x = -x - 1;                  // mirror
        if (x >= nx) x = 2 * nx - 1 - x;
        if (x < 0) x = 0;                       // far overhang of the last block
        line[r][k] = u[(size_t)yy * nx + x];
    }
    __syncthreads();
    // interface i sits between cells i-1 and i (local)
    for (int k = threadIdx.x; k <= 192; k += blockDim.x)
        fl[r][k] = weno5(line[r][k], line[r][k + 1], line[r][k + 2], line[r][k + 3], line[r][k + 4]);
    __syncthreads();
    int x = xbase + threadIdx.x;
    if (y < ny && x < nx) du[(size_t)y * nx + x] = -cdx * (fl[r][threadIdx.x + 1] - fl[r][threadIdx.x]);
}

int main()
{
    {
        int nx = 3001, ny = 2777;
        double *u = mk<double>((size_t)nx * ny), *v = mk<double>((size_t)nx * ny);
        heat_torus_step<<<dim3((nx + TX - 1) / TX, (ny + TY - 1) / TY), dim3(TX, TY)>>>(u, v, nx, ny, 0.12);
        show("heat_torus_step", v, (size_t)nx * ny * 8);
        weno5_advect_rows<<<dim3((nx + 191) / 192, (ny + 1) / 2), dim3(192, 2)>>>(u, v, nx, ny, 0.3);
        show("weno5_advect_rows", v, (size_t)nx * ny * 8);
        cudaFree(u); cudaFree(v);
    }
    {
        int nx = 256, ny = 256, nz = 136;
        size_t vol = (size_t)(nx + 8) * (ny + 8) * nz;
        float *p0 = mk<float>(vol), *p1 = mk<float>(vol), *vs = mk<float>(vol);
        float c[5] = {-2.84722f * 3, 1.6f, -0.2f, 0.025397f, -0.00178571f};
        cudaMemcpyToSymbol(stencil_c, c, sizeof c);
        wave8_forward_3d<<<dim3(nx / DIMX, ny / DIMY), dim3(DIMX, DIMY)>>>(p0, p1, vs, nx, ny, nz);
        show("wave8_forward_3d", p1, vol * 4);
    }
    {
        int nx = 300, ny = 205, nz = 190;
        size_t vol = (size_t)nx * ny * nz;
        float *a = mk<float>(vol), *b = mk<float>(vol);
        jacobi7_rotating_planes<<<dim3((nx + BX - 1) / BX, (ny + BY - 1) / BY), dim3(BX, BY), 3 * PLANE * sizeof(float)>>>(a, b, nx, ny, nz, 0.4f, 0.1f);
        show("jacobi7_rotating_planes", b, vol * 4);
    }
    {
        int nx = 4000, ny = 2500;
        size_t n = (size_t)nx * ny;
        float *ez = mk<float>(n), *hx = mk<float>(n + 5) + 5, *hy = mk<float>(n + 17) + 17, *cb = mk<float>(n);
        fdtd_update_ez<32, 8><<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(ez, hx, hy, cb, nx, ny);
        show("fdtd_update_ez", ez, n * 4);
    }
    {
        int nx = 1500, ny = 1100;
        size_t n = (size_t)nx * ny * 9;
        float *f = mk<float>(n), *g = mk<float>(n);
        lbm_d2q9_pull<<<dim3((nx + LBM_T - 1) / LBM_T, ny), LBM_T>>>(f, g, nx, ny, 1.2f);
        show("lbm_d2q9_pull", g, n * 4);
    }
    {
        int W = 2100, H = 1999;
        size_t n = (size_t)W * H;
        Cell *q = (Cell *)mk<float>(n * 3), *qn = (Cell *)mk<float>(n * 3);
        swe_lax_friedrichs<<<dim3((W + 15) / 16, (H + 15) / 16), dim3(16, 16)>>>(q, qn, W, H, 0.01f);
        show("swe_lax_friedrichs", qn, n * sizeof(Cell));
    }
    {
        const int n = 9999991, T = 256, S = 6;
        float *a = mk<float>(n), *b = mk<float>(n);
        heat1d_time_tiled<T, S><<<(n + T - 2 * S - 1) / (T - 2 * S), T>>>(a, b, n, 0.2f);
        show("heat1d_time_tiled", b, (size_t)n * 4);
    }
    return 0;
}
