// k2 -- stencils and partial differential equations, one to three dimensions.
#include "shown.h"

static inline int cdiv(int a, int b) { return (a + b - 1) / b; }

// ---------------------------------------------------------------- 1-D, the textbook one
#define RADIUS 3
#define BLOCK_SIZE 256
__global__ void stencil_1d(const int *in, int *out, int n)
{
    __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x;
    int lindex = threadIdx.x + RADIUS;

    temp[lindex] = gindex < n ? in[gindex] : 0;
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = gindex >= RADIUS ? in[gindex - RADIUS] : 0;
        temp[lindex + BLOCK_SIZE] = gindex + BLOCK_SIZE < n ? in[gindex + BLOCK_SIZE] : 0;
    }
    __syncthreads();

    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        result += temp[lindex + offset];
    if (gindex < n) out[gindex] = result;
}

// ---------------------------------------------------------------- heat, halo by the rim threads
__global__ void heat2d(const float *T, float *Tnew, const int NX, const int NY, const float alpha)
{
    __shared__ float sT[8 + 2][32 + 2];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int si = threadIdx.x + 1, sj = threadIdx.y + 1;
    const int ii = min(i, NX - 1), jj = min(j, NY - 1);

    sT[sj][si] = T[jj * NX + ii];
    if (threadIdx.x == 0) sT[sj][0] = T[jj * NX + max(i - 1, 0)];
    if (threadIdx.x == blockDim.x - 1) sT[sj][si + 1] = T[jj * NX + min(i + 1, NX - 1)];
    if (threadIdx.y == 0) sT[0][si] = T[max(j - 1, 0) * NX + ii];
    if (threadIdx.y == blockDim.y - 1) sT[sj + 1][si] = T[min(j + 1, NY - 1) * NX + ii];
    __syncthreads();

    if (i < NX && j < NY) {
        float c = sT[sj][si];
        Tnew[j * NX + i] = c + alpha * (sT[sj][si - 1] + sT[sj][si + 1] + sT[sj - 1][si] + sT[sj + 1][si] - 4.0f * c);
    }
}

// ---------------------------------------------------------------- Parboil-like 7 points, marching in z
template <int TX, int TY>
__global__ void block2D_hybrid_coarsen_x(float c0, float c1, const float *A0, float *Anext, int nx, int ny, int nz)
{
    __shared__ float sh_A0[TY][TX];
    const int i = blockIdx.x * TX + threadIdx.x;
    const int j = blockIdx.y * TY + threadIdx.y;
    const bool in = i < nx && j < ny;
    const bool w = i > 0 && i < nx - 1 && j > 0 && j < ny - 1;
    const size_t plane = (size_t)nx * ny;
    const size_t col = in ? (size_t)j * nx + i : 0;

    float bottom = A0[col], current = A0[col + plane];
    if (in) Anext[col] = bottom;
    sh_A0[threadIdx.y][threadIdx.x] = current;
    __syncthreads();
    for (int k = 1; k < nz - 1; k++) {
        float top = A0[col + (k + 1) * plane];
        if (w) {
            float xl = threadIdx.x == 0 ? A0[col + k * plane - 1] : sh_A0[threadIdx.y][threadIdx.x - 1];
            float xr = threadIdx.x == TX - 1 ? A0[col + k * plane + 1] : sh_A0[threadIdx.y][threadIdx.x + 1];
            float yl = threadIdx.y == 0 ? A0[col + k * plane - nx] : sh_A0[threadIdx.y - 1][threadIdx.x];
            float yr = threadIdx.y == TY - 1 ? A0[col + k * plane + nx] : sh_A0[threadIdx.y + 1][threadIdx.x];
            Anext[col + k * plane] = (top + bottom + xl + xr + yl + yr) * c1 - current * c0;
        } else if (in)
            Anext[col + k * plane] = current;
        bottom = current;
        __syncthreads();
        sh_A0[threadIdx.y][threadIdx.x] = top;
        current = top;
        __syncthreads();
    }
    if (in) Anext[col + (nz - 1) * plane] = current;
}

// ---------------------------------------------------------------- FDTD3d of the samples, radius 4
#define FR 4
#define k_blockDimX 32
#define k_blockDimY 8
__constant__ float stencil[FR + 1];
__global__ void FiniteDifferences3DKernel(float *output, const float *input, const int dimx, const int dimy, const int dimz)
{
    __shared__ float tile[k_blockDimY + 2 * FR][k_blockDimX + 2 * FR];
    const int ltidx = threadIdx.x, ltidy = threadIdx.y;
    const int gx = blockIdx.x * k_blockDimX + ltidx, gy = blockIdx.y * k_blockDimY + ltidy;
    const int stride_y = dimx + 2 * FR;
    const int stride_z = stride_y * (dimy + 2 * FR);
    const int tx = ltidx + FR, ty = ltidy + FR;
    const bool validw = gx < dimx && gy < dimy;
    const bool validr = gx < dimx + FR && gy < dimy + FR;
    int inputIndex = FR * stride_y + FR + gy * stride_y + gx;
    int outputIndex = 0;

    float infront[FR], behind[FR], current = 0;
    for (int i = FR - 2; i >= 0; i--) {
        behind[i] = validr ? input[inputIndex] : 0.0f;
        inputIndex += stride_z;
    }
    behind[FR - 1] = 0.0f;
    if (validr) current = input[inputIndex];
    outputIndex = inputIndex;
    inputIndex += stride_z;
    for (int i = 0; i < FR; i++) {
        infront[i] = validr ? input[inputIndex] : 0.0f;
        inputIndex += stride_z;
    }
    for (int iz = 0; iz < dimz; iz++) {
        for (int i = FR - 1; i > 0; i--) behind[i] = behind[i - 1];
        behind[0] = current;
        current = infront[0];
        for (int i = 0; i < FR - 1; i++) infront[i] = infront[i + 1];
        infront[FR - 1] = validr ? input[inputIndex] : 0.0f;
        inputIndex += stride_z;
        outputIndex += stride_z;
        __syncthreads();
        if (ltidy < FR) {
            tile[ltidy][tx] = validr ? input[outputIndex - FR * stride_y] : 0.0f;
            tile[ltidy + k_blockDimY + FR][tx] = (gx < dimx && gy + k_blockDimY < dimy + FR) ? input[outputIndex + k_blockDimY * stride_y] : 0.0f;
        }
        if (ltidx < FR) {
            tile[ty][ltidx] = validr ? input[outputIndex - FR] : 0.0f;
            tile[ty][ltidx + k_blockDimX + FR] = (gy < dimy && gx + k_blockDimX < dimx + FR) ? input[outputIndex + k_blockDimX] : 0.0f;
        }
        tile[ty][tx] = current;
        __syncthreads();
        float value = stencil[0] * current;
#pragma unroll
        for (int i = 1; i <= FR; i++)
            value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        if (validw) output[outputIndex] = value;
    }
}

// ---------------------------------------------------------------- 1-D heat, several steps per launch (trapezoid)
template <typename Real, int NT, int STEPS>
__global__ void heat1d_multistep(const Real *u0, Real *u1, long n, Real r)
{
    __shared__ Real buf[2][NT];
    const int lane = threadIdx.x;
    const long g = (long)blockIdx.x * (NT - 2 * STEPS) + lane - STEPS;
    const bool dom = g >= 0 && g < n;
    buf[0][lane] = dom ? u0[g] : Real(0);
    __syncthreads();
    int src = 0;
    for (int s = 1; s <= STEPS; ++s) {
        Real v = buf[src][lane];
        if (dom && lane >= s && lane < NT - s)
            v = v + r * (buf[src][lane - 1] - 2 * v + buf[src][lane + 1]);
        buf[1 - src][lane] = v;
        src = 1 - src;
        __syncthreads();
    }
    if (dom && lane >= STEPS && lane < NT - STEPS) u1[g] = buf[src][lane];
}

// ---------------------------------------------------------------- red-black Gauss-Seidel within a block
__global__ void redBlackGS(const double *phi, const double *rhs, double *phiOut, int nx, int ny, double omega)
{
    __shared__ double p[18][18];
    int gx0 = blockIdx.x * 16, gy0 = blockIdx.y * 16;
    for (int t = threadIdx.y * 16 + threadIdx.x; t < 18 * 18; t += 256) {
        int yy = gy0 + t / 18 - 1, xx = gx0 + t % 18 - 1;
        p[t / 18][t % 18] = (xx >= 0 && xx < nx && yy >= 0 && yy < ny) ? phi[(size_t)yy * nx + xx] : 0.0;
    }
    __syncthreads();
    int x = gx0 + threadIdx.x, y = gy0 + threadIdx.y;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    bool ok = x < nx && y < ny;
    double b = ok ? rhs[(size_t)y * nx + x] : 0.0;
    for (int colour = 0; colour < 2; colour++) {
        if (ok && ((x + y) & 1) == colour) {
            double gs = 0.25 * (p[ly][lx - 1] + p[ly][lx + 1] + p[ly - 1][lx] + p[ly + 1][lx] - b);
            p[ly][lx] += omega * (gs - p[ly][lx]);
        }
        __syncthreads();
    }
    if (ok) phiOut[(size_t)y * nx + x] = p[ly][lx];
}

// ---------------------------------------------------------------- speckle reducing diffusion, first kernel
#define SRAD_B 16
__global__ void srad_cuda_1(float *E_C, float *W_C, float *N_C, float *S_C, const float *J_cuda, float *C_cuda, int cols, int rows, float q0sqr)
{
    __shared__ float temp[SRAD_B][SRAD_B];
    __shared__ float north[SRAD_B][SRAD_B];
    __shared__ float south[SRAD_B][SRAD_B];
    __shared__ float east[SRAD_B][SRAD_B];
    __shared__ float west[SRAD_B][SRAD_B];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = cols * SRAD_B * by + SRAD_B * bx + cols * ty + tx;
    int index_n = cols * SRAD_B * by + SRAD_B * bx + tx - cols;
    int index_s = cols * SRAD_B * by + SRAD_B * bx + cols * SRAD_B + tx;
    int index_w = cols * SRAD_B * by + SRAD_B * bx + cols * ty - 1;
    int index_e = cols * SRAD_B * by + SRAD_B * bx + cols * ty + SRAD_B;
    if (by == 0) index_n = SRAD_B * bx + tx;
    if (by == (int)gridDim.y - 1) index_s = cols * (rows - 1) + SRAD_B * bx + tx;
    if (bx == 0) index_w = cols * SRAD_B * by + cols * ty;
    if (bx == (int)gridDim.x - 1) index_e = cols * SRAD_B * by + cols * ty + cols - 1;

    north[ty][tx] = J_cuda[index_n];
    south[ty][tx] = J_cuda[index_s];
    west[ty][tx] = J_cuda[index_w];
    east[ty][tx] = J_cuda[index_e];
    temp[ty][tx] = J_cuda[index] + 1.0f;
    __syncthreads();

    float jc = temp[ty][tx];
    float n = (ty == 0 ? north[ty][tx] + 1.0f : temp[ty - 1][tx]) - jc;
    float s = (ty == SRAD_B - 1 ? south[ty][tx] + 1.0f : temp[ty + 1][tx]) - jc;
    float w = (tx == 0 ? west[ty][tx] + 1.0f : temp[ty][tx - 1]) - jc;
    float e = (tx == SRAD_B - 1 ? east[ty][tx] + 1.0f : temp[ty][tx + 1]) - jc;

    float g2 = (n * n + s * s + w * w + e * e) / (jc * jc);
    float l = (n + s + w + e) / jc;
    float num = (0.5f * g2) - ((1.0f / 16.0f) * (l * l));
    float den = 1 + (.25f * l);
    float qsqr = num / (den * den);
    den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    float c = 1.0f / (1.0f + den);
    C_cuda[index] = c < 0 ? 0 : (c > 1 ? 1 : c);
    E_C[index] = e;
    W_C[index] = w;
    S_C[index] = s;
    N_C[index] = n;
}

// ---------------------------------------------------------------- shallow water, Lax-Friedrichs
struct SWState { float h, hu, hv; };
__device__ inline SWState fluxX(SWState q) { float u = q.hu / q.h; return {q.hu, q.hu * u + 4.905f * q.h * q.h, q.hv * u}; }
__device__ inline SWState fluxY(SWState q) { float v = q.hv / q.h; return {q.hv, q.hu * v, q.hv * v + 4.905f * q.h * q.h}; }
__global__ void swe_lax_friedrichs(const SWState *q, SWState *qn, int nx, int ny, float lambda)
{
    __shared__ SWState tile[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * 14 + tx - 1;
    const int y = blockIdx.y * 14 + ty - 1;
    const int xc = min(max(x, 0), nx - 1), yc = min(max(y, 0), ny - 1);
    SWState me = q[(size_t)yc * nx + xc];
    me.h = me.h * 0.1f + 1.0f;
    if (x != xc) me.hu = -me.hu;
    if (y != yc) me.hv = -me.hv;
    tile[ty][tx] = me;
    __syncthreads();
    if (tx == 0 || tx == 15 || ty == 0 || ty == 15 || x >= nx || y >= ny) return;
    SWState L = tile[ty][tx - 1], R = tile[ty][tx + 1], D = tile[ty - 1][tx], U = tile[ty + 1][tx];
    SWState fl = fluxX(L), fr = fluxX(R), fd = fluxY(D), fu = fluxY(U);
    SWState o;
    o.h = 0.25f * (L.h + R.h + D.h + U.h) - lambda * (fr.h - fl.h + fu.h - fd.h);
    o.hu = 0.25f * (L.hu + R.hu + D.hu + U.hu) - lambda * (fr.hu - fl.hu + fu.hu - fd.hu);
    o.hv = 0.25f * (L.hv + R.hv + D.hv + U.hv) - lambda * (fr.hv - fl.hv + fu.hv - fd.hv);
    qn[(size_t)y * nx + x] = o;
}

// ---------------------------------------------------------------- multigrid, full weighting restriction
__global__ void restrict_full_weighting(const double *__restrict__ fine, double *__restrict__ coarse, int nf, int nc)
{
    constexpr int CB = 16, FB = 2 * CB + 1;
    __shared__ double s[FB][FB + 1];
    const int fx0 = 2 * CB * blockIdx.x - 1, fy0 = 2 * CB * blockIdx.y - 1;
    for (int r = threadIdx.y; r < FB; r += CB)
        for (int c = threadIdx.x; c < FB; c += CB) {
            int fx = fx0 + c, fy = fy0 + r;
            s[r][c] = (fx >= 0 && fy >= 0 && fx < nf && fy < nf) ? fine[(size_t)fy * nf + fx] : 0.0;
        }
    __syncthreads();
    const int cx = blockIdx.x * CB + threadIdx.x, cy = blockIdx.y * CB + threadIdx.y;
    if (cx >= nc || cy >= nc) return;
    const int a = 2 * threadIdx.x + 1, b = 2 * threadIdx.y + 1;
    double corners = s[b - 1][a - 1] + s[b - 1][a + 1] + s[b + 1][a - 1] + s[b + 1][a + 1];
    double edges = s[b - 1][a] + s[b + 1][a] + s[b][a - 1] + s[b][a + 1];
    coarse[(size_t)cy * nc + cx] = 0.0625 * corners + 0.125 * edges + 0.25 * s[b][a];
}

// ---------------------------------------------------------------- Gray-Scott on a torus, float2 cells
template <int BS>
__global__ void grayScott(const float2 *uv, float2 *next, int n, float F, float K, float dt)
{
    __shared__ float2 cell[BS + 2][BS + 2];
    int x = blockIdx.x * BS + threadIdx.x, y = blockIdx.y * BS + threadIdx.y;
    int xm = (x + n - 1) % n, xp = (x + 1) % n, ym = (y + n - 1) % n, yp = (y + 1) % n;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    int xw = x % n, yw = y % n;
    cell[ly][lx] = uv[yw * n + xw];
    if (threadIdx.x == 0) cell[ly][0] = uv[yw * n + xm];
    if (threadIdx.x == BS - 1) cell[ly][BS + 1] = uv[yw * n + xp];
    if (threadIdx.y == 0) cell[0][lx] = uv[ym * n + xw];
    if (threadIdx.y == BS - 1) cell[BS + 1][lx] = uv[yp * n + xw];
    __syncthreads();
    if (x < n && y < n) {
        float u = cell[ly][lx].x * 0.08f, v = cell[ly][lx].y * 0.08f;
        float lu = 0.08f * (cell[ly][lx - 1].x + cell[ly][lx + 1].x + cell[ly - 1][lx].x + cell[ly + 1][lx].x) - 4 * u;
        float lv = 0.08f * (cell[ly][lx - 1].y + cell[ly][lx + 1].y + cell[ly - 1][lx].y + cell[ly + 1][lx].y) - 4 * v;
        float uvv = u * v * v;
        next[y * n + x] = make_float2(u + dt * (0.16f * lu - uvv + F * (1 - u)), v + dt * (0.08f * lv + uvv - (F + K) * v));
    }
}

// ---------------------------------------------------------------- 27 points in a 3-D block, cells at the rim copied
__global__ void stencil27(const float *in, float *out, int n, float wc, float wf, float we, float wv)
{
    __shared__ float s[8][8][8 + 1];
    int x = blockIdx.x * 6 + threadIdx.x - 1;
    int y = blockIdx.y * 6 + threadIdx.y - 1;
    int z = blockIdx.z * 6 + threadIdx.z - 1;
    bool in_range = x >= 0 && y >= 0 && z >= 0 && x < n && y < n && z < n;
    if (in_range) s[threadIdx.z][threadIdx.y][threadIdx.x] = in[((size_t)z * n + y) * n + x];
    __syncthreads();
    bool writer = threadIdx.x % 7 != 0 && threadIdx.y % 7 != 0 && threadIdx.z % 7 != 0;
    if (!writer || !in_range) return;
    size_t id = ((size_t)z * n + y) * n + x;
    if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) {
        out[id] = s[threadIdx.z][threadIdx.y][threadIdx.x];
        return;
    }
    const float wt[4] = {wc, wf, we, wv};
    float acc = 0.f;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                acc += wt[dx * dx + dy * dy + dz * dz] * s[threadIdx.z + dz][threadIdx.y + dy][threadIdx.x + dx];
    out[id] = acc;
}

int main()
{
    {
        int n = 30000001;
        int *a = mk<int>(n), *b = mk<int>(n);
        stencil_1d<<<cdiv(n, BLOCK_SIZE), BLOCK_SIZE>>>(a, b, n);
        show("stencil_1d", b, 4ull * n);
        long m = 9000007;
        double *u = mk<double>(m), *v = mk<double>(m);
        heat1d_multistep<double, 512, 8><<<cdiv(m, 512 - 16), 512>>>(u, v, m, 0.2);
        show("heat1d_multistep", v, 8ull * m);
    }
    {
        int nx = 4001, ny = 3333;
        size_t N = (size_t)nx * ny;
        float *a = mk<float>(N), *b = mk<float>(N);
        heat2d<<<dim3(cdiv(nx, 32), cdiv(ny, 8)), dim3(32, 8)>>>(a, b, nx, ny, 0.21f);
        show("heat2d", b, N * 4);
    }
    {
        int nx = 400, ny = 390, nz = 110;
        size_t N = (size_t)nx * ny * nz;
        float *a = mk<float>(N), *b = mk<float>(N);
        block2D_hybrid_coarsen_x<32, 4><<<dim3(cdiv(nx, 32), cdiv(ny, 4)), dim3(32, 4)>>>(0.3f, 0.11f, a, b, nx, ny, nz);
        show("seven_point", b, N * 4);
    }
    {
        float h[5] = {0.5f, 0.125f, -0.0625f, 0.03125f, -0.01f};
        cudaMemcpyToSymbol(stencil, h, sizeof h);
        int dx = 352, dy = 320, dz = 100;
        size_t N = (size_t)(dx + 8) * (dy + 8) * (dz + 10);
        float *a = mk<float>(N), *b = mk<float>(N);
        FiniteDifferences3DKernel<<<dim3(cdiv(dx, 32), cdiv(dy, 8)), dim3(32, 8)>>>(b, a, dx, dy, dz);
        show("fdtd3d", b, N * 4);
    }
    {
        int nx = 2600, ny = 2311;
        size_t N = (size_t)nx * ny;
        double *a = mk<double>(N), *f = mk<double>(N), *b = mk<double>(N);
        redBlackGS<<<dim3(cdiv(nx, 16), cdiv(ny, 16)), dim3(16, 16)>>>(a, f, b, nx, ny, 1.3);
        show("redBlackGS", b, N * 8);
    }
    {
        int c = 2048, r = 2000;
        size_t N = (size_t)c * r;
        float *j = mk<float>(N), *e = mk<float>(N), *w = mk<float>(N), *n = mk<float>(N), *s = mk<float>(N), *cc = mk<float>(N);
        srad_cuda_1<<<dim3(c / 16, r / 16), dim3(16, 16)>>>(e, w, n, s, j, cc, c, r, 0.53f);
        show("srad_c", cc, N * 4);
        show("srad_e", e, N * 4);
        show("srad_w", w, N * 4);
        show("srad_n", n, N * 4);
        show("srad_s", s, N * 4);
    }
    {
        int nx = 2222, ny = 1999;
        size_t N = (size_t)nx * ny;
        float *q = mk<float>(N * 3), *qn = mk<float>(N * 3);
        swe_lax_friedrichs<<<dim3(cdiv(nx, 14), cdiv(ny, 14)), dim3(16, 16)>>>((SWState *)q, (SWState *)qn, nx, ny, 0.01f);
        show("swe", qn, N * 12);
    }
    {
        int nc = 1700, nf = 2 * nc + 1;
        double *f = mk<double>((size_t)nf * nf), *c = mk<double>((size_t)nc * nc);
        restrict_full_weighting<<<dim3(cdiv(nc, 16), cdiv(nc, 16)), dim3(16, 16)>>>(f, c, nf, nc);
        show("restrict", c, 8ull * nc * nc);
    }
    {
        int n = 2500;
        float *a = mk<float>(2ull * n * n), *b = mk<float>(2ull * n * n);
        grayScott<16><<<dim3(cdiv(n, 16), cdiv(n, 16)), dim3(16, 16)>>>((float2 *)a, (float2 *)b, n, 0.04f, 0.06f, 1.0f);
        show("grayScott", b, 8ull * n * n);
    }
    {
        int n = 256;
        size_t N = (size_t)n * n * n;
        float *a = mk<float>(N), *b = mk<float>(N);
        stencil27<<<dim3(cdiv(n, 6), cdiv(n, 6), cdiv(n, 6)), dim3(8, 8, 8)>>>(a, b, n, 0.4f, 0.06f, 0.01f, 0.005f);
        show("stencil27", b, N * 4);
    }
    return 0;
}
