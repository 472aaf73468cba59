// time stepping and particle codes
#include "shown.h"

#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

/* ---------------------------------------------------------------- D2Q9 lattice Boltzmann, pull scheme, periodic */
__constant__ int   lbm_cx[9];
__constant__ int   lbm_cy[9];
__constant__ float lbm_w[9];

__global__ void lbm_d2q9_stream_collide(const float *fin, float *fout, int nx, int ny, float omega)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= nx) return;
    size_t plane = (size_t)nx * ny;

    float f[9];
    float rho = 0.0f, ux = 0.0f, uy = 0.0f;
    for (int q = 0; q < 9; q++) {
        int xs = (x - lbm_cx[q] + nx) % nx;
        int ys = (y - lbm_cy[q] + ny) % ny;
        f[q] = fin[q * plane + (size_t)ys * nx + xs] + 0.5f;
        rho += f[q];
        ux += f[q] * lbm_cx[q];
        uy += f[q] * lbm_cy[q];
    }
    ux /= rho;
    uy /= rho;
    float usq = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < 9; q++) {
        float cu = 3.0f * (lbm_cx[q] * ux + lbm_cy[q] * uy);
        float feq = lbm_w[q] * rho * (1.0f + cu + 0.5f * cu * cu - usq);
        fout[q * plane + (size_t)y * nx + x] = f[q] - omega * (f[q] - feq);
    }
}

/* ---------------------------------------------------------------- FDTD, the hz update */
#define FD_X 32
#define FD_Y 8
__global__ void fdtd2d_update_hz(const float *ex, const float *ey, const float *hz, float *hz_new, int nx, int ny)
{
    __shared__ float s_ex[FD_Y][FD_X + 1];
    __shared__ float s_ey[FD_Y + 1][FD_X];
    int j = blockIdx.x * FD_X + threadIdx.x;
    int i = blockIdx.y * FD_Y + threadIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    // ex has ny+1 columns, ey has nx+1 rows
    if (i < nx && j < ny) {
        s_ex[ty][tx] = ex[i * (ny + 1) + j];
        s_ey[ty][tx] = ey[i * ny + j];
        if (tx == FD_X - 1 || j == ny - 1) s_ex[ty][tx + 1] = ex[i * (ny + 1) + j + 1];
        if (ty == FD_Y - 1 || i == nx - 1) s_ey[ty + 1][tx] = ey[(i + 1) * ny + j];
    }
    __syncthreads();
    if (i < nx && j < ny)
        hz_new[i * ny + j] = hz[i * ny + j] - 0.7f * (s_ex[ty][tx + 1] - s_ex[ty][tx] + s_ey[ty + 1][tx] - s_ey[ty][tx]);
}

/* ---------------------------------------------------------------- thermal simulation, several steps in a tile */
#define HS_BLOCK 16
__global__ void hotspot_calculate_temp(int iteration, const float *power, const float *temp_src, float *temp_dst,
                                       int grid_cols, int grid_rows, int border_cols, int border_rows,
                                       float Cap, float Rx, float Ry, float Rz, float step)
{
    __shared__ float temp_on_cuda[HS_BLOCK][HS_BLOCK];
    __shared__ float power_on_cuda[HS_BLOCK][HS_BLOCK];
    __shared__ float temp_t[HS_BLOCK][HS_BLOCK];

    float amb_temp = 80.0f;
    float step_div_Cap = step / Cap;
    float Rx_1 = 1 / Rx, Ry_1 = 1 / Ry, Rz_1 = 1 / Rz;
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;

    int small_block_rows = HS_BLOCK - iteration * 2;
    int small_block_cols = HS_BLOCK - iteration * 2;
    int blkY = small_block_rows * by - border_rows;
    int blkX = small_block_cols * bx - border_cols;
    int blkYmax = blkY + HS_BLOCK - 1;
    int blkXmax = blkX + HS_BLOCK - 1;
    int yidx = blkY + ty, xidx = blkX + tx;
    int index = grid_cols * yidx + xidx;

    if (IN_RANGE(yidx, 0, grid_rows - 1) && IN_RANGE(xidx, 0, grid_cols - 1)) {
        temp_on_cuda[ty][tx] = temp_src[index];
        power_on_cuda[ty][tx] = power[index];
    }
    __syncthreads();

    int validYmin = (blkY < 0) ? -blkY : 0;
    int validYmax = (blkYmax > grid_rows - 1) ? HS_BLOCK - 1 - (blkYmax - grid_rows + 1) : HS_BLOCK - 1;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > grid_cols - 1) ? HS_BLOCK - 1 - (blkXmax - grid_cols + 1) : HS_BLOCK - 1;
    int N = ty - 1, S = ty + 1, W = tx - 1, E = tx + 1;
    N = (N < validYmin) ? validYmin : N;
    S = (S > validYmax) ? validYmax : S;
    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;

    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, HS_BLOCK - i - 2) && IN_RANGE(ty, i + 1, HS_BLOCK - i - 2) &&
            IN_RANGE(tx, validXmin, validXmax) && IN_RANGE(ty, validYmin, validYmax)) {
            computed = true;
            temp_t[ty][tx] = temp_on_cuda[ty][tx] + step_div_Cap * (power_on_cuda[ty][tx] +
                (temp_on_cuda[S][tx] + temp_on_cuda[N][tx] - 2.0f * temp_on_cuda[ty][tx]) * Ry_1 +
                (temp_on_cuda[ty][E] + temp_on_cuda[ty][W] - 2.0f * temp_on_cuda[ty][tx]) * Rx_1 +
                (amb_temp - temp_on_cuda[ty][tx]) * Rz_1);
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) temp_on_cuda[ty][tx] = temp_t[ty][tx];
        __syncthreads();
    }
    if (computed) temp_dst[index] = temp_t[ty][tx];
}

/* ---------------------------------------------------------------- vibrating string, time blocked */
#define WV_BLOCK 256
#define WV_STEPS 16
__global__ void wave1d_time_blocked(const float *u_prev, const float *u_cur, float *out_prev, float *out_cur, int n, float c2)
{
    __shared__ float a[WV_BLOCK], b[WV_BLOCK], c[WV_BLOCK];
    float *prev = a, *cur = b, *next = c;
    int t = threadIdx.x;
    int g = blockIdx.x * (WV_BLOCK - 2 * WV_STEPS) + t - WV_STEPS;
    bool in = g >= 0 && g < n;
    prev[t] = in ? u_prev[g] : 0.f;
    cur[t] = in ? u_cur[g] : 0.f;
    next[t] = 0.f;
    __syncthreads();
    for (int s = 0; s < WV_STEPS; s++) {
        if (g > 0 && g < n - 1 && t > 0 && t < WV_BLOCK - 1)
            next[t] = 2.f * cur[t] - prev[t] + c2 * (cur[t + 1] - 2.f * cur[t] + cur[t - 1]);
        else
            next[t] = 0.f;      // clamped ends
        __syncthreads();
        float *tmp = prev;
        prev = cur;
        cur = next;
        next = tmp;
    }
    if (in && t >= WV_STEPS && t < WV_BLOCK - WV_STEPS) {
        out_prev[g] = prev[t];
        out_cur[g] = cur[t];
    }
}

/* ---------------------------------------------------------------- gravity */
#define SOFTENING 1e-2f
#define NB_TILE 128
__device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + SOFTENING;
    float invDist = rsqrtf(distSqr);
    float s = bj.w * invDist * invDist * invDist;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}
__global__ void nbody_tiled_forces(const float4 *pos, float4 *acc, int numBodies)
{
    __shared__ float4 sharedPos[NB_TILE];
    int gid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = gid < numBodies ? pos[gid] : make_float4(0, 0, 0, 0);
    float3 a = {0.0f, 0.0f, 0.0f};
    for (int tile = 0; tile * NB_TILE < numBodies; tile++) {
        int idx = tile * NB_TILE + threadIdx.x;
        sharedPos[threadIdx.x] = idx < numBodies ? pos[idx] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < NB_TILE; j++)
            a = bodyBodyInteraction(a, me, sharedPos[j]);
        __syncthreads();
    }
    if (gid < numBodies) acc[gid] = make_float4(a.x, a.y, a.z, me.w);
}

/* ---------------------------------------------------------------- 3-D heat equation, the block is the input tile */
#define H3 8
#define H3_OUT (H3 - 2)
__global__ void heat3d_block_tile(const float *T, float *Tn, int nx, int ny, int nz, float alpha)
{
    __shared__ float s[H3][H3][H3];
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    int x = (int)blockIdx.x * H3_OUT + tx - 1;
    int y = (int)blockIdx.y * H3_OUT + ty - 1;
    int z = (int)blockIdx.z * H3_OUT + tz - 1;
    bool in = x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz;
    s[tz][ty][tx] = in ? T[((size_t)z * ny + y) * nx + x] : 0.f;
    __syncthreads();
    if (!in) return;
    if (tx == 0 || ty == 0 || tz == 0 || tx == H3 - 1 || ty == H3 - 1 || tz == H3 - 1) return;
    float c = s[tz][ty][tx];
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1)
        c += alpha * (s[tz][ty][tx - 1] + s[tz][ty][tx + 1] + s[tz][ty - 1][tx] + s[tz][ty + 1][tx] +
                      s[tz - 1][ty][tx] + s[tz + 1][ty][tx] - 6.f * c);
    Tn[((size_t)z * ny + y) * nx + x] = c;
}

/* ---------------------------------------------------------------- periodic advection, second order upwind */
#define AD_X 64
#define AD_Y 4
__global__ void advect_periodic_upwind2(const float *q, float *qn, int nx, int ny, float cfl)
{
    __shared__ float row[AD_Y][AD_X + 4];
    int x = blockIdx.x * AD_X + threadIdx.x;
    int y = blockIdx.y * AD_Y + threadIdx.y;
    const float *line = q + (size_t)(y % ny) * nx;
    for (int i = threadIdx.x; i < AD_X + 4; i += AD_X) {
        int g = blockIdx.x * AD_X + i - 2;
        if (g < 0) g += nx;
        if (g >= nx) g -= nx;
        row[threadIdx.y][i] = line[g];
    }
    __syncthreads();
    if (x < nx && y < ny) {
        float *r = &row[threadIdx.y][threadIdx.x + 2];
        float v;
        if (cfl > 0.f) v = 0.5f * (3.f * r[0] - 4.f * r[-1] + r[-2]);
        else v = 0.5f * (-3.f * r[0] + 4.f * r[1] - r[2]);
        qn[(size_t)y * nx + x] = r[0] - cfl * v;
    }
}

/* ---------------------------------------------------------------- FDTD3d, radius 4, marching along z */
#define RADIUS 4
#define k_blockDimX 32
#define k_blockDimY 16
__constant__ float stencil[RADIUS + 1];

__global__ void FiniteDifferences3D(float *output, const float *input, int dimx, int dimy, int dimz)
{
    bool validr = true, validw = true;
    const int gtidx = blockIdx.x * blockDim.x + threadIdx.x;
    const int gtidy = blockIdx.y * blockDim.y + threadIdx.y;
    const int ltidx = threadIdx.x, ltidy = threadIdx.y;
    const int workx = blockDim.x, worky = blockDim.y;
    __shared__ float tile[k_blockDimY + 2 * RADIUS][k_blockDimX + 2 * RADIUS];

    const int stride_y = dimx + 2 * RADIUS;
    const int stride_z = stride_y * (dimy + 2 * RADIUS);
    int inputIndex = 0, outputIndex = 0;
    inputIndex += RADIUS * stride_y + RADIUS;
    inputIndex += gtidy * stride_y + gtidx;

    float infront[RADIUS];
    float behind[RADIUS];
    float current = 0.f;
    const int tx = ltidx + RADIUS;
    const int ty = ltidy + RADIUS;

    if ((gtidx >= dimx + RADIUS) || (gtidy >= dimy + RADIUS)) validr = false;
    if ((gtidx >= dimx) || (gtidy >= dimy)) validw = false;

    for (int i = RADIUS - 2; i >= 0; i--) {
        behind[i] = validr ? input[inputIndex] : 0.f;
        inputIndex += stride_z;
    }
    behind[RADIUS - 1] = 0.f;
    if (validr) current = input[inputIndex];
    outputIndex = inputIndex;
    inputIndex += stride_z;
    for (int i = 0; i < RADIUS; i++) {
        infront[i] = validr ? input[inputIndex] : 0.f;
        inputIndex += stride_z;
    }

#pragma unroll 9
    for (int iz = 0; iz < dimz; iz++) {
        for (int i = RADIUS - 1; i > 0; i--) behind[i] = behind[i - 1];
        behind[0] = current;
        current = infront[0];
#pragma unroll 4
        for (int i = 0; i < RADIUS - 1; i++) infront[i] = infront[i + 1];
        if (validr) infront[RADIUS - 1] = input[inputIndex];
        inputIndex += stride_z;
        outputIndex += stride_z;
        __syncthreads();

        if (ltidy < RADIUS) {
            int up = outputIndex - RADIUS * stride_y, dn = outputIndex + worky * stride_y;
            tile[ltidy][tx] = validr ? input[up] : 0.f;
            tile[ltidy + worky + RADIUS][tx] = (gtidx < dimx + RADIUS && gtidy + worky < dimy + RADIUS) ? input[dn] : 0.f;
        }
        if (ltidx < RADIUS) {
            tile[ty][ltidx] = validr ? input[outputIndex - RADIUS] : 0.f;
            tile[ty][ltidx + workx + RADIUS] = (gtidx + workx < dimx + RADIUS && gtidy < dimy + RADIUS) ? input[outputIndex + workx] : 0.f;
        }
        tile[ty][tx] = current;
        __syncthreads();

        float value = stencil[0] * current;
#pragma unroll 4
        for (int i = 1; i <= RADIUS; i++)
            value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        if (validw) output[outputIndex] = value;
    }
}

int main()
{
    size_t n = 60000000;
    float *A = mk<float>(n), *B = mk<float>(n), *C = mk<float>(13000000), *D = mk<float>(13000000);

    int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    float w[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
    cudaMemcpyToSymbol(lbm_cx, cx, sizeof(cx));
    cudaMemcpyToSymbol(lbm_cy, cy, sizeof(cy));
    cudaMemcpyToSymbol(lbm_w, w, sizeof(w));
    int lx = 2000, ly = 1500;
    lbm_d2q9_stream_collide<<<dim3((lx + 127) / 128, ly), 128>>>(A, B, lx, ly, 1.2f);
    show("lbm_d2q9_stream_collide", B, (size_t)lx * ly * 9 * 4);

    int fx = 3000, fy = 4000;
    fdtd2d_update_hz<<<dim3((fy + FD_X - 1) / FD_X, (fx + FD_Y - 1) / FD_Y), dim3(FD_X, FD_Y)>>>(A, C, C, D, fx, fy);
    show("fdtd2d_update_hz", D, (size_t)fx * fy * 4);

    int cols = 3000, rows = 2500, pyramid = 2;
    int small = HS_BLOCK - 2 * pyramid;
    hotspot_calculate_temp<<<dim3((cols + small - 1) / small, (rows + small - 1) / small), dim3(HS_BLOCK, HS_BLOCK)>>>(
        pyramid, A, C, D, cols, rows, pyramid, pyramid, 0.5f, 10.f, 8.f, 50.f, 0.1f);
    show("hotspot_calculate_temp", D, (size_t)cols * rows * 4);

    int nw = 5000003;
    int per = WV_BLOCK - 2 * WV_STEPS;
    wave1d_time_blocked<<<(nw + per - 1) / per, WV_BLOCK>>>(A, A + 31, B, D, nw, 0.25f);
    show("wave1d_time_blocked prev", B, (size_t)nw * 4);
    show("wave1d_time_blocked cur", D, (size_t)nw * 4);

    int bodies = 15001;
    nbody_tiled_forces<<<(bodies + NB_TILE - 1) / NB_TILE, NB_TILE>>>((const float4 *)A, (float4 *)B, bodies);
    show("nbody_tiled_forces", B, (size_t)bodies * 16);

    int hx = 250, hy = 242, hz = 200;
    heat3d_block_tile<<<dim3((hx + H3_OUT - 1) / H3_OUT, (hy + H3_OUT - 1) / H3_OUT, (hz + H3_OUT - 1) / H3_OUT), dim3(H3, H3, H3)>>>(
        A, B, hx, hy, hz, 0.1f);
    show("heat3d_block_tile", B, (size_t)hx * hy * hz * 4);

    int ax = 4001, ay = 3001;
    advect_periodic_upwind2<<<dim3((ax + AD_X - 1) / AD_X, (ay + AD_Y - 1) / AD_Y), dim3(AD_X, AD_Y)>>>(C, D, ax, ay, 0.4f);
    show("advect_periodic_upwind2", D, (size_t)ax * ay * 4);

    float st[RADIUS + 1] = {0.5f, 0.125f, 0.0625f, -0.03125f, 0.015625f};
    cudaMemcpyToSymbol(stencil, st, sizeof(st));
    int d = 370;
    int dx = d, dy = d - 2, dz = 300;
    FiniteDifferences3D<<<dim3((dx + k_blockDimX - 1) / k_blockDimX, (dy + k_blockDimY - 1) / k_blockDimY), dim3(k_blockDimX, k_blockDimY)>>>(
        B, A, dx, dy, dz);
    show("FiniteDifferences3D", B, (size_t)(dx + 8) * (dy + 8) * (dz + 8) * 4);
    return 0;
}
