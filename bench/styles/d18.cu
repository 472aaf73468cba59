// Waves, sequences, sparse and graphs: FDTD 2-D, acoustic wave, Smith-Waterman tile, CSR SpMV, Floyd-Warshall phase, GF(2) rank
#include "shown.h"
#include <vector>
#include <cstdint>

// ---- TM-mode FDTD, H then E from the updated H, tile with one cell of halo
#define FT 16
__global__ void fdtdTM(const float *Ez, const float *Hx, const float *Hy, float *EzN, float *HxN, float *HyN,
                       int nx, int ny, float ch, float ce)
{
    __shared__ float e[FT + 2][FT + 2];
    __shared__ float hx[FT + 1][FT + 1];
    __shared__ float hy[FT + 1][FT + 1];
    int bx = blockIdx.x * FT, by = blockIdx.y * FT;
    int tid = threadIdx.y * FT + threadIdx.x;
    for (int k = tid; k < (FT + 2) * (FT + 2); k += FT * FT) {
        int r = k / (FT + 2), c = k % (FT + 2);
        int y = by + r - 1, x = bx + c - 1;
        e[r][c] = (x >= 0 && x < nx && y >= 0 && y < ny) ? Ez[y * nx + x] : 0.f;
    }
    __syncthreads();
    // H on (FT+1)^2 points starting at (bx-1, by-1)
    for (int k = tid; k < (FT + 1) * (FT + 1); k += FT * FT) {
        int r = k / (FT + 1), c = k % (FT + 1);
        int y = by + r - 1, x = bx + c - 1;
        if (x >= 0 && y >= 0 && x < nx && y < ny) {
            hx[r][c] = Hx[y * nx + x] - ch * (e[r + 1][c] - e[r][c]);
            hy[r][c] = Hy[y * nx + x] + ch * (e[r][c + 1] - e[r][c]);
        } else {
            hx[r][c] = 0.f;
            hy[r][c] = 0.f;
        }
    }
    __syncthreads();
    int x = bx + threadIdx.x, y = by + threadIdx.y;
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    if (x < nx && y < ny) {
        EzN[y * nx + x] = e[j][i] + ce * ((hy[j][i] - hy[j][i - 1]) - (hx[j][i] - hx[j - 1][i]));
        HxN[y * nx + x] = hx[j][i];
        HyN[y * nx + x] = hy[j][i];
    }
}

// ---- acoustic wave, 8th order in space, 2nd in time, sponge at the edges
#define AC_R 4
#define AC_BX 32
#define AC_BY 16
typedef struct { float dt2; float c[AC_R + 1]; float damp; } AcParams;

__global__ void acousticStep(const float *p0, const float *pm, const float *vel, float *pp, int nx, int ny, AcParams par)
{
    __shared__ float sp[AC_BY + 2 * AC_R][AC_BX + 2 * AC_R];
    int ix = blockIdx.x * AC_BX + threadIdx.x;
    int iy = blockIdx.y * AC_BY + threadIdx.y;
    for (int j = threadIdx.y; j < AC_BY + 2 * AC_R; j += AC_BY) {
        for (int i = threadIdx.x; i < AC_BX + 2 * AC_R; i += AC_BX) {
            int gx = ix - (int)threadIdx.x + i - AC_R;
            int gy = iy - (int)threadIdx.y + j - AC_R;
            float v = 0.0f;
            if (gx >= 0 && gx < nx && gy >= 0 && gy < ny) v = p0[gy * nx + gx];
            sp[j][i] = v;
        }
    }
    __syncthreads();
    if (ix >= nx || iy >= ny) return;
    int sx = threadIdx.x + AC_R, sy = threadIdx.y + AC_R;
    float lap = 2.0f * par.c[0] * sp[sy][sx];
#pragma unroll
    for (int r = 1; r <= AC_R; r++)
        lap += par.c[r] * (sp[sy][sx - r] + sp[sy][sx + r] + sp[sy - r][sx] + sp[sy + r][sx]);
    int g = iy * nx + ix;
    float w = 1.0f;
    int edge = min(min(ix, nx - 1 - ix), min(iy, ny - 1 - iy));
    if (edge < 20) w = expf(-par.damp * (20 - edge) * (20 - edge));
    pp[g] = w * (2.0f * sp[sy][sx] - pm[g] + par.dt2 * vel[g] * vel[g] * lap);
}

// ---- Smith-Waterman on 32 x 32 tile of many independent pairs, anti-diagonal by one warp
#define SW 32
__global__ void smithWatermanTile(const char *seqA, const char *seqB, int len, int *score, int match, int miss, int gap)
{
    __shared__ int H[SW + 1][SW + 1];
    __shared__ char sa[SW], sb[SW];
    __shared__ int top[256 + 1]; // bottom row of the tiles above
    int t = threadIdx.x;
    const char *a = seqA + (size_t)blockIdx.x * len;
    const char *b = seqB + (size_t)blockIdx.x * len;
    int best = 0;
    for (int i = t; i <= len; i += SW) top[i] = 0;
    __syncthreads();
    for (int by = 0; by < len; by += SW) {
        sa[t] = a[by + t];
        H[t + 1][0] = 0;
        if (t == 0) H[0][0] = 0;
        __syncthreads();
        for (int bx = 0; bx < len; bx += SW) {
            sb[t] = b[bx + t];
            H[0][t + 1] = top[bx + t + 1];
            __syncthreads();
            for (int d = 0; d < 2 * SW - 1; d++) {
                int i = t, j = d - t;
                if (j >= 0 && j < SW) {
                    int s = sa[i] == sb[j] ? match : miss;
                    int h = max(0, H[i][j] + s);
                    h = max(h, H[i][j + 1] + gap);
                    h = max(h, H[i + 1][j] + gap);
                    H[i + 1][j + 1] = h;
                    best = max(best, h);
                }
                __syncthreads();
            }
            int corner = top[bx + SW]; // old value: corner of the next tile
            int right = H[t + 1][SW];
            int bottom = H[SW][t + 1];
            __syncthreads();
            top[bx + t + 1] = bottom;
            H[t + 1][0] = right;
            if (t == 0) H[0][0] = corner;
            __syncthreads();
        }
    }
    for (int o = 16; o > 0; o /= 2) best = max(best, __shfl_down_sync(0xffffffffu, best, o));
    if (t == 0) score[blockIdx.x] = best;
}

// ---- SHOC / Bell-Garland CSR vector kernel, warp a row
static const int WARP_SIZE = 32;
static const int SPMV_BLOCK = 128;
template <typename fpType>
__global__ void spmv_csr_vector(const fpType *__restrict__ val, const int *__restrict__ cols, const int *__restrict__ rowDelimiters,
                                const fpType *__restrict__ vec, const int dim, fpType *__restrict__ out)
{
    int t = threadIdx.x;
    int id = t & (WARP_SIZE - 1);
    int warpsPerBlock = blockDim.x / WARP_SIZE;
    int myRow = (blockIdx.x * warpsPerBlock) + (t / WARP_SIZE);

    __shared__ volatile fpType partialSums[SPMV_BLOCK];

    if (myRow < dim)
    {
        int warpStart = rowDelimiters[myRow];
        int warpEnd = rowDelimiters[myRow + 1];
        fpType mySum = 0;
        for (int j = warpStart + id; j < warpEnd; j += WARP_SIZE)
        {
            int col = cols[j];
            mySum += val[j] * vec[col];
        }
        partialSums[t] = mySum;
        __syncwarp();
        for (int s = 16; s > 0; s >>= 1) {
            if (id < s) partialSums[t] += partialSums[t + s];
            __syncwarp();
        }
        if (id == 0)
            out[myRow] = partialSums[t];
    }
}

// ---- blocked Floyd-Warshall, phase 3 (all remaining tiles), pivot tile kb
#define FW 32
__global__ void fwPhase3(const int *dist, int *out, int n, int kb)
{
    __shared__ int rowTile[FW][FW];
    __shared__ int colTile[FW][FW];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = blockIdx.y * FW + ty, j = blockIdx.x * FW + tx;
    colTile[ty][tx] = dist[i * n + kb * FW + tx];
    rowTile[ty][tx] = dist[(kb * FW + ty) * n + j];
    __syncthreads();
    int d = dist[i * n + j];
#pragma unroll
    for (int k = 0; k < FW; k++) {
        int via = colTile[ty][k] + rowTile[k][tx];
        if (via < d) d = via;
    }
    out[i * n + j] = d;
}

// ---- rank of 64 x 64 bit matrices over GF(2), a row a thread
__global__ void gf2Rank64(const uint64_t *mats, int *rank)
{
    __shared__ uint64_t row[64];
    __shared__ int pivot;
    int t = threadIdx.x;
    row[t] = mats[(size_t)blockIdx.x * 64 + t];
    __syncthreads();
    int r = 0;
    for (int c = 0; c < 64; c++) {
        if (t == 0) pivot = 64;
        __syncthreads();
        if (t >= r && ((row[t] >> c) & 1)) atomicMin(&pivot, t);
        __syncthreads();
        int p = pivot;
        __syncthreads();
        if (p == 64) continue;
        if (t == 0 && p != r) {
            uint64_t x = row[p];
            row[p] = row[r];
            row[r] = x;
        }
        __syncthreads();
        if (t > r && ((row[t] >> c) & 1)) row[t] ^= row[r];
        r++;
        __syncthreads();
    }
    if (t == 0) rank[blockIdx.x] = r;
}

int main()
{
    {
        int nx = 4000, ny = 3000;
        size_t n = (size_t)nx * ny;
        float *E = mk<float>(n), *Hx = mk<float>(n), *Hy = mk<float>(n), *a = mk<float>(n), *b = mk<float>(n), *c = mk<float>(n);
        fdtdTM<<<dim3((nx + FT - 1) / FT, (ny + FT - 1) / FT), dim3(FT, FT)>>>(E, Hx, Hy, a, b, c, nx, ny, 0.5f, 0.45f);
        show("fdtdTM", a, n * 4);
        show("fdtdTM_hx", b, n * 4);
        AcParams p = {0.001f, {-2.847222f, 1.6f, -0.2f, 0.02539683f, -0.00178571f}, 0.0005f};
        acousticStep<<<dim3((nx + AC_BX - 1) / AC_BX, (ny + AC_BY - 1) / AC_BY), dim3(AC_BX, AC_BY)>>>(E, Hx, Hy, a, nx, ny, p);
        show("acousticStep", a, n * 4);
    }
    {
        int pairs = 4096, len = 128;
        char *A = mk<char>((size_t)pairs * len + 20), *B = mk<char>((size_t)pairs * len);
        int *s = mk<int>(pairs);
        smithWatermanTile<<<pairs, SW>>>(A + 11, B, len, s, 3, -2, -2);
        show("smithWatermanTile", s, pairs * 4);
    }
    {
        int dim = 200000;
        std::vector<int> rp(dim + 1), ci;
        rp[0] = 0;
        for (int i = 0; i < dim; i++) {
            int k = 20 + (i * 37) % 61;
            for (int j = 0; j < k; j++) ci.push_back((int)(((long long)i * 17 + (long long)j * 7919 + j * j) % dim));
            rp[i + 1] = (int)ci.size();
        }
        int *drp, *dci;
        cudaMalloc(&drp, rp.size() * 4);
        cudaMalloc(&dci, ci.size() * 4);
        cudaMemcpy(drp, rp.data(), rp.size() * 4, cudaMemcpyHostToDevice);
        cudaMemcpy(dci, ci.data(), ci.size() * 4, cudaMemcpyHostToDevice);
        double *v = mk<double>(ci.size()), *x = mk<double>(dim), *y = mk<double>(dim);
        spmv_csr_vector<double><<<(dim + 3) / 4, SPMV_BLOCK>>>(v, dci, drp, x, dim, y);
        show("spmv_csr_vector", y, (size_t)dim * 8);
    }
    {
        int n = 4096;
        int *d = mk<int>((size_t)n * n), *o = mk<int>((size_t)n * n);
        fwPhase3<<<dim3(n / FW, n / FW), dim3(FW, FW)>>>(d, o, n, 5);
        show("fwPhase3", o, (size_t)n * n * 4);
    }
    {
        int mats = 16384;
        std::vector<uint64_t> h((size_t)mats * 64);
        uint64_t s = 88172645463325252ull;
        for (auto &e : h) {
            s ^= s << 13; s ^= s >> 7; s ^= s << 17;
            e = s;
        }
        uint64_t *m;
        int *r = mk<int>(mats);
        cudaMalloc(&m, h.size() * 8);
        cudaMemcpy(m, h.data(), h.size() * 8, cudaMemcpyHostToDevice);
        gf2Rank64<<<mats, 64>>>(m, r);
        show("gf2Rank64", r, mats * 4);
    }
    return 0;
}
