// computational physics + graphs
#include "shown.h"
#include <vector>
#include <algorithm>
#define SOFTENING 1e-3f

static __host__ __device__ inline unsigned hash_u32(unsigned v)
{
    v ^= v >> 16; v *= 0x7feb352du; v ^= v >> 15; v *= 0x846ca68bu; v ^= v >> 16;
    return v;
}

template <class T> static T *upload(const std::vector<T> &h)
{
    T *d;
    cudaMalloc(&d, h.size() * sizeof(T));
    cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}

// ---------------------------------------------------------------- direct N-body
__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai)
{
    float3 r = {bj.x - bi.x, bj.y - bi.y, bj.z - bi.z};
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + SOFTENING;
    float invDist = rsqrtf(distSqr);
    float s = bj.w * invDist * invDist * invDist;
    ai.x += r.x * s; ai.y += r.y * s; ai.z += r.z * s;
    return ai;
}

__global__ void nbodyAccelTiled(const float4 *devX, float4 *devA, int N)
{
    extern __shared__ float4 shPosition[];
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 myPosition = devX[min(gtid, N - 1)];
    float3 acc = {0.0f, 0.0f, 0.0f};
    for (int i = 0; i < N; i += blockDim.x) {
        int idx = i + threadIdx.x;
        shPosition[threadIdx.x] = idx < N ? devX[idx] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < blockDim.x; j++) acc = bodyBodyInteraction(myPosition, shPosition[j], acc);
        __syncthreads();
    }
    if (gtid < N) devA[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

// ---------------------------------------------------------------- Ising, checkerboard, one colour after the other inside a tile with frozen rim
#define IS 30
__global__ void isingTileSweep(const signed char *spin, signed char *out, int L, float beta, unsigned seed)
{
    __shared__ signed char s[IS + 2][IS + 2];
    const int x = blockIdx.x * IS + threadIdx.x - 1, y = blockIdx.y * IS + threadIdx.y - 1;
    const int xw = (x + L) % L, yw = (y + L) % L;
    s[threadIdx.y][threadIdx.x] = (spin[(size_t)yw * L + xw] & 1) ? 1 : -1;
    __syncthreads();
    const bool inner = threadIdx.x >= 1 && threadIdx.x <= IS && threadIdx.y >= 1 && threadIdx.y <= IS;
    for (int colour = 0; colour < 2; ++colour) {
        if (inner && ((x + y) & 1) == colour) {
            int nb = s[threadIdx.y - 1][threadIdx.x] + s[threadIdx.y + 1][threadIdx.x] + s[threadIdx.y][threadIdx.x - 1] + s[threadIdx.y][threadIdx.x + 1];
            int me = s[threadIdx.y][threadIdx.x];
            float dE = 2.f * me * nb;
            float u = hash_u32(seed ^ (unsigned)(yw * L + xw)) * 2.3283064e-10f;
            if (dE <= 0.f || u < __expf(-beta * dE)) s[threadIdx.y][threadIdx.x] = -me;
        }
        __syncthreads();
    }
    if (inner && x < L && y < L) out[(size_t)y * L + x] = s[threadIdx.y][threadIdx.x];
}

// ---------------------------------------------------------------- Lennard-Jones with neighbour list, mixing table in shared memory
struct __align__(16) Vec4d { double x, y, z, w; };
struct PairCoeff { double c6, c12; };
__global__ void ljNeighbourForce(const Vec4d *pos, const int *type, const int *neigh, const PairCoeff *table, int ntypes, Vec4d *force, int n, int maxNeigh, double rc2)
{
    extern __shared__ PairCoeff tab[];
    for (int k = threadIdx.x; k < ntypes * ntypes; k += blockDim.x) {
        PairCoeff p = table[k];
        p.c6 *= 0.01;
        p.c12 *= 0.001;
        tab[k] = p;
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Vec4d pi = pos[i];
    const int ti = type[i] * ntypes;
    double fx = 0, fy = 0, fz = 0, e = 0;
    for (int k = 0; k < maxNeigh; k++) {
        int j = neigh[(size_t)k * n + i];
        Vec4d pj = pos[j];
        double dx = pi.x - pj.x, dy = pi.y - pj.y, dz = pi.z - pj.z;
        double r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < rc2 && r2 > 0.25) {
            PairCoeff c = tab[ti + type[j]];
            double ir2 = 1.0 / r2, ir6 = ir2 * ir2 * ir2;
            double f = ir2 * ir6 * (12.0 * c.c12 * ir6 - 6.0 * c.c6);
            fx += f * dx; fy += f * dy; fz += f * dz;
            e += ir6 * (c.c12 * ir6 - c.c6);
        }
    }
    force[i] = Vec4d{fx, fy, fz, e};
}

// ---------------------------------------------------------------- Schroedinger, real/imag leapfrog, 4th-order laplacian
#define SQ 24
__global__ void schroedingerLeapfrog2D(const float2 *psi, const float *V, float2 *next, const int nx, const int ny, const float dt)
{
    __shared__ float re[SQ + 4][SQ + 4], im[SQ + 4][SQ + 4];
    int gx = blockIdx.x * SQ + threadIdx.x, gy = blockIdx.y * SQ + threadIdx.y;
    for (int q = threadIdx.y * SQ + threadIdx.x; q < (SQ + 4) * (SQ + 4); q += SQ * SQ) {
        int lx = q % (SQ + 4), ly = q / (SQ + 4);
        int x = (int)(blockIdx.x * SQ) + lx - 2, y = (int)(blockIdx.y * SQ) + ly - 2;
        float2 p = make_float2(0.f, 0.f);
        if (!(x < 0 || x >= nx || y < 0 || y >= ny)) p = psi[(size_t)y * nx + x];
        re[ly][lx] = p.x;
        im[ly][lx] = p.y;
    }
    __syncthreads();
    if (gx < nx && gy < ny) {
        int i = threadIdx.x + 2, j = threadIdx.y + 2;
#define LAP(f) ((-f[j][i - 2] + 16.f * f[j][i - 1] + 16.f * f[j][i + 1] - f[j][i + 2] - f[j - 2][i] + 16.f * f[j - 1][i] + 16.f * f[j + 1][i] - f[j + 2][i] - 60.f * f[j][i]) / 12.f)
        float v = V[(size_t)gy * nx + gx];
        float a = re[j][i] + dt * (-0.5f * LAP(im) + v * im[j][i]);
        float b = im[j][i] - dt * (-0.5f * LAP(re) + v * re[j][i]);
#undef LAP
        next[(size_t)gy * nx + gx] = make_float2(a, b);
    }
}

// ---------------------------------------------------------------- PIC: fixed-point charge deposit, particles sorted by supercell (one per block)
#define SC 8
__global__ void picDepositFixedPoint(const float2 *particle, const int *first, int *rho)
{
    __shared__ int cell[(SC + 1) * (SC + 1)];
    const int b = blockIdx.x;
    for (int k = threadIdx.x; k < (SC + 1) * (SC + 1); k += blockDim.x) cell[k] = 0;
    __syncthreads();
    for (int p = first[b] + threadIdx.x; p < first[b + 1]; p += blockDim.x) {
        float2 q = particle[p];
        float x = fminf(q.x * 0.6f, SC - 0.001f), y = fminf(q.y * 0.6f, SC - 0.001f);
        int ix = (int)x, iy = (int)y;
        float fx = x - ix, fy = y - iy;
        atomicAdd(&cell[iy * (SC + 1) + ix], __float2int_rn(65536.f * (1 - fx) * (1 - fy)));
        atomicAdd(&cell[iy * (SC + 1) + ix + 1], __float2int_rn(65536.f * fx * (1 - fy)));
        atomicAdd(&cell[(iy + 1) * (SC + 1) + ix], __float2int_rn(65536.f * (1 - fx) * fy));
        atomicAdd(&cell[(iy + 1) * (SC + 1) + ix + 1], __float2int_rn(65536.f * fx * fy));
    }
    __syncthreads();
    for (int k = threadIdx.x; k < (SC + 1) * (SC + 1); k += blockDim.x) rho[(size_t)b * (SC + 1) * (SC + 1) + k] = cell[k];
}

// ---------------------------------------------------------------- CSR SpMV, eight lanes per row, partial sums in shared memory
template <typename IT, typename VT, int LANES, int BS>
__global__ void csrSpmvSubwarpShared(IT nrows, const IT *__restrict__ rowptr, const IT *__restrict__ colidx, const VT *__restrict__ val, const VT *__restrict__ x, VT *__restrict__ y)
{
    __shared__ VT partial[BS];
    const int lane = threadIdx.x % LANES;
    const IT row = (IT)(blockIdx.x * (BS / LANES) + threadIdx.x / LANES);
    VT sum = 0;
    if (row < nrows)
        for (IT k = rowptr[row] + lane; k < rowptr[row + 1]; k += LANES) sum += val[k] * x[colidx[k]];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int h = LANES / 2; h > 0; h /= 2) {
        if (lane < h) partial[threadIdx.x] += partial[threadIdx.x + h];
        __syncthreads();
    }
    if (lane == 0 && row < nrows) y[row] = partial[threadIdx.x];
}

// ---------------------------------------------------------------- blocked Floyd-Warshall, phase 3
#define FW 32
__global__ void floydWarshallPhase3(int *dist, int n, int stage)
{
    if (blockIdx.x == stage || blockIdx.y == stage) return;
    __shared__ int up[FW][FW], left[FW][FW];
    const int tx = threadIdx.x, ty = threadIdx.y;
    for (int r = ty; r < FW; r += 8) {
        up[r][tx] = dist[(stage * FW + r) * n + blockIdx.x * FW + tx];
        left[r][tx] = dist[(blockIdx.y * FW + r) * n + stage * FW + tx];
    }
    __syncthreads();
    for (int r = ty; r < FW; r += 8) {
        int pos = (blockIdx.y * FW + r) * n + blockIdx.x * FW + tx;
        int d = dist[pos];
#pragma unroll
        for (int k = 0; k < FW; k++) d = min(d, left[r][k] + up[k][tx]);
        dist[pos] = d;
    }
}

// ---------------------------------------------------------------- ray / BVH traversal with a private stack (implicit complete tree)
struct Aabb { float lo[3], hi[3]; };
__device__ bool slabTest(const Aabb &b, const float *o, const float *inv, float tmax)
{
    float t0 = 0.f, t1 = tmax;
    for (int a = 0; a < 3; ++a) {
        float n = (b.lo[a] - o[a]) * inv[a], f = (b.hi[a] - o[a]) * inv[a];
        t0 = fmaxf(t0, fminf(n, f));
        t1 = fminf(t1, fmaxf(n, f));
    }
    return t0 <= t1;
}
__global__ void bvhClosestHitStack(const Aabb *nodes, int leaves, const float *rays, int *hit, float *dist, int nrays)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= nrays) return;
    float o[3], d[3], inv[3];
    for (int a = 0; a < 3; a++) {
        o[a] = rays[(size_t)a * nrays + r] * 8.f - 50.f;
        d[a] = (float)(hash_u32(3u * r + a) & 0xffff) / 32768.f - 1.00001f;
        inv[a] = 1.f / d[a];
    }
    int stack[40], sp = 0;
    stack[sp++] = 1;
    int best = -1;
    float tb = 1e30f;
    while (sp) {
        int k = stack[--sp];
        const Aabb b = nodes[k];
        if (!slabTest(b, o, inv, tb)) continue;
        if (k >= leaves) {
            // leaf box holds a sphere
            float oc[3], rad = 0.5f * (b.hi[0] - b.lo[0]), B = 0, C = -rad * rad, A = 0;
            for (int a = 0; a < 3; a++) {
                oc[a] = o[a] - 0.5f * (b.lo[a] + b.hi[a]);
                A += d[a] * d[a];
                B += oc[a] * d[a];
                C += oc[a] * oc[a];
            }
            float disc = B * B - A * C;
            if (disc > 0) {
                float t = (-B - sqrtf(disc)) / A;
                if (t > 0 && t < tb) { tb = t; best = k - leaves; }
            }
        } else {
            stack[sp++] = 2 * k + 1;
            stack[sp++] = 2 * k;
        }
    }
    hit[r] = best;
    dist[r] = tb;
}

int main()
{
    {
        int n = 60000;
        float4 *x = (float4 *)mk<float>(n * 4), *a = (float4 *)mk<float>(n * 4);
        nbodyAccelTiled<<<(n + 255) / 256, 256, 256 * sizeof(float4)>>>(x, a, n);
        show("nbodyAccelTiled", a, n * 16);
    }
    {
        int L = 3600;
        signed char *s = mk<signed char>((size_t)L * L), *o = mk<signed char>((size_t)L * L);
        isingTileSweep<<<dim3((L + IS - 1) / IS, (L + IS - 1) / IS), dim3(IS + 2, IS + 2)>>>(s, o, L, 0.44f, 77u);
        show("isingTileSweep", o, (size_t)L * L);
    }
    {
        int n = 400000, m = 60, nt = 14;
        std::vector<int> nb((size_t)n * m), ty(n);
        for (int i = 0; i < n; i++) ty[i] = hash_u32(i) % nt;
        for (size_t k = 0; k < nb.size(); k++) {
            long j = (long)(k % n) + (long)(hash_u32((unsigned)k) % 4001) - 2000;
            nb[k] = (int)((j + n) % n);
        }
        int *dn = upload(nb), *dt = upload(ty);
        Vec4d *p = (Vec4d *)mk<double>((size_t)n * 4), *f = (Vec4d *)mk<double>((size_t)n * 4);
        PairCoeff *c = (PairCoeff *)mk<double>(nt * nt * 2);
        ljNeighbourForce<<<(n + 127) / 128, 128, nt * nt * sizeof(PairCoeff)>>>(p, dt, dn, c, nt, f, n, m, 60.0);
        show("ljNeighbourForce", f, (size_t)n * 32);
    }
    {
        int nx = 2400, ny = 2100;
        size_t n = (size_t)nx * ny;
        float2 *p = (float2 *)mk<float>(2 * n), *q = (float2 *)mk<float>(2 * n);
        float *v = mk<float>(n);
        schroedingerLeapfrog2D<<<dim3((nx + SQ - 1) / SQ, (ny + SQ - 1) / SQ), dim3(SQ, SQ)>>>(p, v, q, nx, ny, 0.05f);
        show("schroedingerLeapfrog2D", q, n * 8);
    }
    {
        int cells = 15000;
        std::vector<int> first(cells + 1, 0);
        for (int i = 0; i < cells; i++) first[i + 1] = first[i] + 400 + hash_u32(i) % 500;
        float2 *p = (float2 *)mk<float>((size_t)first[cells] * 2);
        int *f = upload(first), *rho = mk<int>((size_t)cells * 81);
        picDepositFixedPoint<<<cells, 128>>>(p, f, rho);
        show("picDepositFixedPoint", rho, (size_t)cells * 81 * 4);
    }
    {
        int rows = 700000;
        std::vector<int> rp(rows + 1, 0);
        for (int i = 0; i < rows; i++) rp[i + 1] = rp[i] + hash_u32(i) % 33;
        std::vector<int> ci(rp[rows]);
        for (size_t k = 0; k < ci.size(); k++) ci[k] = hash_u32((unsigned)k + 9u) % rows;
        int *dr = upload(rp), *dc = upload(ci);
        double *v = mk<double>(ci.size()), *x = mk<double>(rows), *y = mk<double>(rows);
        csrSpmvSubwarpShared<int, double, 8, 128><<<(rows + 15) / 16, 128>>>(rows, dr, dc, v, x, y);
        show("csrSpmvSubwarpShared", y, (size_t)rows * 8);
    }
    {
        int n = 4000;       // 125 tiles
        int *d = mk<int>(n * n);
        floydWarshallPhase3<<<dim3(n / FW, n / FW), dim3(FW, 8)>>>(d, n, 41);
        show("floydWarshallPhase3", d, (size_t)n * n * 4);
    }
    {
        const int leaves = 8192;
        std::vector<Aabb> t(2 * leaves);
        for (int i = 0; i < leaves; i++) {
            // morton-like placement keeps neighbours together
            int c[3] = {0, 0, 0};
            for (int b = 0; b < 13; b++) c[b % 3] |= ((i >> b) & 1) << (b / 3);
            float rad = 0.5f + (hash_u32(i) & 255) / 200.f;
            for (int a = 0; a < 3; a++) {
                float m = c[a] * 3.f - 30.f + (hash_u32(3 * i + a) & 63) / 32.f;
                t[leaves + i].lo[a] = m - rad;
                t[leaves + i].hi[a] = m + rad;
            }
        }
        for (int k = leaves - 1; k >= 1; k--)
            for (int a = 0; a < 3; a++) {
                t[k].lo[a] = std::min(t[2 * k].lo[a], t[2 * k + 1].lo[a]);
                t[k].hi[a] = std::max(t[2 * k].hi[a], t[2 * k + 1].hi[a]);
            }
        t[0] = t[1];
        Aabb *dt = upload(t);
        int n = 1000000;
        float *r = mk<float>((size_t)n * 3), *ds = mk<float>(n);
        int *h = mk<int>(n);
        bvhClosestHitStack<<<(n + 63) / 64, 64>>>(dt, leaves, r, h, ds, n);
        show("bvhClosestHitStack", ds, (size_t)n * 4);
    }
    return 0;
}
