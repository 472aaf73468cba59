#include "shown.h"
// Finite differences & multigrid, double precision

typedef double real_t;
#define I2D(ni, i, j) ((i) + (ni) * (j))

// Burgers, upwind + diffusion, NSTEP explicit steps on an overlapped tile
#define NSTEP 8
#define NTHR 256
__global__ void burgers1d(const real_t *u, real_t *unew, int n, real_t c, real_t nu)
{
    __shared__ real_t a[2][NTHR];
    int t = threadIdx.x;
    int i = blockIdx.x * (NTHR - 2 * NSTEP) + t - NSTEP;
    int iw = i;                                   // periodic
    while (iw < 0) iw += n;
    while (iw >= n) iw -= n;
    a[0][t] = u[iw];
    int p = 0;
    for (int s = 0; s < NSTEP; s++) {
        __syncthreads();
        real_t v = a[p][t];
        if (t > 0 && t < NTHR - 1) {
            real_t l = a[p][t - 1], r = a[p][t + 1];
            v = v - c * v * (v - l) + nu * (l - 2.0 * v + r);
        }
        a[1 - p][t] = v;
        p = 1 - p;
    }
    if (t >= NSTEP && t < NTHR - NSTEP && i < n) unew[i] = a[p][t];
}

// div(k grad u) = f, one Jacobi sweep, two tiles in shared memory
#define BI 32
#define BJ 8
__global__ void poisson_varcoef(int ni, int nj, const real_t *u, const real_t *k, const real_t *f, real_t *out)
{
    __shared__ real_t us[BJ + 2][BI + 2];
    __shared__ real_t ks[BJ + 2][BI + 2];
    int i = blockIdx.x * BI + threadIdx.x, j = blockIdx.y * BJ + threadIdx.y;
    int li = threadIdx.x + 1, lj = threadIdx.y + 1;
    if (i < ni && j < nj) {
        int g = I2D(ni, i, j);
        us[lj][li] = u[g];
        ks[lj][li] = k[g];
        if (li == 1 && i > 0) { us[lj][0] = u[g - 1]; ks[lj][0] = k[g - 1]; }
        if (li == BI && i < ni - 1) { us[lj][BI + 1] = u[g + 1]; ks[lj][BI + 1] = k[g + 1]; }
        if (lj == 1 && j > 0) { us[0][li] = u[g - ni]; ks[0][li] = k[g - ni]; }
        if (lj == BJ && j < nj - 1) { us[BJ + 1][li] = u[g + ni]; ks[BJ + 1][li] = k[g + ni]; }
    }
    __syncthreads();
    if (i >= ni || j >= nj) return;
    int g = I2D(ni, i, j);
    if (i == 0 || j == 0 || i == ni - 1 || j == nj - 1) {
        out[g] = us[lj][li];
        return;
    }
    real_t kc = ks[lj][li] + 1.0;
    real_t ke = 0.5 * (kc + ks[lj][li + 1] + 1.0), kw = 0.5 * (kc + ks[lj][li - 1] + 1.0);
    real_t kn = 0.5 * (kc + ks[lj + 1][li] + 1.0), ksx = 0.5 * (kc + ks[lj - 1][li] + 1.0);
    out[g] = (ke * us[lj][li + 1] + kw * us[lj][li - 1] + kn * us[lj + 1][li] + ksx * us[lj - 1][li] - f[g]) / (ke + kw + kn + ksx);
}

// full weighting restriction fine (2nc+1)^2 -> coarse nc^2
__global__ void mg_restrict(const real_t *fine, real_t *coarse, int nc)
{
    const int W = 2 * 16 + 1;
    __shared__ real_t s[W][W];
    int nf = 2 * nc + 1;
    int fx0 = blockIdx.x * 32, fy0 = blockIdx.y * 32;
    for (int y = threadIdx.y; y < W; y += 16)
        for (int x = threadIdx.x; x < W; x += 16)
            if (fx0 + x < nf && fy0 + y < nf) s[y][x] = fine[(size_t)(fy0 + y) * nf + fx0 + x];
    __syncthreads();
    int cx = blockIdx.x * 16 + threadIdx.x, cy = blockIdx.y * 16 + threadIdx.y;
    if (cx < nc && cy < nc) {
        int x = 2 * threadIdx.x + 1, y = 2 * threadIdx.y + 1;
        coarse[(size_t)cy * nc + cx] =
            0.25 * s[y][x] +
            0.125 * (s[y][x - 1] + s[y][x + 1] + s[y - 1][x] + s[y + 1][x]) +
            0.0625 * (s[y - 1][x - 1] + s[y - 1][x + 1] + s[y + 1][x - 1] + s[y + 1][x + 1]);
    }
}

// squared residual of the 5-point operator, one partial per block
__global__ void residual_norm2(const real_t *__restrict__ u, const real_t *__restrict__ f, real_t *__restrict__ part, int nx, int ny)
{
    __shared__ real_t tile[10][34];
    __shared__ real_t sum[256];
    int tid = threadIdx.y * 32 + threadIdx.x;
    int ox = blockIdx.x * 32 - 1, oy = blockIdx.y * 8 - 1;
    for (int e = tid; e < 340; e += 256) {
        int x = ox + e % 34, y = oy + e / 34;
        tile[e / 34][e % 34] = (x < 0 || y < 0 || x >= nx || y >= ny) ? 0.0 : u[(size_t)y * nx + x];
    }
    __syncthreads();
    int x = ox + 1 + threadIdx.x, y = oy + 1 + threadIdx.y;
    real_t r = 0.0;
    if (x < nx && y < ny) {
        int a = threadIdx.x + 1, b = threadIdx.y + 1;
        r = f[(size_t)y * nx + x] - (4.0 * tile[b][a] - tile[b][a - 1] - tile[b][a + 1] - tile[b - 1][a] - tile[b + 1][a]);
    }
    sum[tid] = r * r;
    __syncthreads();
    for (int off = 128; off > 32; off >>= 1) {
        if (tid < off) sum[tid] += sum[tid + off];
        __syncthreads();
    }
    if (tid < 32) {
        real_t v = sum[tid] + sum[tid + 32];
        for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
        if (tid == 0) part[blockIdx.y * gridDim.x + blockIdx.x] = v;
    }
}

// parallel cyclic reduction, a system a block
__global__ void pcr_kernel(const float *d_a, const float *d_b, const float *d_c, const float *d_d, float *d_x, int system_size, int iterations)
{
    extern __shared__ float shared[];
    int thid = threadIdx.x;
    size_t off = (size_t)blockIdx.x * system_size;
    float *a = shared, *b = a + system_size, *c = b + system_size, *d = c + system_size, *x = d + system_size;
    a[thid] = thid == 0 ? 0.f : d_a[off + thid];
    b[thid] = d_b[off + thid] + 30.f;
    c[thid] = thid == system_size - 1 ? 0.f : d_c[off + thid];
    d[thid] = d_d[off + thid];
    __syncthreads();
    int delta = 1;
    for (int j = 0; j < iterations; j++) {
        int i = thid;
        int iRight = i + delta;
        iRight = iRight >= system_size ? system_size - 1 : iRight;
        int iLeft = i - delta;
        iLeft = iLeft < 0 ? 0 : iLeft;
        float tmp1 = a[i] / b[iLeft];
        float tmp2 = c[i] / b[iRight];
        if (i - delta < 0) tmp1 = 0.f;
        if (i + delta >= system_size) tmp2 = 0.f;
        float bNew = b[i] - c[iLeft] * tmp1 - a[iRight] * tmp2;
        float dNew = d[i] - d[iLeft] * tmp1 - d[iRight] * tmp2;
        float aNew = -a[iLeft] * tmp1;
        float cNew = -c[iRight] * tmp2;
        __syncthreads();
        b[i] = bNew; d[i] = dNew; a[i] = aNew; c[i] = cNew;
        delta *= 2;
        __syncthreads();
    }
    if (thid < delta) {
        int addr1 = thid, addr2 = thid + delta;
        if (addr2 < system_size) {
            float t3 = b[addr2] * b[addr1] - c[addr1] * a[addr2];
            x[addr1] = (b[addr2] * d[addr1] - c[addr1] * d[addr2]) / t3;
            x[addr2] = (d[addr2] * b[addr1] - d[addr1] * a[addr2]) / t3;
        } else x[addr1] = d[addr1] / b[addr1];
    }
    __syncthreads();
    d_x[off + thid] = x[thid];
}

int main()
{
    const int n = 4097;
    real_t *u = mk<real_t>((size_t)n * n), *k = mk<real_t>((size_t)n * n), *o;
    cudaMalloc(&o, sizeof(real_t) * n * n);
    const int nb = 16000000;
    burgers1d<<<(nb + NTHR - 2 * NSTEP - 1) / (NTHR - 2 * NSTEP), NTHR>>>(u, o, nb, 0.01, 0.1);
    show("burgers1d", o, sizeof(real_t) * nb);
    poisson_varcoef<<<dim3((4000 + BI - 1) / BI, (3001 + BJ - 1) / BJ), dim3(BI, BJ)>>>(4000, 3001, u, k, u + 12345, o);
    show("poisson_varcoef", o, sizeof(real_t) * 4000 * 3001);
    mg_restrict<<<dim3(2048 / 16, 2048 / 16), dim3(16, 16)>>>(u, o, 2048);
    show("mg_restrict", o, sizeof(real_t) * 2048 * 2048);
    residual_norm2<<<dim3((4090 + 31) / 32, (4090 + 7) / 8), dim3(32, 8)>>>(u, k, o, 4090, 4090);
    show("residual_norm2", o, sizeof(real_t) * 128 * 512);
    float *fa = mk<float>(5 << 20), *fx;
    cudaMalloc(&fx, sizeof(float) << 22);
    pcr_kernel<<<16384, 256, 5 * 256 * sizeof(float)>>>(fa, fa + 1000, fa + 2001, fa + 3003, fx, 256, 7);
    show("pcr_kernel", fx, sizeof(float) << 22);
    return 0;
}
